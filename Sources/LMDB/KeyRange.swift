#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A part of a tree's key order.
///
/// For a tree of integers the bounds are the eight bytes of the integer in the machine's order,
/// as ``integers(_:)`` makes them, and they compare as integers.
package struct KeyRange: Sendable, Equatable {
  package enum Bound: Sendable, Equatable {
    case unbounded
    case inclusive([UInt8])
    case exclusive([UInt8])
  }

  package var lower: Bound
  package var upper: Bound

  package init(lower: Bound = .unbounded, upper: Bound = .unbounded) {
    self.lower = lower
    self.upper = upper
  }

  package static let all = KeyRange()

  /// The keys that begin with `bytes`.
  ///
  /// They end before the prefix's successor, which is the prefix without its trailing 0xFF bytes
  /// and with its last byte one higher. A prefix of 0xFF bytes only has none, and an empty prefix
  /// needs none.
  package static func prefix(_ bytes: some Sequence<UInt8>) -> KeyRange {
    let prefix = Array(bytes)
    guard !prefix.isEmpty else { return .all }
    var successor = prefix
    while successor.last == 0xFF { successor.removeLast() }
    guard let last = successor.popLast() else { return KeyRange(lower: .inclusive(prefix)) }
    successor.append(last + 1)
    return KeyRange(lower: .inclusive(prefix), upper: .exclusive(successor))
  }

  /// The keys of a tree of integers within `range`.
  package static func integers(_ range: ClosedRange<UInt64>) -> KeyRange {
    func bytes(_ value: UInt64) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }
    return KeyRange(
      lower: .inclusive(bytes(range.lowerBound)), upper: .inclusive(bytes(range.upperBound)))
  }
}

/// The order the engine keeps keys in.
enum KeyOrder {
  /// Less than, equal to or greater than zero, as `left` is to `right`.
  static func compare(
    _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer, integers: Bool
  ) -> Int {
    if integers {
      guard left.count == 8, right.count == 8 else { return left.count - right.count }
      let (a, b) = (left.loadUnaligned(as: UInt64.self), right.loadUnaligned(as: UInt64.self))
      return a < b ? -1 : a > b ? 1 : 0
    }
    if let a = left.baseAddress, let b = right.baseAddress {
      let order = memcmp(a, b, min(left.count, right.count))
      if order != 0 { return Int(order) }
    }
    return left.count - right.count
  }
}

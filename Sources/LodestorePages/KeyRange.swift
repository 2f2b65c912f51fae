import LodestoreBytes
import LodestoreSystem

/// The bounds of a walk over the keys of a tree with byte keys.
@_documentation(visibility: internal)
public struct KeyRange: Sendable, Equatable {
  package enum Bound: Sendable, Equatable {
    case unbounded
    case included([UInt8])
    case excluded([UInt8])
  }

  package var lower: Bound
  package var upper: Bound

  package init(lower: Bound = .unbounded, upper: Bound = .unbounded) {
    self.lower = lower
    self.upper = upper
  }

  /// The range of all keys that begin with `prefix`.
  ///
  /// A prefix that consists only of bytes 255 has no upper bound.
  package static func prefix(_ prefix: [UInt8]) -> KeyRange {
    KeyRange(
      lower: prefix.isEmpty ? .unbounded : .included(prefix),
      upper: successor(ofPrefix: prefix).map(Bound.excluded) ?? .unbounded)
  }

  /// The smallest key above all keys that begin with `prefix`; `nil` if no such key exists.
  package static func successor(ofPrefix prefix: [UInt8]) -> [UInt8]? {
    guard let last = prefix.lastIndex(where: { $0 != 255 }) else { return nil }
    return prefix[..<last] + [prefix[last] + 1]
  }

  /// Whether a walk that began within the range is still within it at `key`.
  @_documentation(visibility: internal)
  public func admits(_ key: ByteView, backwards: Bool) -> Bool {
    backwards ? admitsFromBelow(key) : admitsFromAbove(key)
  }

  /// Whether `a` comes before `b`.
  package static func isAscending(_ a: ByteView, _ b: ByteView) -> Bool {
    guard let first = a.baseAddress, let second = b.baseAddress else { return a.count < b.count }
    let order = memcmp(first, second, min(a.count, b.count))
    return order != 0 ? order < 0 : a.count < b.count
  }

  /// Whether `key` is within the upper bound.
  package func admitsFromAbove(_ key: ByteView) -> Bool {
    switch upper {
    case .unbounded: true
    case .included(let bound): !Self.isLess(bound, key)
    case .excluded(let bound): Self.isLess(key, bound)
    }
  }

  /// Whether `key` is within the lower bound.
  package func admitsFromBelow(_ key: ByteView) -> Bool {
    switch lower {
    case .unbounded: true
    case .included(let bound): !Self.isLess(key, bound)
    case .excluded(let bound): Self.isLess(bound, key)
    }
  }

  private static func isLess(_ key: ByteView, _ bound: [UInt8]) -> Bool { order(key, bound) < 0 }

  private static func isLess(_ bound: [UInt8], _ key: ByteView) -> Bool { order(key, bound) > 0 }

  private static func order(_ key: ByteView, _ bound: [UInt8]) -> Int {
    let count = min(key.count, bound.count)
    let order = bound._withBytes { bound in
      guard count > 0, let a = key.baseAddress, let b = bound.baseAddress else { return 0 }
      return Int(memcmp(a, b, count))
    }
    return order != 0 ? order : key.count - bound.count
  }
}

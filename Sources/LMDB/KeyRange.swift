#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The bounds of a walk over the keys of a tree of byte keys, in the order of their bytes.
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

  /// All keys that begin with `prefix`.
  ///
  /// A prefix of nothing but 255 has no bound above.
  package static func prefix(_ prefix: [UInt8]) -> KeyRange {
    KeyRange(
      lower: prefix.isEmpty ? .unbounded : .included(prefix),
      upper: successor(ofPrefix: prefix).map(Bound.excluded) ?? .unbounded)
  }

  /// The least key above all that begin with `prefix`; `nil` when there is none.
  package static func successor(ofPrefix prefix: [UInt8]) -> [UInt8]? {
    guard let last = prefix.lastIndex(where: { $0 != 255 }) else { return nil }
    return prefix[..<last] + [prefix[last] + 1]
  }

  /// Whether a walk in a direction, which has begun within the range, is still within it at `key`.
  @usableFromInline
  package func admits(_ key: UnsafeRawBufferPointer, backwards: Bool) -> Bool {
    backwards ? admitsFromBelow(key) : admitsFromAbove(key)
  }

  /// Whether `a` comes before `b`.
  static func isAscending(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
    guard let first = a.baseAddress, let second = b.baseAddress else { return a.count < b.count }
    let order = memcmp(first, second, min(a.count, b.count))
    return order != 0 ? order < 0 : a.count < b.count
  }

  /// Whether `key` is not above the upper bound.
  func admitsFromAbove(_ key: UnsafeRawBufferPointer) -> Bool {
    switch upper {
    case .unbounded: true
    case .included(let bound): !Self.isLess(bound, key)
    case .excluded(let bound): Self.isLess(key, bound)
    }
  }

  /// Whether `key` is not below the lower bound.
  func admitsFromBelow(_ key: UnsafeRawBufferPointer) -> Bool {
    switch lower {
    case .unbounded: true
    case .included(let bound): !Self.isLess(key, bound)
    case .excluded(let bound): Self.isLess(bound, key)
    }
  }

  private static func isLess(_ key: UnsafeRawBufferPointer, _ bound: [UInt8]) -> Bool {
    order(key, bound) < 0
  }

  private static func isLess(_ bound: [UInt8], _ key: UnsafeRawBufferPointer) -> Bool {
    order(key, bound) > 0
  }

  private static func order(_ key: UnsafeRawBufferPointer, _ bound: [UInt8]) -> Int {
    let count = min(key.count, bound.count)
    let order = bound.withUnsafeBytes { bound in
      guard count > 0, let a = key.baseAddress, let b = bound.baseAddress else { return 0 }
      return Int(memcmp(a, b, count))
    }
    return order != 0 ? order : key.count - bound.count
  }
}

extension Cursor {
  /// Visits the pairs of `range` in key order, or backwards, until `body` returns false.
  ///
  /// The tree must not change during the walk.
  package func walk(
    _ range: KeyRange, backwards: Bool = false,
    _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Bool
  ) throws {
    var ahead = WalkAhead(self)
    var found = try seekStart(of: range, backwards: backwards)
    while found {
      ahead.visit(key, backwards: backwards)
      guard backwards ? range.admitsFromBelow(key) : range.admitsFromAbove(key) else { return }
      guard try body(key, value) else { return }
      found = backwards ? try previous() : try next()
    }
  }

  /// Moves to the first pair of a walk of `range`, which may be beyond its other bound.
  @usableFromInline
  package func seekStart(of range: KeyRange, backwards: Bool) throws(LMDBError) -> Bool {
    if backwards {
      switch range.upper {
      case .unbounded: return try last()
      case .excluded(let bound):
        return try bound.withBytes { (bytes) throws(LMDBError) in try seek(before: bytes) }
      case .included(let bound):
        return try bound.withBytes { (bytes) throws(LMDBError) in
          if try seek(bytes) { return true }
          return try seek(before: bytes)
        }
      }
    }
    switch range.lower {
    case .unbounded: return try first()
    case .included(let bound):
      return try bound.withBytes { (bytes) throws(LMDBError) in try seek(atOrAfter: bytes) }
    case .excluded(let bound):
      return try bound.withBytes { (bytes) throws(LMDBError) in
        guard try seek(atOrAfter: bytes) else { return false }
        return key.elementsEqual(bytes) ? try next() : true
      }
    }
  }
}

import LodestoreBytes

extension Cursor {
  /// Visits the pairs within `range` in key order, or in reverse, until `body` returns false.
  ///
  /// The tree must not change during the walk.
  package func walk(
    _ range: KeyRange, backwards: Bool = false,
    _ body: (ByteView, ByteView) throws -> Bool
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

  /// Moves to the first pair of a walk over `range`.
  ///
  /// The pair may be beyond the range's other bound.
  @usableFromInline
  package func seekStart(of range: KeyRange, backwards: Bool) throws(LMDBError) -> Bool {
    if backwards {
      switch range.upper {
      case .unbounded: return try last()
      case .excluded(let bound):
        return try bound._withBytes { (bytes) throws(LMDBError) in try seek(before: bytes) }
      case .included(let bound):
        return try bound._withBytes { (bytes) throws(LMDBError) in
          if try seek(bytes) { return true }
          return try seek(before: bytes)
        }
      }
    }
    switch range.lower {
    case .unbounded: return try first()
    case .included(let bound):
      return try bound._withBytes { (bytes) throws(LMDBError) in try seek(atOrAfter: bytes) }
    case .excluded(let bound):
      return try bound._withBytes { (bytes) throws(LMDBError) in
        guard try seek(atOrAfter: bytes) else { return false }
        return key.elementsEqual(bytes) ? try next() : true
      }
    }
  }
}

extension Transaction {
  /// Calls `body` with each pair of `tree` in key order.
  package func forEachPair(
    of tree: Tree,
    _ body: (_ key: ByteView, _ value: ByteView) throws -> Void
  ) throws {
    let cursor = try Cursor(tree, in: self)
    var found = try cursor.first()
    while found {
      try body(cursor.key, cursor.value)
      found = try cursor.next()
    }
  }
}

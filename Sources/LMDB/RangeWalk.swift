/// A walk over the entries of a tree whose keys lie in a range, in either direction.
///
///     var walk = try transaction.walk(.prefix(bytes), in: tree)
///     while try walk.next() { use(walk.key, walk.value) }
///
/// Ends before its transaction, like the cursor it is made of.
package struct RangeWalk: ~Copyable {
  private var cursor: Cursor
  private let range: KeyRange
  private let isDescending: Bool
  private let usesIntegerKeys: Bool
  private var remaining: Int
  private var hasBegun = false

  init(
    cursor: consuming Cursor, range: KeyRange, isDescending: Bool, usesIntegerKeys: Bool,
    limit: Int
  ) {
    self.cursor = cursor
    self.range = range
    self.isDescending = isDescending
    self.usesIntegerKeys = usesIntegerKeys
    remaining = limit
  }

  package var key: UnsafeRawBufferPointer { cursor.key }
  package var value: UnsafeRawBufferPointer { cursor.value }
  package var integerKey: UInt64? { cursor.integerKey }

  /// Moves to the next entry in the direction of the walk, first to the one nearest its beginning.
  ///
  /// Returns `false` at the end, and from then on.
  package mutating func next() throws(LMDBError) -> Bool {
    guard remaining > 0 else { return false }
    let isAtEntry: Bool
    if hasBegun {
      isAtEntry = isDescending ? try cursor.previous() : try cursor.next()
    } else {
      hasBegun = true
      isAtEntry = isDescending ? try seekUpperEnd() : try seekLowerEnd()
    }
    guard isAtEntry, isWithinFarBound() else {
      remaining = 0
      return false
    }
    remaining -= 1
    return true
  }

  /// Removes the current entry, in a write. The walk goes on behind it.
  package mutating func deleteCurrent() throws(LMDBError) {
    try cursor.delete()
  }

  private mutating func seekLowerEnd() throws(LMDBError) -> Bool {
    switch range.lower {
    case .unbounded: return try cursor.first()
    // No key is empty: all of them follow this bound.
    case .inclusive(let bound) where bound.isEmpty: return try cursor.first()
    case .exclusive(let bound) where bound.isEmpty: return try cursor.first()
    case .inclusive(let bound): return try seek(atOrAfter: bound)
    case .exclusive(let bound):
      let isFound = try seek(atOrAfter: bound)
      return isFound && order(of: bound) == 0 ? try cursor.next() : isFound
    }
  }

  private mutating func seekUpperEnd() throws(LMDBError) -> Bool {
    switch range.upper {
    case .unbounded: return try cursor.last()
    case .inclusive(let bound) where bound.isEmpty: return false
    case .exclusive(let bound) where bound.isEmpty: return false
    case .inclusive(let bound): return try seek(atOrBefore: bound)
    case .exclusive(let bound):
      let isFound = try seek(atOrBefore: bound)
      return isFound && order(of: bound) == 0 ? try cursor.previous() : isFound
    }
  }

  private func isWithinFarBound() -> Bool {
    switch isDescending ? range.lower : range.upper {
    case .unbounded: true
    case .inclusive(let bound): isDescending ? order(of: bound) >= 0 : order(of: bound) <= 0
    case .exclusive(let bound): isDescending ? order(of: bound) > 0 : order(of: bound) < 0
    }
  }

  /// How the current key compares with `bound`.
  private func order(of bound: [UInt8]) -> Int {
    bound.withUnsafeBytes { KeyOrder.compare(cursor.key, $0, integers: usesIntegerKeys) }
  }

  private mutating func seek(atOrAfter bound: [UInt8]) throws(LMDBError) -> Bool {
    try bound.withUnsafeBytesTyped { (bytes) throws(LMDBError) in
      try cursor.seek(atOrAfter: bytes)
    }
  }

  private mutating func seek(atOrBefore bound: [UInt8]) throws(LMDBError) -> Bool {
    try bound.withUnsafeBytesTyped { (bytes) throws(LMDBError) in
      try cursor.seek(atOrBefore: bytes)
    }
  }
}

extension ReadTransaction {
  /// A walk over the entries of `tree` in `range`, at most `limit` of them.
  package borrowing func walk(
    _ range: KeyRange = .all, in tree: Tree, descending: Bool = false, limit: Int = .max
  ) throws(LMDBError) -> RangeWalk {
    RangeWalk(
      cursor: try cursor(in: tree), range: range, isDescending: descending,
      usesIntegerKeys: tree.usesIntegerKeys, limit: limit)
  }
}

extension WriteTransaction {
  /// A walk over the entries of `tree` in `range`, at most `limit` of them.
  package borrowing func walk(
    _ range: KeyRange = .all, in tree: Tree, descending: Bool = false, limit: Int = .max
  ) throws(LMDBError) -> RangeWalk {
    try reading.walk(range, in: tree, descending: descending, limit: limit)
  }
}

extension [UInt8] {
  /// `withUnsafeBytes` that keeps the type of the error.
  @inline(__always)
  fileprivate func withUnsafeBytesTyped<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try withUnsafeBufferPointer { (buffer) throws(Failure) in
      try body(UnsafeRawBufferPointer(buffer))
    }
  }
}

internal import LMDB
internal import LodestoreFormat

// Many keys looked up in one pass over an index: one cursor moves forward from key to key, and
// pages that hold several are visited once.

extension PlanRun {
  /// Looks up whole tuples in a unique index, with one cursor in key order.
  func forEachHolder(
    of points: PackedKeys, mayHaveNulls: Bool, in index: StoredIndex,
    _ body: (UInt64, UnsafeRawBufferPointer) throws -> Bool
  ) throws {
    let cursor = try Cursor(index.tree, in: core.transaction)
    for place in 0..<points.count {
      try tick()
      if mayHaveNulls || points.withKey(place, { $0.count > KeyEncoder.longestTuple }) {
        // Cut, or with a null, of which there may be several.
        let range = IndexRange.beginning(with: points[place])
        var goesOn = true
        try core.walk(index, of: entity, range, isReversed: false) { id, key in
          try tick()
          counts.entriesRead += 1
          goesOn = try body(id, key)
          return goesOn
        }
        if !goesOn { return }
        continue
      }
      let isFound = try points.withKey(place) { (key) throws(LMDBError) in try cursor.seek(key) }
      guard isFound else { continue }
      guard cursor.value.count == 8 else {
        throw StoreError.damagedIndex(index.name, "an entry's body has no record id")
      }
      counts.entriesRead += 1
      guard try body(cursor.value.uint64(at: 0), cursor.key) else { return }
    }
  }

  /// Visits the entries whose tuples begin with the elements of one of `prefixes`, which ascend.
  func forEachEntry(
    beginningWith prefixes: PackedKeys, in index: StoredIndex,
    _ body: (UInt64, UnsafeRawBufferPointer) throws -> Bool
  ) throws {
    let cursor = try Cursor(index.tree, in: core.transaction)
    for place in 0..<prefixes.count {
      try tick()
      guard
        try prefixes.withKey(
          place,
          { (prefix) throws in
            try forEachEntry(beginningWith: prefix, at: cursor, in: index, body)
          })
      else { return }
    }
  }

  /// The same for one; false when nothing more is wanted, or can be found.
  private func forEachEntry(
    beginningWith prefix: UnsafeRawBufferPointer, at cursor: Cursor, in index: StoredIndex,
    _ body: (UInt64, UnsafeRawBufferPointer) throws -> Bool
  ) throws -> Bool {
    if prefix.count >= KeyEncoder.cutPrefix {
      var goesOn = true
      let range = IndexRange.beginning(with: Array(prefix))
      try core.walk(index, of: entity, range, isReversed: false) { id, key in
        try tick()
        counts.entriesRead += 1
        goesOn = try body(id, key)
        return goesOn
      }
      return goesOn
    }
    // Nothing at or above this is nothing above what follows either.
    guard try cursor.seek(atOrAfter: prefix) else { return false }
    var found = true
    while found, Self.begins(cursor.key, with: prefix) {
      try tick()
      counts.entriesRead += 1
      let isLong = cursor.key.count >= KeyEncoder.cutPrefix
      let id = try core.entryID(cursor.key, cursor.value, index)
      guard try body(id, isLong ? UnsafeRawBufferPointer(start: nil, count: 0) : cursor.key)
      else { return false }
      found = try cursor.next()
    }
    return true
  }

  /// Whether the first elements of `key` are those of `prefix`.
  @inline(__always)
  private static func begins(
    _ key: UnsafeRawBufferPointer, with prefix: UnsafeRawBufferPointer
  ) -> Bool {
    key.count >= prefix.count
      && compareKeys(UnsafeRawBufferPointer(rebasing: key[..<prefix.count]), prefix) == 0
      && (key.count == prefix.count || key[prefix.count] != 255)
  }
}

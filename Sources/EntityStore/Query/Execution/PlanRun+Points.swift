internal import LMDB
internal import LodestoreFormat

// Many keys looked up in one pass over an index: one cursor moves forward from key to key, and
// pages that hold several are visited once.

extension PlanRun {
  /// Looks up whole tuples in a unique index, with one cursor in key order.
  func forEachHolder(
    of points: [[UInt8]], in index: StoredIndex,
    _ body: (UInt64, UnsafeRawBufferPointer) throws -> Bool
  ) throws {
    let cursor = try Cursor(index.tree, in: core.transaction)
    for point in points {
      try tick()
      if point.count > KeyEncoder.longestTuple || point.first == 0 {
        // Cut, or perhaps with a null, of which there may be several.
        var goesOn = true
        try core.walk(index, of: entity, .beginning(with: point), isReversed: false) { id, key in
          counts.entriesRead += 1
          goesOn = try body(id, key)
          return goesOn
        }
        if !goesOn { return }
        continue
      }
      let isFound = try point.withBytes { (key) throws(LMDBError) in try cursor.seek(key) }
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
    beginningWith prefixes: [[UInt8]], in index: StoredIndex,
    _ body: (UInt64, UnsafeRawBufferPointer) throws -> Bool
  ) throws {
    let cursor = try Cursor(index.tree, in: core.transaction)
    for prefix in prefixes {
      try tick()
      if prefix.count >= KeyEncoder.cutPrefix {
        var goesOn = true
        try core.walk(index, of: entity, .beginning(with: prefix), isReversed: false) { id, key in
          counts.entriesRead += 1
          goesOn = try body(id, key)
          return goesOn
        }
        if !goesOn { return }
        continue
      }
      var found = try prefix.withBytes { (key) throws(LMDBError) in
        try cursor.seek(atOrAfter: key)
      }
      // Nothing is at or above this, nor above what follows.
      if !found { return }
      while found, Self.begins(cursor.key, with: prefix) {
        counts.entriesRead += 1
        let isLong = cursor.key.count >= KeyEncoder.cutPrefix
        let id = try core.entryID(cursor.key, cursor.value, index)
        guard try body(id, isLong ? UnsafeRawBufferPointer(start: nil, count: 0) : cursor.key)
        else { return }
        found = try cursor.next()
      }
    }
  }

  /// Whether the first elements of `key` are those of `prefix`.
  @inline(__always)
  private static func begins(_ key: UnsafeRawBufferPointer, with prefix: [UInt8]) -> Bool {
    key.count >= prefix.count
      && compareKeys(UnsafeRawBufferPointer(rebasing: key[..<prefix.count]), prefix) == 0
      && (key.count == prefix.count || key[prefix.count] != 255)
  }
}

internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

// Lookups of many keys in one pass over an index. One cursor moves forward from key to key, so a
// page with several of the keys is visited once.

extension PlanRun {
  /// Looks up complete tuples in a unique index, with one cursor in key order.
  func forEachHolder(
    of points: PackedKeys, mayHaveNulls: Bool, in index: StoredIndex,
    _ body: (UInt64, ByteView) throws -> Bool
  ) throws {
    let cursor = try Cursor(index.tree, in: core.transaction)
    for position in 0..<points.count {
      try tick()
      if mayHaveNulls || points.withKey(position, { $0.count > KeyEncoder.longestTuple }) {
        // Several entries may share this tuple, since its key is cut or contains a null.
        let range = IndexRange.beginning(with: points[position])
        guard try forEachCutEntry(of: index, range, body) else { return }
        continue
      }
      let isFound = try points.withKey(position) { (key) throws(LMDBError) in try cursor.seek(key) }
      guard isFound else { continue }
      guard cursor.value.count == 8 else {
        throw StoreError.damagedIndex(index.name, "an entry's body has no record id")
      }
      counts.entriesRead += 1
      guard try body(cursor.value.uint64(at: 0), cursor.key) else { return }
    }
  }

  /// Visits the entries whose tuples begin with the elements of one of `prefixes`, which must
  /// ascend.
  func forEachEntry(
    beginningWith prefixes: PackedKeys, in index: StoredIndex,
    _ body: (UInt64, ByteView) throws -> Bool
  ) throws {
    let cursor = try Cursor(index.tree, in: core.transaction)
    for position in 0..<prefixes.count {
      try tick()
      let goesOn = try prefixes.withKey(position) { (prefix) throws in
        try forEachEntry(beginningWith: prefix, at: cursor, in: index, body)
      }
      guard goesOn else { return }
    }
  }

  /// Visits the entries for one prefix.
  ///
  /// Returns false if `body` did, or if no entry is at or above the prefix.
  private func forEachEntry(
    beginningWith prefix: ByteView, at cursor: Cursor, in index: StoredIndex,
    _ body: (UInt64, ByteView) throws -> Bool
  ) throws -> Bool {
    if prefix.count >= KeyEncoder.cutPrefix {
      return try forEachCutEntry(of: index, .beginning(with: Array(prefix)), body)
    }
    // If no entry is at or above this prefix, none is above the later prefixes either.
    guard try cursor.seek(atOrAfter: prefix) else { return false }
    var found = true
    while found, Self.begins(cursor.key, with: prefix) {
      try tick()
      counts.entriesRead += 1
      let isLong = cursor.key.count >= KeyEncoder.cutPrefix
      let id = try index.recordID(ofEntry: cursor.key, cursor.value)
      guard try body(id, isLong ? ByteView() : cursor.key) else { return false }
      found = try cursor.next()
    }
    return true
  }

  /// Returns whether `key` begins with the elements of `prefix`.
  @inline(__always)
  private static func begins(_ key: ByteView, with prefix: ByteView) -> Bool {
    key.count >= prefix.count
      && compareKeys(key[..<prefix.count], prefix) == 0
      && (key.count == prefix.count || key[prefix.count] != 255)
  }
}

internal import LMDB
internal import LodestoreFormat

extension PlanRun {
  /// Returns the record ids of the entries of an element index, ascending and without repetition.
  ///
  /// A cut key compares correctly with every constant that is not cut itself, since they differ
  /// before the cut.
  func collectElementIDs(_ access: IndexAccess) throws -> [UInt64] {
    try core.prepareSearch()
    var ids: [UInt64] = []
    ids.reserveCapacity(min(access.estimatedEntryCount, 1 << 20))
    let cursor = try Cursor(access.index.tree, in: core.transaction)
    for range in access.ranges {
      try cursor.forEachEntry(in: range.keys, backwards: false) { (key, _) throws in
        try tick()
        counts.entriesRead &+= 1
        guard key.count > 8 else {
          throw StoreError.damagedIndex(access.index.name, "an entry has no record id")
        }
        ids.append(key.bigEndianUInt64(at: key.count &- 8))
        return true
      }
    }
    IDSort.sortUnique(&ids)
    return ids
  }
}

internal import CLMDB

/// Sizes and counts of an environment at one moment.
package struct EnvironmentInformation: Sendable, Equatable {
  package let mapSizeInBytes: Int
  package let pageSizeInBytes: Int
  /// Pages from the file's beginning to the last one that the newest commit knows of.
  package let pageCount: Int
  package let lastTransactionID: UInt64
  package let readerSlotCount: Int
  /// Reader slots that were ever in use at the same time since the lock file was made.
  package let usedReaderSlotCount: Int
  /// LMDB's own version text.
  package let engineVersion: String
}

/// The pages that no commit but an older snapshot may still need, as the newest commit sees them.
package struct FreeListSummary: Sendable, Equatable {
  /// Pages that will be used again.
  package let pageCount: Int
  /// Commits that left pages to the list.
  package let entryCount: Int
  /// Pages that the list itself takes.
  package let ownPageCount: Int
}

extension Environment {
  package static var engineVersion: String { String(cString: mdb_version(nil, nil, nil)) }

  package func information() throws(LMDBError) -> EnvironmentInformation {
    try checkNotForked("read the environment's state")
    try gate.enterWithoutTransaction("read the environment's state")
    defer { leaveGate() }
    var result = MDB_envinfo()
    mdb_env_info(raw, &result)
    return EnvironmentInformation(
      mapSizeInBytes: result.me_mapsize, pageSizeInBytes: pageSizeInBytes,
      pageCount: result.me_last_pgno + 1, lastTransactionID: UInt64(result.me_last_txnid),
      readerSlotCount: Int(result.me_maxreaders), usedReaderSlotCount: Int(result.me_numreaders),
      engineVersion: Self.engineVersion)
  }
}

extension ReadTransaction {
  /// Adds up the free list. Reads all of it.
  ///
  /// Not inside a write, where the engine does not let its list be read.
  package borrowing func freeListSummary() throws(LMDBError) -> FreeListSummary {
    let freeListHandle: UInt32 = 0
    let shape = try statistics(ofHandle: freeListHandle)
    var opened: OpaquePointer?
    var code = mdb_cursor_open(raw, freeListHandle, &opened)
    guard code == MDB_SUCCESS, let cursor = opened else {
      throw failure(code, "read the free list")
    }
    defer { mdb_cursor_close(cursor) }
    var pageCount = 0
    var key = MDB_val()
    var value = MDB_val()
    code = mdb_cursor_get(cursor, &key, &value, MDB_FIRST)
    while code == MDB_SUCCESS {
      // An entry is a count and that many page numbers; a count that does not fit is damage, and
      // what it says is not believed.
      let bytes = UnsafeRawBufferPointer(value)
      if bytes.count >= 8 {
        let declared = bytes.loadUnaligned(as: UInt.self)
        pageCount += min(Int(clamping: declared), bytes.count / 8 - 1)
      }
      code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
    }
    guard code == MDB_NOTFOUND else { throw failure(code, "read the free list") }
    return FreeListSummary(
      pageCount: pageCount, entryCount: shape.entryCount,
      ownPageCount: shape.branchPageCount + shape.leafPageCount + shape.overflowPageCount)
  }

  /// The shape of the tree that holds the names of the others.
  package borrowing func nameTreeStatistics() throws(LMDBError) -> TreeStatistics {
    try statistics(ofHandle: Environment.namesHandle)
  }
}

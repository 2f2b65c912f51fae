import LMDB
import LodestoreFormat

/// What LMDB keeps about a tree in 48 bytes, as data version 1 has it on a 64-bit machine.
struct TreeRecord: Equatable, Sendable {
  /// The page size in the free list's record, otherwise unused.
  var pad: UInt32
  var flags: UInt16
  var depth: UInt16
  var branchPages: UInt64
  var leafPages: UInt64
  var overflowPages: UInt64
  var entries: UInt64
  var root: UInt64

  /// Reads ``TreeRecordLayout/size`` bytes at `offset`, which the caller has checked to be there.
  init(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
    pad = bytes._uint32(at: offset + TreeRecordLayout.pageSize)
    flags = bytes._uint16(at: offset + TreeRecordLayout.flags)
    depth = bytes._uint16(at: offset + TreeRecordLayout.depth)
    branchPages = bytes._uint64(at: offset + TreeRecordLayout.branchPages)
    leafPages = bytes._uint64(at: offset + TreeRecordLayout.leafPages)
    overflowPages = bytes._uint64(at: offset + TreeRecordLayout.overflowPages)
    entries = bytes._uint64(at: offset + TreeRecordLayout.entries)
    root = bytes._uint64(at: offset + TreeRecordLayout.root)
  }
}

/// One of the two first pages of the file.
struct MetaPage: Equatable, Sendable {
  var pageNumber: UInt64
  var pageFlags: UInt16
  var magic: UInt32
  var version: UInt32
  var mapSize: UInt64
  var freeList: TreeRecord
  var main: TreeRecord
  var lastPage: UInt64
  var transaction: UInt64

  var pageSize: Int { Int(freeList.pad) }

  /// Reads ``MetaPageLayout/size`` bytes, which the caller has checked to be there.
  init(_ bytes: UnsafeRawBufferPointer) {
    pageNumber = bytes._uint64(at: PageLayout.number)
    pageFlags = bytes._uint16(at: PageLayout.flags)
    magic = bytes._uint32(at: MetaPageLayout.magic)
    version = bytes._uint32(at: MetaPageLayout.version)
    mapSize = bytes._uint64(at: MetaPageLayout.mapSize)
    freeList = TreeRecord(bytes, at: MetaPageLayout.freeList)
    main = TreeRecord(bytes, at: MetaPageLayout.names)
    lastPage = bytes._uint64(at: MetaPageLayout.lastPage)
    transaction = bytes._uint64(at: MetaPageLayout.transaction)
  }
}

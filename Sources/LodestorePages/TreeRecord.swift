import LodestoreBytes
internal import LodestoreFormat

/// LMDB's record of a tree, 48 bytes on a 64-bit machine.
package struct TreeRecord: Equatable, Sendable {
  /// The page size, in the free list's record.
  ///
  /// Other records do not use it.
  package var pad: UInt32
  package var flags: UInt16
  package var depth: UInt16
  package var branchPages: UInt64
  package var leafPages: UInt64
  package var overflowPages: UInt64
  package var entries: UInt64
  package var root: UInt64

  /// Reads ``TreeRecordLayout/size`` bytes at `offset`.
  ///
  /// The caller must have checked that they exist.
  package init(_ bytes: ByteView, at offset: Int) {
    pad = bytes.uint32(at: offset + TreeRecordLayout.pageSize)
    flags = bytes.uint16(at: offset + TreeRecordLayout.flags)
    depth = bytes.uint16(at: offset + TreeRecordLayout.depth)
    branchPages = bytes.uint64(at: offset + TreeRecordLayout.branchPages)
    leafPages = bytes.uint64(at: offset + TreeRecordLayout.leafPages)
    overflowPages = bytes.uint64(at: offset + TreeRecordLayout.overflowPages)
    entries = bytes.uint64(at: offset + TreeRecordLayout.entries)
    root = bytes.uint64(at: offset + TreeRecordLayout.root)
  }
}

/// One of the two first pages of the file.
package struct MetaPage: Equatable, Sendable {
  package var pageNumber: UInt64
  package var pageFlags: UInt16
  package var magic: UInt32
  package var version: UInt32
  package var mapSize: UInt64
  package var freeList: TreeRecord
  package var main: TreeRecord
  package var lastPage: UInt64
  package var transaction: UInt64

  package var pageSize: Int { Int(freeList.pad) }

  /// The highest accepted transaction number: two thousand years of a million commits a second.
  ///
  /// Arithmetic on larger numbers may overflow.
  package static let transactionLimit: UInt64 = 1 << 56

  /// Reads ``MetaPageLayout/size`` bytes.
  ///
  /// The caller must have checked that they exist.
  package init(_ bytes: ByteView, _ format: PageFormat) {
    let layout = format.meta
    pageNumber = bytes.uint64(at: PageLayout.number)
    pageFlags = bytes.uint16(at: format.flags)
    magic = bytes.uint32(at: layout.magic)
    version = bytes.uint32(at: layout.version)
    mapSize = bytes.uint64(at: layout.mapSize)
    freeList = TreeRecord(bytes, at: layout.freeList)
    main = TreeRecord(bytes, at: layout.names)
    lastPage = bytes.uint64(at: layout.lastPage)
    transaction = bytes.uint64(at: layout.transaction)
  }
}

import LodestoreFormat

/// What LMDB keeps about a tree in 48 bytes, as data version 1 has it on a 64-bit machine.
struct TreeRecord: Equatable, Sendable {
  static let byteCount = 48
  /// LMDB's mark for an empty tree's root.
  static let noPage = UInt64.max

  /// The page size in the free list's record, otherwise unused.
  var pad: UInt32
  var flags: UInt16
  var depth: UInt16
  var branchPages: UInt64
  var leafPages: UInt64
  var overflowPages: UInt64
  var entries: UInt64
  var root: UInt64

  /// Reads 48 bytes at `offset`, which the caller has checked to be there.
  init(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
    pad = bytes.uint32(at: offset)
    flags = bytes.uint16(at: offset + 4)
    depth = bytes.uint16(at: offset + 6)
    branchPages = bytes.uint64(at: offset + 8)
    leafPages = bytes.uint64(at: offset + 16)
    overflowPages = bytes.uint64(at: offset + 24)
    entries = bytes.uint64(at: offset + 32)
    root = bytes.uint64(at: offset + 40)
  }
}

/// The flags of trees and pages that LMDB writes into files.
enum EngineFlag {
  static let integerKeys: UInt16 = 0x08
  /// An option of the environment that LMDB keeps in the free list's flags; without effect.
  static let noSubdirectory: UInt16 = 0x4000

  static let branch: UInt16 = 0x01
  static let leaf: UInt16 = 0x02
  static let overflow: UInt16 = 0x04
  static let meta: UInt16 = 0x08

  static let bigData: UInt16 = 0x01
  static let subData: UInt16 = 0x02
}

/// One of the two first pages of the file.
struct MetaPage: Equatable, Sendable {
  static let magic: UInt32 = 0xBEEF_C0DE
  /// Page header, magic, version, address, map size, two tree records, last page, transaction.
  static let byteCount = 152

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

  /// Reads 152 bytes, which the caller has checked to be there.
  init(_ bytes: UnsafeRawBufferPointer) {
    pageNumber = bytes.uint64(at: 0)
    pageFlags = bytes.uint16(at: 10)
    magic = bytes.uint32(at: 16)
    version = bytes.uint32(at: 20)
    mapSize = bytes.uint64(at: 32)
    freeList = TreeRecord(bytes, at: 40)
    main = TreeRecord(bytes, at: 88)
    lastPage = bytes.uint64(at: 136)
    transaction = bytes.uint64(at: 144)
  }
}

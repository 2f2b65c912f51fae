import LodestoreSystem

/// The numbers that both of LMDB's file formats share, on a 64-bit little-endian machine.
///
/// No other file of the package repeats these numbers. ``PageFormat`` has the numbers that differ.
/// `LMDB/Pages/README.md` lists the other assumptions about LMDB, the code that relies on them, and
/// the checks. Everything is public and inlinable, because scans in other modules read pages in
/// their loops.
@_documentation(visibility: internal)
public enum PageLayout {
  // MARK: The header of a page (LMDB: MDB_page)

  /// The offset of the page's own number, 8 bytes.
  ///
  /// ``PageFormat`` has the other fields.
  @_documentation(visibility: internal)
  @inlinable public static var number: Int { 0 }

  /// The size of a slot.
  ///
  /// The slots follow the header and hold the offset of each node in key order.
  @_documentation(visibility: internal)
  @inlinable public static var slotSize: Int { 2 }

  // MARK: A node (LMDB: MDB_node), which begins at an even offset

  /// The offset, in a leaf, of the value's size, 4 bytes; in a branch, of the lower 4 bytes of the
  /// child's number.
  @_documentation(visibility: internal)
  @inlinable public static var nodeValueSize: Int { 0 }
  /// The offset, in a leaf, of the ``NodeFlag`` bits, 2 bytes; in a branch, of the upper 2 bytes of
  /// the child's number.
  @_documentation(visibility: internal)
  @inlinable public static var nodeFlags: Int { 4 }
  /// The offset of the key's size, 2 bytes.
  @_documentation(visibility: internal)
  @inlinable public static var nodeKeySize: Int { 6 }
  /// The size of a node's header.
  ///
  /// The key follows it, then the value or the reference to its overflow pages.
  @_documentation(visibility: internal)
  @inlinable public static var nodeHeaderSize: Int { 8 }
  /// The number of bits in the lower part of a child's number.
  @_documentation(visibility: internal)
  @inlinable public static var childLowBits: Int { 32 }

  /// The size of an id, the key of a record (LMDB: MDB_INTEGERKEY).
  @_documentation(visibility: internal)
  @inlinable public static var idSize: Int { 8 }
  /// The size of a branch node with its key, in a tree of ids.
  @_documentation(visibility: internal)
  @inlinable public static var idBranchNodeSize: Int { nodeHeaderSize + idSize }

  // MARK: Limits

  /// The maximum size of a key (mdb_env_get_maxkeysize).
  package static let longestKey = 511
  /// The maximum depth of a tree, the height of LMDB's cursor stack (LMDB: CURSOR_STACK).
  package static let deepestTree = 32
  /// The first page after the meta pages.
  package static let firstDataPage: UInt64 = 2
  /// The smallest page size accepted.
  ///
  /// No system has smaller pages, so a smaller size in a file is damage.
  package static let smallestPage = 512
  /// A value of at most this size is stored within a leaf, with pages of 4 KiB or more.
  package static let longestSharedValue = 1_024

  // MARK: The system

  /// The system's page size.
  ///
  /// A mapping begins at a multiple of this size.
  package static let systemPageSize = Int(sysconf(Int32(_SC_PAGESIZE)))
}

/// The bits that state the kind of a page.
@_documentation(visibility: internal)
public enum PageFlag {
  /// A page whose nodes refer to child pages.
  @_documentation(visibility: internal)
  @inlinable public static var branch: UInt16 { 0x01 }
  /// A page whose nodes are the pairs of a tree.
  @_documentation(visibility: internal)
  @inlinable public static var leaf: UInt16 { 0x02 }
  /// The first page of a long value.
  @_documentation(visibility: internal)
  @inlinable public static var overflow: UInt16 { 0x04 }
  /// One of the first two pages of a file.
  @_documentation(visibility: internal)
  @inlinable public static var meta: UInt16 { 0x08 }
  /// A page changed by the running write.
  ///
  /// LMDB 0.9 clears the flag before it writes the page to the file. LMDB 1.0 has no such flag.
  @_documentation(visibility: internal)
  @inlinable public static var dirty: UInt16 { 0x10 }
  /// A leaf of keys without nodes, which no tree of a store uses (LMDB: P_LEAF2).
  @_documentation(visibility: internal)
  @inlinable public static var packedLeaf: UInt16 { 0x20 }
}

/// The kind of a value in a leaf's node.
@_documentation(visibility: internal)
public enum NodeFlag {
  /// The value is in overflow pages (LMDB: F_BIGDATA).
  @_documentation(visibility: internal)
  @inlinable public static var isLarge: UInt16 { 0x01 }
  /// The value is the record of a tree (LMDB: F_SUBDATA).
  @_documentation(visibility: internal)
  @inlinable public static var isTree: UInt16 { 0x02 }
}

/// The offsets within LMDB's record of a tree (LMDB: MDB_db).
///
/// Such records are in the tree of names, and two are in each meta page.
package enum TreeRecordLayout {
  /// The offset of the page size in the free list's record, 4 bytes.
  ///
  /// Other records do not use it.
  package static let pageSize = 0
  package static let flags = 4
  /// The offset of the tree's depth, counting its leaf level, 2 bytes.
  package static let depth = 6
  package static let branchPages = 8
  package static let leafPages = 16
  package static let overflowPages = 24
  package static let entries = 32
  package static let root = 40
  package static let size = 48

  /// The root of an empty tree.
  package static let noPage = UInt64.max
  /// The flag for a tree with integer keys (LMDB: MDB_INTEGERKEY).
  package static let integerKeys: UInt16 = 0x08
  /// An option of the environment that LMDB stores among the free list's flags.
  ///
  /// This bit has no effect.
  package static let noSubdirectory: UInt16 = 0x4000
}

/// The first two pages of a file, which alternate as the newest commit (LMDB: MDB_meta).
///
/// Offsets count from the page's start.
///
/// The formats have the same fields in the same order, after a header of different size.
package struct MetaPageLayout: Sendable, Equatable {
  let headerSize: Int

  package var magic: Int { headerSize }
  package var version: Int { headerSize + 4 }
  package var mapSize: Int { headerSize + 16 }
  package var freeList: Int { headerSize + 24 }
  package var names: Int { headerSize + 72 }
  package var lastPage: Int { headerSize + 120 }
  package var transaction: Int { headerSize + 128 }
  package var size: Int { headerSize + 136 }

  package static let magicNumber: UInt32 = 0xBEEF_C0DE
  /// The offset of the magic number in a file of a 32-bit machine.
  package static let magicOf32Bits = 12
}

/// The handles of LMDB's own trees (LMDB: FREE_DBI, MAIN_DBI).
package enum EngineTree {
  package static let freeList: UInt32 = 0
  package static let names: UInt32 = 1

  /// The size of a number in an entry of the free list.
  ///
  /// Each commit that freed pages has an entry: a count, then the page numbers.
  package static let freeListWord = 8
}

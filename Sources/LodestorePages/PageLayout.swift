import LodestoreSystem

/// The numbers that LMDB's file formats have in common, on a 64-bit little-endian machine: every one that
/// this package relies on, and nowhere else.
///
/// ``PageFormat`` has the numbers that differ. `README.md` in this folder says what else is assumed of LMDB,
/// who relies on it, and what checks it. Public and inlinable, as scans read pages in the loops of another
/// module.
@_documentation(visibility: internal)
public enum PageLayout {
  // MARK: The header of a page (LMDB: MDB_page)

  /// The page's own number, 8 bytes.
  ///
  /// The other fields are in ``PageFormat``.
  @_documentation(visibility: internal)
  @inlinable public static var number: Int { 0 }

  /// The slots follow the header: the offset of each node in its page, in the order of the keys.
  @_documentation(visibility: internal)
  @inlinable public static var slotSize: Int { 2 }

  // MARK: A node (LMDB: MDB_node), which begins at an even offset

  /// In a leaf the size of the value, 4 bytes; in a branch the lower 4 bytes of the child's number.
  @_documentation(visibility: internal)
  @inlinable public static var nodeValueSize: Int { 0 }
  /// In a leaf ``NodeFlag``; in a branch the upper 2 bytes of the child's number.
  @_documentation(visibility: internal)
  @inlinable public static var nodeFlags: Int { 4 }
  /// The size of the key, 2 bytes.
  @_documentation(visibility: internal)
  @inlinable public static var nodeKeySize: Int { 6 }
  /// The key follows the header, and the value or the place of its overflow pages follows the key.
  @_documentation(visibility: internal)
  @inlinable public static var nodeHeaderSize: Int { 8 }
  /// How many bits of a child's number the lower part has.
  @_documentation(visibility: internal)
  @inlinable public static var childLowBits: Int { 32 }

  /// The bytes of an id, the key of a record (LMDB: MDB_INTEGERKEY).
  @_documentation(visibility: internal)
  @inlinable public static var idSize: Int { 8 }
  /// A branch node of a tree of ids with its key.
  @_documentation(visibility: internal)
  @inlinable public static var idBranchNodeSize: Int { nodeHeaderSize + idSize }

  // MARK: Limits

  /// The longest key that the engine takes (mdb_env_get_maxkeysize).
  package static let longestKey = 511
  /// The height of LMDB's cursor stack: no tree is deeper (LMDB: CURSOR_STACK).
  package static let deepestTree = 32
  /// The first page that is no meta page.
  package static let firstDataPage: UInt64 = 2
  /// Smaller ones are taken for damage; no system has them.
  package static let smallestPage = 512
  /// A value of this size or less is in a leaf, on pages of 4 KiB and more: less than half of one.
  package static let longestSharedValue = 1_024

  // MARK: The system

  /// The system's page size, a multiple of which a map begins at.
  package static let systemPageSize = Int(sysconf(Int32(_SC_PAGESIZE)))
}

/// The kinds of a page.
@_documentation(visibility: internal)
public enum PageFlag {
  /// Its nodes lead to pages below.
  @_documentation(visibility: internal)
  @inlinable public static var branch: UInt16 { 0x01 }
  /// Its nodes are the pairs of a tree.
  @_documentation(visibility: internal)
  @inlinable public static var leaf: UInt16 { 0x02 }
  /// The first page of a long value.
  @_documentation(visibility: internal)
  @inlinable public static var overflow: UInt16 { 0x04 }
  /// One of the two first pages.
  @_documentation(visibility: internal)
  @inlinable public static var meta: UInt16 { 0x08 }
  /// Changed by the running write.
  ///
  /// LMDB 0.9 clears it before it writes the page to the file; 1.0 has no
  /// such flag.
  @_documentation(visibility: internal)
  @inlinable public static var dirty: UInt16 { 0x10 }
  /// Keys without nodes, which no tree of a store has (LMDB: P_LEAF2).
  @_documentation(visibility: internal)
  @inlinable public static var packedLeaf: UInt16 { 0x20 }
}

/// What the value of a node in a leaf is.
@_documentation(visibility: internal)
public enum NodeFlag {
  /// It is in overflow pages (LMDB: F_BIGDATA).
  @_documentation(visibility: internal)
  @inlinable public static var isLarge: UInt16 { 0x01 }
  /// It is the record of a tree (LMDB: F_SUBDATA).
  @_documentation(visibility: internal)
  @inlinable public static var isTree: UInt16 { 0x02 }
}

/// What LMDB keeps about a tree (LMDB: MDB_db): in the tree of names, and twice in a meta page.
package enum TreeRecordLayout {
  /// The page size in that of the free list, otherwise unused; 4 bytes.
  package static let pageSize = 0
  package static let flags = 4
  /// How many pages lead to an entry, its leaf included; 2 bytes.
  package static let depth = 6
  package static let branchPages = 8
  package static let leafPages = 16
  package static let overflowPages = 24
  package static let entries = 32
  package static let root = 40
  package static let size = 48

  /// The root of an empty tree.
  package static let noPage = UInt64.max
  /// Its keys are numbers (LMDB: MDB_INTEGERKEY).
  package static let integerKeys: UInt16 = 0x08
  /// An option of the environment that LMDB keeps in the free list's flags; without effect.
  package static let noSubdirectory: UInt16 = 0x4000
}

/// The two first pages of a file, in turns the newest commit (LMDB: MDB_meta); offsets from the page's
/// begin.
///
/// Both formats have the same fields in the same order, after a header of another size.
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
  /// Where the magic number is in the file of a 32-bit machine.
  package static let magicOf32Bits = 12
}

/// The handles of LMDB's own trees (LMDB: FREE_DBI, MAIN_DBI).
package enum EngineTree {
  package static let freeList: UInt32 = 0
  package static let names: UInt32 = 1

  /// One entry for each commit that freed pages: how many, then their numbers, 8 bytes each.
  package static let freeListWord = 8
}

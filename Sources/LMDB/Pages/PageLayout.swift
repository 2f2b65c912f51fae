#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The numbers of LMDB's file format, data version 1, on a 64-bit little-endian machine: every one that
/// this package relies on, and nowhere else.
///
/// `README.md` in this folder says what else is assumed of LMDB, who relies on it, and what checks it.
/// Public and inlinable, as scans read pages in the loops of another module.
@_documentation(visibility: internal)
public enum PageLayout {
  // MARK: The header of a page (LMDB: MDB_page)

  /// The page's own number, 8 bytes.
  @_documentation(visibility: internal)
  @inlinable public static var number: Int { 0 }
  /// See ``PageFlag``, 2 bytes.
  @_documentation(visibility: internal)
  @inlinable public static var flags: Int { 10 }
  /// Where the free space begins, behind the slots, 2 bytes.
  @_documentation(visibility: internal)
  @inlinable public static var lower: Int { 12 }
  /// Where the free space ends and the nodes begin, 2 bytes.
  @_documentation(visibility: internal)
  @inlinable public static var upper: Int { 14 }
  /// In an overflow page, in the place of both: how many pages the value has, 4 bytes.
  @_documentation(visibility: internal)
  @inlinable public static var overflowCount: Int { 12 }
  /// All of the header.
  @_documentation(visibility: internal)
  @inlinable public static var headerSize: Int { 16 }

  /// Behind the header: the offset of each node in its page, in the order of the keys.
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
  /// Behind it the key, and behind that the value or the number of its first overflow page.
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
  /// The largest page of LMDB 0.9, also where the system has larger ones (LMDB: MAX_PAGESIZE).
  package static let largestPage = 0x8000
  /// Smaller ones are taken for damage; no system has them.
  package static let smallestPage = 512

  /// Why a file that says this page size is refused, as a clause.
  package static func refusal(ofPageSize size: some CustomStringConvertible) -> String {
    "its first page says a page size of \(size) bytes, and LMDB's pages have a power of two from "
      + "\(smallestPage) to \(largestPage)"
  }

  /// A value of this size or less is in a leaf, on pages of 4 KiB and more: less than half of one.
  package static let longestSharedValue = 1_024
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
  /// Changed by the running write; LMDB takes it away before it writes the page to the file.
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
package enum MetaPageLayout {
  package static let magic = 16
  package static let version = 20
  package static let mapSize = 32
  package static let freeList = 40
  package static let names = 88
  package static let lastPage = 136
  package static let transaction = 144
  package static let size = 152

  package static let magicNumber: UInt32 = 0xBEEF_C0DE
  package static let dataVersion: UInt32 = 1
  /// Where the magic number is in the file of a 32-bit machine, and in one of LMDB 1.0.
  package static let magicOf32Bits = 12
  package static let magicOfNextFormat = 24
}

/// The handles of LMDB's own trees (LMDB: FREE_DBI, MAIN_DBI).
enum EngineTree {
  static let freeList: UInt32 = 0
  static let names: UInt32 = 1

  /// One entry for each commit that freed pages: how many, then their numbers, 8 bytes each.
  static let freeListWord = 8
}

/// The lock file (LMDB: MDB_txninfo).
enum LockFileLayout {
  /// LMDB's CACHELINE, to which each part of the header is rounded up; also what a reader takes.
  static let slotSize = 64

  /// How many bytes the lock file has that LMDB makes for so many readers.
  static func size(readerCount: Int) -> Int {
    // Magic number and format, a lock, the last transaction, the count of readers.
    let header = rounded(8 + lockSize + 8 + 4)
    return header + rounded(lockSize) + readerCount * slotSize
  }

  #if os(Linux)
    /// Where the number of the last transaction is (LMDB: mtb_txnid).
    static let lastTransaction = 8 + lockSize

    /// Where the lock word of the writer's lock is: the number of the thread that holds it, and two
    /// flags.
    ///
    /// The C library's, for mutexes that outlive their holder.
    static var writerLockWord: Int {
      #if canImport(Musl)
        let word = 4
      #else
        let word = 0
      #endif
      return rounded(8 + lockSize + 8 + 4) + word
    }
  #endif

  #if canImport(Darwin)
    /// The name of a semaphore (LMDB: MNAME_LEN).
    private static let lockSize = 32
  #else
    private static let lockSize = MemoryLayout<pthread_mutex_t>.size
  #endif

  private static func rounded(_ size: Int) -> Int {
    (size + slotSize - 1) / slotSize * slotSize
  }
}

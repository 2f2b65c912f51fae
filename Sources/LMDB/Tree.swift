import CLMDB

/// A named tree of an environment (LMDB: a named database), valid until the environment closes.
package struct Tree: Sendable, Hashable {
  package let name: String
  let handle: MDB_dbi
  package let hasIntegerKeys: Bool

  /// LMDB's own trees.
  static let freeList = Tree(name: "free list", handle: EngineTree.freeList, hasIntegerKeys: true)
  static let names = Tree(name: "tree names", handle: EngineTree.names, hasIntegerKeys: false)

  /// Whether LMDB accepts a key of this size.
  ///
  /// LMDB reads eight bytes of an integer key, whatever its size.
  @inline(__always)
  func takesKey(ofSize size: Int) -> Bool {
    hasIntegerKeys ? size == PageLayout.idSize : size >= 1 && size <= PageLayout.longestKey
  }

  func checked(_ hasIntegerKeys: Bool) throws(LMDBError) -> Tree {
    guard hasIntegerKeys == self.hasIntegerKeys else {
      throw LMDBError(code: MDB_INCOMPATIBLE, operation: "open tree \(name)")
    }
    return self
  }
}

/// A tree by its name, and whether its keys are ids.
package typealias TreeKind = (name: String, hasIntegerKeys: Bool)

/// LMDB's counts of a tree (`mdb_stat`).
package struct TreeStatistics: Sendable, Equatable {
  package var depth = 0
  package var branchPages = 0
  package var leafPages = 0
  package var overflowPages = 0
  package var entries = 0
  package var pageSize = 0

  init?(_ stat: MDB_stat) {
    self.init(
      depth: Int(stat.ms_depth), branchPages: UInt64(bitPattern: Int64(stat.ms_branch_pages)),
      leafPages: UInt64(bitPattern: Int64(stat.ms_leaf_pages)),
      overflowPages: UInt64(bitPattern: Int64(stat.ms_overflow_pages)),
      entries: UInt64(bitPattern: Int64(stat.ms_entries)), pageSize: Int(stat.ms_psize))
  }

  init?(_ record: TreeRecord, pageSize: Int) {
    self.init(
      depth: Int(record.depth), branchPages: record.branchPages, leafPages: record.leafPages,
      overflowPages: record.overflowPages, entries: record.entries, pageSize: pageSize)
  }

  /// Fails if a number exceeds the capacity of a map, as in a damaged record of a tree.
  ///
  /// Sums of the counts, and their products with the page size, therefore cannot overflow.
  private init?(
    depth: Int, branchPages: UInt64, leafPages: UInt64, overflowPages: UInt64, entries: UInt64,
    pageSize: Int
  ) {
    let bytes = UInt64(Environment.largestMapInBytes)
    let pages = 0...bytes / UInt64(max(1, pageSize))
    guard pages.contains(branchPages), pages.contains(leafPages), pages.contains(overflowPages),
      (0...bytes).contains(entries)
    else { return nil }
    self.depth = depth
    self.branchPages = Int(branchPages)
    self.leafPages = Int(leafPages)
    self.overflowPages = Int(overflowPages)
    self.entries = Int(entries)
    self.pageSize = pageSize
  }
}

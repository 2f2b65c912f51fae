import CLMDB

/// A named tree of an environment (LMDB: a named database); valid until the environment closes.
package struct Tree: Sendable, Hashable {
  package let name: String
  let handle: MDB_dbi

  init(name: String, handle: MDB_dbi) {
    self.name = name
    self.handle = handle
  }
}

/// What LMDB counts of a tree (`mdb_stat`).
package struct TreeStatistics: Sendable, Equatable {
  package var depth = 0
  package var branchPages = 0
  package var leafPages = 0
  package var overflowPages = 0
  package var entries = 0

  init(_ stat: MDB_stat) {
    depth = Int(stat.ms_depth)
    branchPages = stat.ms_branch_pages
    leafPages = stat.ms_leaf_pages
    overflowPages = stat.ms_overflow_pages
    entries = stat.ms_entries
  }
}

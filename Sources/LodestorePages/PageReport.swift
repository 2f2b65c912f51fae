/// The result of a walk over the pages of an LMDB file.
package struct PageReport: Sendable {
  /// Counts of one tree, taken from its pages and not from its record.
  package struct Tree: Sendable, Equatable {
    package var name: String
    package var hasIntegerKeys = false
    package var depth = 0
    package var branchPages = 0
    package var leafPages = 0
    package var overflowPages = 0
    package var entries = 0
    /// The number of used bytes among ``leafCapacityInBytes``.
    package var leafUsedInBytes = 0
    package var leafCapacityInBytes = 0

    package var pages: Int { branchPages + leafPages + overflowPages }
    /// The used share of the leaf pages, from 0 to 1; `nil` without leaf pages.
    package var fill: Double? {
      leafCapacityInBytes == 0 ? nil : Double(leafUsedInBytes) / Double(leafCapacityInBytes)
    }
  }

  package var format = PageFormat.lmdb09
  package var pageSizeInBytes = 0
  package var fileSizeInBytes = 0
  package var mapSizeInBytes: UInt64 = 0
  package var lastTransaction: UInt64 = 0
  /// The number of pages up to the last one in use, including the two meta pages.
  package var pageCount = 0
  package var freePageCount = 0
  /// LMDB's list of free pages, a tree like the others.
  package var freeList = Tree(name: "free list")
  /// LMDB's tree of tree names.
  package var names = Tree(name: "tree names")
  /// The named trees, ordered by name.
  package var trees: [Tree] = []
  package var findings: [Finding] = []
  package var findingCount = 0
  /// Whether both meta pages have the mark of a sealed file.
  package var isSealed = false
  /// Whether the check ended early at the limit of findings.
  ///
  /// The remaining pages were not checked.
  package var isGivenUp = false
  /// Whether another process changed the file faster than it could be checked.
  ///
  /// The state of the pages is then unknown.
  package var isOvertaken = false

  package var isSound: Bool { findingCount == 0 }
}

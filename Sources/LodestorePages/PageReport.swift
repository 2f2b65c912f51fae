/// What a walk over the pages of an LMDB file found.
package struct PageReport: Sendable {
  /// One tree, as its pages are and not as its record says.
  package struct Tree: Sendable, Equatable {
    package var name: String
    package var hasIntegerKeys = false
    package var depth = 0
    package var branchPages = 0
    package var leafPages = 0
    package var overflowPages = 0
    package var entries = 0
    /// Bytes of the leaf pages that hold something, of ``leafCapacityInBytes``.
    package var leafUsedInBytes = 0
    package var leafCapacityInBytes = 0

    package var pages: Int { branchPages + leafPages + overflowPages }
    /// 0…1; nil without leaf pages.
    package var fill: Double? {
      leafCapacityInBytes == 0 ? nil : Double(leafUsedInBytes) / Double(leafCapacityInBytes)
    }
  }

  package var format = PageFormat.lmdb09
  package var pageSizeInBytes = 0
  package var fileSizeInBytes = 0
  package var mapSizeInBytes: UInt64 = 0
  package var lastTransaction: UInt64 = 0
  /// All pages up to the last one in use, the two meta pages included.
  package var pageCount = 0
  package var freePageCount = 0
  /// LMDB's list of free pages, a tree like the others.
  package var freeList = Tree(name: "free list")
  /// LMDB's tree of the names of trees.
  package var names = Tree(name: "tree names")
  /// The named trees in the order of their names.
  package var trees: [Tree] = []
  package var findings: [Finding] = []
  package var findingCount = 0
  /// Whether both meta pages have the mark of a sealed file.
  package var isSealed = false
  /// Whether the check ended early, at the limit of findings; the pages behind were not looked at.
  package var isGivenUp = false
  /// Set when another process changed the file faster than it could be walked: then nothing is
  /// known about the pages, good or bad.
  package var isOvertaken = false

  package var isSound: Bool { findingCount == 0 }
}

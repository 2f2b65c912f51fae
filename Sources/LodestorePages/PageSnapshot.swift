import LodestoreBytes

/// One commit of a file, whose trees are read in the pages.
///
/// The pages of a commit stay as they are until the second commit after it. Nothing here takes a
/// reader's slot in the lock file: where somebody may write the file, ``isWhole`` is asked after
/// each read.
package struct PageSnapshot: Sendable {
  package let map: PageMap
  package let meta: MetaPage
  /// Pages at and above it are not in the file, or not of this commit.
  package let pageCount: UInt64

  /// The newest commit of a file.
  ///
  /// A meta page that is not sound is an error. It may be that of the newest commit, and an older
  /// commit in its place would be a loss in silence.
  package init(newestOf map: PageMap) throws(VerificationError) {
    let metas = map.metaPages()
    for meta in [metas.0, metas.1] {
      if let fault = Self.fault(of: meta, in: map) { throw .damagedHeader(fault) }
    }
    self.init(metas.0.transaction >= metas.1.transaction ? metas.0 : metas.1, in: map)
  }

  /// The commit of a meta page that was found sound.
  package init(_ meta: MetaPage, in map: PageMap) {
    self.map = map
    self.meta = meta
    let (end, overflows) = meta.lastPage.addingReportingOverflow(1)
    pageCount = overflows ? map.pageCount : min(end, map.pageCount)
  }

  /// The fault of a meta page, as a clause; `nil` for a sound one.
  private static func fault(of meta: MetaPage, in map: PageMap) -> String? {
    let format = map.format
    if meta.magic != MetaPageLayout.magicNumber || meta.version != format.dataVersion {
      return "one of its two first pages is no meta page of \(format.engine)"
    }
    if meta.pageSize != map.pageSize {
      return "its two meta pages say page sizes of \(map.pageSize) and \(meta.pageSize) bytes"
    }
    if meta.transaction >= MetaPage.transactionLimit {
      return "its meta page says transaction number \(meta.transaction), must be below 2^56"
    }
    return nil
  }

  package var transaction: UInt64 { meta.transaction }
  package var format: PageFormat { map.format }

  /// Whether no commit can have written over pages of this one yet.
  ///
  /// A write reuses pages that commits before the last one have freed, and begins to do so before
  /// its own commit. So the pages of this commit stay until two more commits are there.
  package var isWhole: Bool {
    let newest = map.newestTransaction
    return newest >= transaction && newest - transaction <= 1
  }

  // MARK: Trees

  /// The tree of the names of all others.
  package func names() throws(PageError) -> PageTree {
    try PageTree(meta.main, name: "tree names", in: self)
  }

  package func freeList() throws(PageError) -> PageTree {
    try PageTree(meta.freeList, name: "free list", in: self)
  }

  /// The tree `name`; `nil` when it is not there.
  package func tree(_ name: String) throws(PageError) -> PageTree? {
    guard let pages = try names().pages else { return nil }
    return try format.key(ofTree: name)._withBytes { (key) throws(PageError) in
      guard let pair = try pages.pair(of: key) else { return nil }
      guard let record = TreeRecord(pair) else {
        throw PageError(page: pages.number(of: pair.keyStart), "the entry of \(name) is no tree")
      }
      return try PageTree(record, name: name, in: self)
    }
  }

  /// Calls `body` with the name of each tree, in their order.
  package func forEachTree<E: Error>(
    _ body: (String, PageTree) throws(E) -> Void
  ) throws {
    guard let pages = try names().pages else { return }
    let cursor = PageCursor(pages, keeping: map)
    while let pair = try cursor.next() {
      let name = format.name(ofTree: pair.key)
      guard let record = TreeRecord(pair) else {
        throw PageError(page: pages.number(of: pair.keyStart), "the entry of \(name) is no tree")
      }
      try body(name, PageTree(record, name: name, in: self))
    }
  }
}

/// A tree of one commit.
package struct PageTree: Sendable {
  package let record: TreeRecord
  /// Where the tree is searched, as long as there is the map; `nil` for an empty one.
  package let pages: TreePages?
  private let map: PageMap

  init(_ record: TreeRecord, name: String, in snapshot: PageSnapshot) throws(PageError) {
    self.record = record
    map = snapshot.map
    guard record.root != TreeRecordLayout.noPage else {
      pages = nil
      return
    }
    guard record.root < snapshot.pageCount else {
      throw PageError(page: record.root, "the tree \(name) begins there, beyond the file's end")
    }
    guard (1...PageLayout.deepestTree).contains(Int(record.depth)) else {
      throw PageError(page: record.root, "the tree \(name) says a depth of \(record.depth)")
    }
    pages = TreePages(
      map: snapshot.map.base, snapshot.format, pageSize: snapshot.map.pageSize,
      pageCount: snapshot.pageCount, root: record.root, depth: Int(record.depth),
      hasIntegerKeys: record.flags & TreeRecordLayout.integerKeys != 0)
  }

  /// A cursor without a position.
  package func cursor() -> PageCursor { PageCursor(pages, keeping: map) }
}

extension TreeRecord {
  /// The record that a pair of the tree of names has; `nil` for any other value.
  package init?(_ pair: PagePair) {
    guard pair.isTree, pair.valueCount == TreeRecordLayout.size else { return nil }
    self.init(pair.value, at: 0)
  }
}

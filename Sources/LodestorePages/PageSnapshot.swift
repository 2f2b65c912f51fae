import LodestoreBytes

/// One commit of a file, whose trees are read directly from the pages.
///
/// The pages of a commit remain unchanged until the second commit after it. The snapshot does not
/// take a reader's slot in the lock file. If another process may write the file, check ``isWhole``
/// after each read.
package struct PageSnapshot: Sendable {
  package let map: PageMap
  package let meta: MetaPage
  /// The number of pages of this commit.
  ///
  /// Pages from this number on belong to a later commit or do not exist.
  package let pageCount: UInt64

  /// Opens the newest commit of a file.
  ///
  /// Throws if a meta page is damaged. The damaged page may belong to the newest commit. Using the
  /// older commit would then silently lose data.
  package init(newestOf map: PageMap) throws(VerificationError) {
    let metas = map.metaPages()
    for meta in [metas.0, metas.1] {
      if let fault = Self.fault(of: meta, in: map) { throw .damagedHeader(fault) }
    }
    self.init(metas.0.transaction >= metas.1.transaction ? metas.0 : metas.1, in: map)
  }

  /// Opens the commit of a meta page that was already checked.
  package init(_ meta: MetaPage, in map: PageMap) {
    self.map = map
    self.meta = meta
    let (end, overflows) = meta.lastPage.addingReportingOverflow(1)
    pageCount = overflows ? map.pageCount : min(end, map.pageCount)
  }

  /// The fault of a meta page, as a clause; `nil` if it is sound.
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

  /// Whether no later commit can have overwritten pages of this one yet.
  ///
  /// A write reuses pages that earlier commits freed, and starts to do so before its own commit.
  /// The pages of this commit therefore remain until two more commits exist.
  package var isWhole: Bool {
    let newest = map.newestTransaction
    return newest >= transaction && newest - transaction <= 1
  }

  // MARK: Trees

  /// The tree of the names of all other trees.
  package func names() throws(PageError) -> PageTree {
    try PageTree(meta.main, name: "tree names", in: self)
  }

  package func freeList() throws(PageError) -> PageTree {
    try PageTree(meta.freeList, name: "free list", in: self)
  }

  /// The tree `name`; `nil` if it does not exist.
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

  /// Calls `body` with the name of each tree, in name order.
  package func forEachTree<E: Error>(_ body: (String, PageTree) throws(E) -> Void) throws {
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
  /// The pages in which to search, valid as long as the map; `nil` for an empty tree.
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

  /// Makes a cursor without a position.
  package func cursor() -> PageCursor { PageCursor(pages, keeping: map) }
}

extension TreeRecord {
  /// The record of a tree, read from a pair of the tree of names; `nil` if the value is not the
  /// record of a tree.
  package init?(_ pair: PagePair) {
    guard pair.isTree, pair.valueCount == TreeRecordLayout.size else { return nil }
    self.init(pair.value, at: 0)
  }
}

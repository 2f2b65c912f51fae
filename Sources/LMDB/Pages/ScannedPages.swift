import LodestoreBytes
public import LodestorePages

/// The leaf pages that a scan visits.
@usableFromInline
struct ScannedPages {
  /// The number of records to prefetch ahead.
  ///
  /// With six, half of the time was still spent waiting.
  @inlinable static var ahead: Int { 14 }

  /// The page size; 0 if every pair comes from LMDB's functions, in a write and with the plain
  /// engine.
  private let pageSize: Int
  private let cursor: Cursor
  /// The page of the last pair that LMDB returned, or the page of ``next(behind:)``; `nil` for
  /// none.
  private var current: LeafPage?
  private var finder: LeafFinder?
  /// Whether the finder is at the current page.
  private var isFinderAtCurrent = false
  /// The distance from the last returned page to the next one in bytes; 0 if unknown.
  @usableFromInline private(set) var following = 0

  private let readsAhead: Bool
  private var windows = ScanWindows()
  private var walk: WalkAhead

  init(_ cursor: Cursor) {
    let environment = cursor.transaction.environment
    let isWrite = environment.isActiveWrite(cursor.transaction.handle)
    readsAhead = environment.readsAheadItself
    walk = WalkAhead(cursor)
    pageSize = environment.readsPages && !isWrite ? environment.rawInfo.pageSize : 0
    self.cursor = cursor
  }

  /// Notes that a walk in key order is at `key`, the first key that it visits in a page.
  @usableFromInline
  mutating func visit(_ key: ByteView, backwards: Bool) { walk.visit(key, backwards: backwards) }

  /// The leaf page that contains `key`, a pointer from LMDB, and the pair's index in it.
  ///
  /// If pages are not read directly, the result is a page without pairs.
  @usableFromInline
  mutating func page(of key: ByteView, guess: Int) -> (LeafPage, Int) {
    current = nil
    following = 0
    if pageSize == 0 { walk.visit(key, backwards: false) }
    guard pageSize > 0, let start = key.baseAddress else { return (LeafPage(), 0) }
    let base = start - Int(bitPattern: start) % pageSize
    guard let page = LeafPage(base, size: pageSize, cursor.transaction.environment.format),
      let index = page.index(ofKeyAt: start, guess: min(guess, page.count - 1))
    else { return (LeafPage(), 0) }
    current = page
    isFinderAtCurrent = false
    return (page, index)
  }

  /// The leaf page after the current one, whose last record is `id`; `nil` if only LMDB's cursor
  /// can find it.
  @usableFromInline
  mutating func next(behind id: UInt64) throws -> LeafPage? {
    guard let current, isFinderAtCurrent || find(current, id), let page = try nextLeaf() else {
      return nil
    }
    self.current = page
    if windows.passPage(), readsAhead { finder?.prefetch(&windows) }
    following = finder?.address(ahead: 1).map { $0 - page.base } ?? 0
    // The header of the page after the next one is prefetched meanwhile.
    if let next = finder?.address(ahead: 2) { prefetch(next) }
    return page
  }

  private mutating func nextLeaf() throws(LMDBError) -> LeafPage? {
    do throws(PageError) {
      return try finder?.next()
    } catch {
      throw LMDBError(error, operation: "walk \(cursor.tree.name)")
    }
  }

  /// Moves the finder to the current page, whose last record is `id`.
  private mutating func find(_ page: LeafPage, _ id: UInt64) -> Bool {
    if finder == nil {
      let (tree, transaction) = (cursor.tree, cursor.transaction)
      // A tree of one page has no next leaf.
      guard let count = try? transaction.count(of: tree), count > page.count else { return false }
      finder = try? LeafFinder(tree, in: transaction)
    }
    guard let leaf = finder?.leaf(of: id), finder?.address(leaf.number) == page.base else {
      return false
    }
    isFinderAtCurrent = true
    return true
  }
}

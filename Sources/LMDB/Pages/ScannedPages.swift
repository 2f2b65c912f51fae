import CLMDB

/// The leaf pages that a scan goes through.
@usableFromInline
struct ScannedPages {
  /// How many records ahead are prefetched: with six, half of the time was still spent waiting.
  @inlinable static var ahead: Int { 14 }

  /// 0 where LMDB is asked for each pair: in a write, and with the plain engine.
  private let pageSize: Int
  private let cursor: Cursor
  /// The page of the last pair that LMDB gave or ``next(behind:)`` went to; `nil` for none.
  private var current: LeafPage?
  private var finder: LeafFinder?
  /// Whether the finder is at the current page.
  private var isFinderAtCurrent = false
  /// The page behind that of the last ``next(behind:)``, or that page itself where it is not known.
  @usableFromInline private(set) var following: UnsafeRawPointer

  init(_ cursor: Cursor) {
    let environment = cursor.transaction.environment
    let isWrite = environment.isActiveWrite(cursor.transaction.handle)
    pageSize = environment.readsPages && !isWrite ? environment.rawInfo.pageSize : 0
    self.cursor = cursor
    following = LeafPage().base
  }

  /// The leaf page in which `key` lies, as LMDB gave it, and its index there; a page without pairs
  /// where that cannot be said.
  @usableFromInline
  mutating func page(of key: UnsafeRawBufferPointer, guess: Int) -> (LeafPage, Int) {
    current = nil
    guard pageSize > 0, let start = key.baseAddress else { return (LeafPage(), 0) }
    let base = start - Int(bitPattern: start) % pageSize
    guard let page = LeafPage(base, size: pageSize),
      let index = page.index(ofKeyAt: start, guess: min(guess, page.count - 1))
    else { return (LeafPage(), 0) }
    current = page
    isFinderAtCurrent = false
    return (page, index)
  }

  /// The leaf page behind the current one, whose last record is `id`; `nil` where only LMDB knows.
  @usableFromInline
  mutating func next(behind id: UInt64) throws -> LeafPage? {
    guard let current, isFinderAtCurrent || find(current, id), let page = try finder?.next() else {
      return nil
    }
    self.current = page
    following = finder?.address(ahead: 1) ?? page.base
    // The header of the page after that is fetched while this one is read.
    if let next = finder?.address(ahead: 2) { lodestore_prefetch(next) }
    return page
  }

  /// Moves the finder to the current page, whose last record is `id`.
  private mutating func find(_ page: LeafPage, _ id: UInt64) -> Bool {
    if finder == nil {
      let (tree, transaction) = (cursor.tree, cursor.transaction)
      // Not for a tree of one page, which is left for good.
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

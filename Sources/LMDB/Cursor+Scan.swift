import CLMDB

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

extension Cursor {
  /// Visits the records from where the cursor is to the end, until `body` returns false.
  ///
  /// In a read, a leaf page at a time: its records are taken from the page itself, and the next
  /// ones are fetched into the cache meanwhile, which halves the time of a scan against asking LMDB
  /// for each. Where a page is not as expected, and in a write, LMDB is asked.
  ///
  /// Public and inlinable, as a call of `body` for each record costs more than reading one.
  @inlinable @inline(__always)
  public func forEachRecord<E: Error>(
    _ body: (UInt64, UnsafeRawBufferPointer) throws(E) -> Bool
  ) throws {
    guard let pages = try beginScan(ofIntegerKeys: true) else { return }
    defer { endScan() }
    var highest: UInt64 = 0
    var isFirst = true
    while key.count == 8 {
      let id = integerKey
      // Keys that do not ascend would lead LMDB back, and round and round.
      guard isFirst || id > highest else { throw outOfOrder() }
      isFirst = false
      highest = id
      var isVisited = false
      if let (page, place) = pages.page(of: key, guess: 0) {
        for place in place..<page.count {
          let node = page.node(place)
          // A few ahead, the beginning of a record: its fixed-width attributes.
          page.prefetch(place &+ 6)
          guard let id = page.id(node), !isVisited || id > highest,
            let bytes = page.value(node, keyCount: 8)
          else { break }
          guard try body(id, bytes) else { return }
          isVisited = true
          highest = id
        }
      }
      if !isVisited, try !body(id, value) { return }
      guard try moveOn(behind: highest) else { return }
    }
  }

  /// Visits the entries within `range` in key order, or backwards, until `body` returns false.
  ///
  /// The same as ``forEachRecord(_:)`` for a tree of byte keys, of which only what is longer than a
  /// page allows is read by LMDB.
  /// The tree must not change meanwhile, and the cursor is nowhere afterwards.
  @inlinable @inline(__always)
  public func forEachEntry<E: Error>(
    in range: KeyRange, backwards: Bool = false,
    _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(E) -> Bool
  ) throws {
    guard let pages = try beginScan(ofIntegerKeys: false),
      try placeCursor(range, backwards: backwards)
    else { return }
    defer { endScan() }
    while !key.isEmpty {
      let first = key
      guard range.admits(first, backwards: backwards) else { return }
      var last = first
      var isVisited = false
      if let (page, place) = pages.page(of: first, guess: backwards ? .max : 0) {
        // Where the range ends in this page, and how far it is to there.
        let count = page.count(from: place, in: range, backwards: backwards)
        var place = place
        for _ in 0..<count {
          let node = page.node(place)
          guard let key = page.key(node), let value = page.value(node, keyCount: key.count) else {
            break
          }
          guard try body(key, value) else { return }
          isVisited = true
          last = key
          place = backwards ? place &- 1 : place &+ 1
        }
      }
      if !isVisited, try !body(first, value) { return }
      guard try moveOn(from: first, behind: last, backwards: backwards) else { return }
    }
  }

  // MARK: From page to page

  /// The pages to go through; `nil` for a tree whose keys are of the other kind.
  @usableFromInline
  func beginScan(ofIntegerKeys: Bool) throws -> ScannedPages? {
    guard tree.hasIntegerKeys == ofIntegerKeys else { return nil }
    try checkAlive()
    let environment = transaction.environment
    return ScannedPages(environment.isActiveWrite(transaction.handle) ? nil : environment)
  }

  @usableFromInline
  func endScan() {
    currentKey = MDB_val()
    currentValue = MDB_val()
  }

  @usableFromInline
  func placeCursor(_ range: KeyRange, backwards: Bool) throws -> Bool {
    try place(range, backwards: backwards)
  }

  @usableFromInline
  func outOfOrder() -> any Error {
    LMDBError(code: MDB_CORRUPTED, operation: "walk \(tree.name)")
  }

  /// Moves to the record behind `id`, which is in the page where the cursor is.
  @usableFromInline
  func moveOn(behind id: UInt64) throws -> Bool {
    if id != integerKey {
      // LMDB looks at the ends of the page that it is in first.
      var id = id
      let code = withUnsafeMutableBytes(of: &id) { bytes in
        var key = MDB_val(mv_size: 8, mv_data: bytes.baseAddress)
        return mdb_cursor_get(handle, &key, &currentValue, MDB_SET)
      }
      guard code == 0 else { throw transaction.failure(code, "walk \(tree.name)") }
    }
    return try next()
  }

  /// Moves to the entry behind `last`, which is in the page of `first`, where the cursor is.
  @usableFromInline
  func moveOn(
    from first: UnsafeRawBufferPointer, behind last: UnsafeRawBufferPointer, backwards: Bool
  ) throws -> Bool {
    if last.baseAddress != first.baseAddress {
      guard KeyRange.isAscending(first, last) != backwards else { throw outOfOrder() }
      var key = MDB_val(last)
      let code = mdb_cursor_get(handle, &key, &currentValue, MDB_SET)
      guard code == 0 else { throw transaction.failure(code, "walk \(tree.name)") }
    }
    guard backwards ? try previous() : try next() else { return false }
    // Keys out of order would lead LMDB back, and round and round.
    guard KeyRange.isAscending(last, key) != backwards else { throw outOfOrder() }
    return true
  }
}

/// The leaf pages that a scan goes through.
@usableFromInline
struct ScannedPages {
  /// 0 where LMDB is asked for each pair: in a write, and where pages are not aligned to their
  /// size, as in a file from a machine with larger ones.
  @usableFromInline let pageSize: Int

  init(_ environment: Environment?) {
    let size = environment?.rawInfo.pageSize ?? 0
    pageSize = size == Int(sysconf(Int32(_SC_PAGESIZE))) ? size : 0
  }

  /// The leaf page in which `key` lies, and its place there.
  @usableFromInline
  func page(of key: UnsafeRawBufferPointer, guess: Int) -> (LeafPage, Int)? {
    guard pageSize > 0, let start = key.baseAddress else { return nil }
    let base = start - Int(bitPattern: start) % pageSize
    guard let page = LeafPage(base, size: pageSize),
      let place = page.place(ofKeyAt: start, guess: min(guess, page.count - 1))
    else { return nil }
    return (page, place)
  }
}

extension LeafPage {
  /// How many pairs from `place` on lie within `range`, in a direction; the first does.
  @usableFromInline
  func count(from place: Int, in range: KeyRange, backwards: Bool) -> Int {
    let most = backwards ? place + 1 : count - place
    // Nearly always all of them.
    var low = 1
    var high = most
    if isWithin(range, step: most - 1, from: place, backwards) { return most }
    while low < high {
      let middle = (low + high) / 2
      if isWithin(range, step: middle, from: place, backwards) {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return low
  }

  private func isWithin(_ range: KeyRange, step: Int, from place: Int, _ backwards: Bool) -> Bool {
    // What cannot be read ends the walk of the page, not of the range.
    guard let key = key(node(backwards ? place - step : place + step)) else { return true }
    return range.admits(key, backwards: backwards)
  }
}

/// Asks the processor to fetch what is at `address`, which may be any.
@inlinable @inline(__always)
public func prefetch(_ address: UnsafeRawPointer) { lodestore_prefetch(address) }

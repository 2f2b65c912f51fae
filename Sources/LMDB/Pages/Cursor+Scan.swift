import CLMDB
import LodestoreBytes

extension Cursor {
  /// Visits the records from the cursor's position to the end, until `body` returns false.
  ///
  /// A read takes records directly from the leaf pages, moves from leaf to leaf through the
  /// branches above, and prefetches records ahead. Such a scan takes a third of the time of LMDB's
  /// own walk. A write, or a page with an unexpected form, uses LMDB's functions.
  ///
  /// The method is public and inlinable, because a call of `body` that is not inlined costs more
  /// than reading a record.
  ///
  /// - Parameter readsWhole: Whether `body` reads whole records and not only their beginning.
  @inlinable @inline(__always) @_documentation(visibility: internal)
  public func forEachRecord<E: Error>(
    readsWhole: Bool = false, _ body: (UInt64, ByteView) throws(E) -> Bool
  ) throws {
    guard var pages = try beginScan(ofIntegerKeys: true) else { return }
    defer { endScan() }
    var highest: UInt64 = 0
    var isFirst = true
    while key.count == PageLayout.idSize {
      var (id, bytes) = (integerKey, value)
      // In a damaged file, keys that do not ascend could make the scan loop forever.
      guard isFirst || id > highest else { throw outOfOrder() }
      isFirst = false
      var (page, index) = pages.page(of: key, guess: 0)
      var previous = page
      scan: while true {
        // Constants of the inner loop, which the compiler keeps in registers.
        let current = page
        let following = pages.following
        let ahead = min(ScannedPages.ahead, current.count)
        while true {
          // `body` is called only here, so that the compiler inlines it.
          guard try body(id, bytes) else { return }
          highest = id
          index &+= 1
          guard index < current.count else { break }
          // The length of this record predicts the length of the next ones.
          current.prefetch(index &+ ahead, following, byteCount: readsWhole ? bytes.count : 0)
          guard let next = current.record(index) else { break scan }
          guard next.id > highest else { throw outOfOrder() }
          (id, bytes) = next
        }
        guard let next = try pages.next(behind: highest) else { break }
        (previous, page, index) = (page, next, 0)
        next.prefetch(min(ScannedPages.ahead, next.count), pages.following)
        guard let first = next.record(0) else { break }
        guard first.id > highest else { throw outOfOrder() }
        (id, bytes) = first
      }
      guard try moveOn(behind: highest, of: index == 0 ? previous : page) else { return }
    }
  }

  /// Moves forward by `count` records, using the counts of whole pages; returns false if there are
  /// fewer records.
  ///
  /// A page with an unexpected form is passed record by record.
  package func skip(_ count: Int) throws -> Bool {
    guard count > 0 else { return true }
    var left = count
    if var pages = try beginScan(ofIntegerKeys: true) {
      // The key of the first record in `page`. The cursor may still be in an earlier page.
      var first: UInt64?
      var (page, index) = pages.page(of: key, guess: 0)
      while page.count > 0, let last = page.id(page.node(page.count - 1)) {
        let rest = page.count - index
        if left < rest, let id = page.id(page.node(index + left)) { return try seek(id) }
        guard left >= rest, let next = try pages.next(behind: last), next.count > 0,
          let following = next.id(next.node(0))
        else { break }
        guard following > last else { throw outOfOrder() }
        left -= rest
        (page, index, first) = (next, 0, following)
      }
      if let first, try !seek(first) { throw outOfOrder() }
    }
    while left > 0 {
      guard try next() else { return false }
      left -= 1
    }
    return true
  }

  /// Counts the records from the cursor's position to the id `end`, up to `most`, using the counts
  /// of whole pages.
  ///
  /// A page with an unexpected form is counted record by record. Afterwards the cursor's position
  /// is undefined.
  package func count(through end: UInt64, atMost most: Int) throws -> Int {
    var count = 0
    if var pages = try beginScan(ofIntegerKeys: true) {
      var (page, index) = pages.page(of: key, guess: 0)
      // The last counted record. The cursor may still be in an earlier page.
      var counted: UInt64?
      while page.count > 0, count < most, let last = page.id(page.node(page.count - 1)), last <= end
      {
        guard let first = page.id(page.node(index)), first > counted ?? 0 else {
          throw outOfOrder()
        }
        count += page.count - index
        counted = last
        guard let next = try pages.next(behind: last), next.count > 0 else { break }
        (page, index) = (next, 0)
      }
      if let counted {
        guard try seek(counted) else { throw outOfOrder() }
        guard try next() else { return min(count, most) }
      }
    }
    while count < most, integerKey <= end {
      count += 1
      guard try next() else { break }
    }
    return min(count, most)
  }

  /// Visits the entries within `range` in key order, or in reverse, until `body` returns false.
  ///
  /// The method works like ``forEachRecord(readsWhole:_:)`` for a tree with byte keys, but LMDB
  /// moves from page to page and reads values in overflow pages. The tree must not change
  /// meanwhile. Afterwards the cursor has no position.
  @inlinable @inline(__always) @_documentation(visibility: internal)
  public func forEachEntry<E: Error>(
    in range: KeyRange, backwards: Bool = false,
    _ body: (ByteView, ByteView) throws(E) -> Bool
  ) throws {
    guard var pages = try beginScan(ofIntegerKeys: false),
      try seekStart(of: range, backwards: backwards)
    else { return }
    defer { endScan() }
    while !key.isEmpty {
      let first = key
      guard range.admits(first, backwards: backwards) else { return }
      var last = first
      var isVisited = false
      pages.visit(first, backwards: backwards)
      let (page, index) = pages.page(of: first, guess: backwards ? .max : 0)
      if page.count > 0 {
        // Counting the page's pairs within the range first avoids comparing keys in the loop.
        let count = page.count(from: index, in: range, backwards: backwards)
        var index = index
        for _ in 0..<count {
          let node = page.node(index)
          guard let key = page.key(node), let value = page.value(node, keyCount: key.count) else {
            break
          }
          guard try body(key, value) else { return }
          isVisited = true
          last = key
          index = backwards ? index &- 1 : index &+ 1
        }
      }
      if !isVisited, try !body(first, value) { return }
      guard try moveOn(from: first, behind: last, backwards: backwards) else { return }
    }
  }

  // MARK: Moving between pages

  /// The pages to scan; `nil` for a tree with the other kind of keys.
  @usableFromInline
  func beginScan(ofIntegerKeys: Bool) throws -> ScannedPages? {
    guard tree.hasIntegerKeys == ofIntegerKeys else { return nil }
    try checkAlive()
    return ScannedPages(self)
  }

  @usableFromInline
  func endScan() {
    currentKey = MDB_val()
    currentValue = MDB_val()
  }

  @usableFromInline
  func outOfOrder() -> any Error { LMDBError(code: MDB_CORRUPTED, operation: "walk \(tree.name)") }

  /// Moves to the record after `id`, which was visited in `page`.
  ///
  /// The cursor may still be in an earlier page than `page`.
  @usableFromInline
  func moveOn(behind id: UInt64, of page: LeafPage) throws -> Bool {
    if id != integerKey {
      // In a damaged tree the id may be found in another page, and the records between would be
      // skipped.
      guard try seek(id), page.contains(key.baseAddress) else { throw outOfOrder() }
    }
    return try next()
  }

  /// Moves to the entry after `last`.
  ///
  /// `last` is in the page of `first`, where the cursor is.
  @usableFromInline
  func moveOn(from first: ByteView, behind last: ByteView, backwards: Bool) throws -> Bool {
    if last.baseAddress != first.baseAddress {
      guard KeyRange.isAscending(first, last) != backwards else { throw outOfOrder() }
      guard try seek(last) else { throw transaction.failure(MDB_NOTFOUND, "walk \(tree.name)") }
    }
    guard backwards ? try previous() : try next() else { return false }
    // In a damaged file, keys out of order could make the scan loop forever.
    guard KeyRange.isAscending(last, key) != backwards else { throw outOfOrder() }
    return true
  }
}

extension LeafPage {
  /// The number of pairs from `index`, in a direction, that are within `range`.
  ///
  /// The pair at `index` must be within the range.
  @usableFromInline
  func count(from index: Int, in range: KeyRange, backwards: Bool) -> Int {
    let most = backwards ? index + 1 : count - index
    // In most calls all of these pairs are within the range, so the last one is checked first.
    var low = 1
    var high = most
    if isWithin(range, step: most - 1, from: index, backwards) { return most }
    while low < high {
      let middle = (low + high) / 2
      if isWithin(range, step: middle, from: index, backwards) {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return low
  }

  private func isWithin(_ range: KeyRange, step: Int, from index: Int, _ backwards: Bool) -> Bool {
    // An unreadable key counts as within the range. The loop over this page then reaches the key
    // and ends there.
    guard let key = key(node(backwards ? index - step : index + step)) else { return true }
    return range.admits(key, backwards: backwards)
  }
}

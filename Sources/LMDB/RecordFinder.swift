import CLMDB

/// Finds records of a tree by their ids, in the pages of the map. For reads only.
///
/// Most of what a search costs is waiting for memory. Ids grow evenly from page to page and within a
/// page, so that a guess leads to the place or next to it, where halving would read a line of the
/// cache in each step; and of many, sixteen searches go side by side, each step asking for what the
/// next one reads.
package struct RecordFinder {
  private static let width = 16

  private let pages: TreePages
  /// The branch page above the leaf that was found last, and the first id that is not below it.
  private var branch: TreePages.Page?
  private var branchEnd: UInt64 = 0
  private var lastID: UInt64 = 0
  private var leaves: [UInt64] = Array(repeating: 0, count: Self.width)

  /// Nil in a write, for an empty tree, and where the map does not look as expected.
  package init?(_ tree: Tree, in transaction: Transaction) throws(LMDBError) {
    guard tree.hasIntegerKeys, !transaction.environment.isActiveWrite(transaction.handle),
      let pages = try TreePages(of: tree, in: transaction)
    else { return nil }
    self.pages = pages
  }

  /// Puts the bytes of the records with `ids`, which should ascend, to the same places of `found`.
  ///
  /// Bytes without an address are those of a record that is not there, or that lies as only LMDB
  /// should read it: a cursor knows.
  package mutating func find(
    _ ids: UnsafeBufferPointer<UInt64>, _ found: UnsafeMutableBufferPointer<UnsafeRawBufferPointer>
  ) {
    var start = 0
    while start < ids.count {
      let end = min(ids.count, start + Self.width)
      for i in start..<end { leaves[i - start] = leaf(of: ids[i]) }
      for i in start..<end { lodestore_prefetch(address(leaves[i - start])) }
      for i in start..<end { leafPage(leaves[i - start])?.prefetch(0) }
      for i in start..<end {
        if let page = leafPage(leaves[i - start]) { page.prefetch(guess(ids[i], page)) }
      }
      for i in start..<end {
        found[i] = record(ids[i], in: leafPage(leaves[i - start]))
      }
      start = end
    }
  }

  /// The bytes of the record with `id`, as with many.
  package func find(_ id: UInt64) -> UnsafeRawBufferPointer {
    var number = pages.root
    // Deeper than any tree that fits 64 bits.
    for _ in 0..<32 {
      guard
        let page = TreePages.Page(
          pages.map, number: number, of: pages.pageCount, size: pages.pageSize)
      else { break }
      guard page.isBranch else { return record(id, in: leafPage(number)) }
      number = page.child(at: place(of: id, in: page).place)
    }
    return UnsafeRawBufferPointer(start: nil, count: 0)
  }

  private func address(_ number: UInt64) -> UnsafeRawPointer {
    pages.map + Int(number) * pages.pageSize
  }

  /// Page 0 is a meta page: no leaf.
  private func leafPage(_ number: UInt64) -> LeafPage? {
    number == 0 ? nil : LeafPage(address(number), size: pages.pageSize)
  }

  /// The number of the leaf page that has or would have `id`; 0 where that cannot be said.
  private mutating func leaf(of id: UInt64) -> UInt64 {
    if let branch, id >= lastID, id < branchEnd {
      lastID = id
      return checked(branch.child(at: place(of: id, in: branch).place))
    }
    branch = nil
    lastID = id
    var number = pages.root
    var end = UInt64.max
    // Deeper than any tree that fits 64 bits.
    for _ in 0..<32 {
      guard
        let page = TreePages.Page(
          pages.map, number: number, of: pages.pageCount, size: pages.pageSize)
      else { return 0 }
      guard page.isBranch else { return number }
      let (place, next) = place(of: id, in: page)
      branch = page
      branchEnd = end
      end = min(end, next)
      number = page.child(at: place)
    }
    return 0
  }

  private func checked(_ number: UInt64) -> UInt64 { number < pages.pageCount ? number : 0 }

  /// Which child has the place of `id`, and the first id that the next child has.
  private func place(of id: UInt64, in page: TreePages.Page) -> (place: Int, next: UInt64) {
    // The first key of a branch stands for "anything lower".
    var low = 1
    var high = page.count
    var next = UInt64.max
    if high > 8 { narrow(&low, &high, &next, to: id, in: page) }
    while low < high {
      let middle = (low + high) / 2
      let first = firstID(of: middle, in: page)
      if first <= id {
        low = middle + 1
      } else {
        high = middle
        next = first
      }
    }
    return (low - 1, next)
  }

  /// Brings the bounds of a search in a branch page together around the place where `id` is if ids grow
  /// evenly.
  private func narrow(
    _ low: inout Int, _ high: inout Int, _ next: inout UInt64, to id: UInt64,
    in page: TreePages.Page
  ) {
    let first = firstID(of: low, in: page)
    let last = firstID(of: high - 1, in: page)
    guard id >= first, id < last else { return }
    let share = Double(id - first) / Double(last - first)
    let guess = low + Int(share * Double(high - 1 - low))
    if firstID(of: guess, in: page) <= id {
      low = guess + 1
      // The last is above `id`, so that this ends.
      var step = 1
      while true {
        let place = min(high - 1, guess + step)
        let found = firstID(of: place, in: page)
        if found > id {
          high = place
          next = found
          return
        }
        low = place + 1
        step *= 2
        if place == high - 1 { return }
      }
    }
    high = guess
    next = firstID(of: guess, in: page)
    var step = 1
    while high > low {
      let place = max(low, guess - step)
      let found = firstID(of: place, in: page)
      if found <= id {
        low = place + 1
        return
      }
      high = place
      next = found
      step *= 2
    }
  }

  private func firstID(of place: Int, in page: TreePages.Page) -> UInt64 {
    guard let node = page.node(at: place), node + 16 <= pages.pageSize else { return .max }
    return page.base.loadUnaligned(fromByteOffset: node + 8, as: UInt64.self)
  }

  /// Where `id` is in its page if none is missing there.
  private func guess(_ id: UInt64, _ page: LeafPage) -> Int {
    guard let first = page.id(page.node(0)), id >= first else { return 0 }
    return Int(min(id - first, UInt64(page.count - 1)))
  }

  private func record(_ id: UInt64, in page: LeafPage?) -> UnsafeRawBufferPointer {
    let none = UnsafeRawBufferPointer(start: nil, count: 0)
    guard let page else { return none }
    var place = guess(id, page)
    if page.id(page.node(place)) != id {
      // Ids are missing: it is at the guess or before.
      var low = 0
      var high = place
      while low < high {
        let middle = (low + high) / 2
        guard let found = page.id(page.node(middle)) else { return none }
        if found < id { low = middle + 1 } else { high = middle }
      }
      place = low
      guard page.id(page.node(place)) == id else { return none }
    }
    guard let bytes = page.value(page.node(place), keyCount: 8), let start = bytes.baseAddress
    else {
      return none
    }
    // Its first bytes came with its key.
    if bytes.count > 64 { lodestore_prefetch(start + 64) }
    if bytes.count > 128 { lodestore_prefetch(start + 128) }
    return bytes
  }
}

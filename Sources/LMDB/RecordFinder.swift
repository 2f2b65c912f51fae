import CLMDB

/// Finds records of a tree by their ids, in the pages of the map.
///
/// For reads only. Most of what a search costs is waiting for memory. Ids grow evenly from page to page
/// and within a page, so that a guess leads to the place or next to it, where halving would read a line
/// of the cache in each step; and of many, sixteen searches go side by side, each step asking for what
/// the next one reads.
package struct RecordFinder {
  private static let width = 16

  /// A leaf page, and the lowest id that it may have.
  private struct Leaf {
    var number: UInt64 = 0
    var low: UInt64 = 0
  }

  private let pages: TreePages
  /// The branch page above the leaf that was found last, and the ids that it is for.
  private var branch: TreePages.Page?
  private var branchLow: UInt64 = 0
  private var branchEnd: UInt64 = 0
  private var leaves: [Leaf] = Array(repeating: Leaf(), count: Self.width)

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
      for i in start..<end { lodestore_prefetch(address(leaves[i - start].number)) }
      for i in start..<end {
        let leaf = leaves[i - start]
        if let page = page(leaf) { page.prefetch(guess(ids[i], page, leaf.low)) }
      }
      for i in start..<end { found[i] = record(ids[i], in: leaves[i - start]) }
      start = end
    }
  }

  /// The bytes of the record with `id`, as with many.
  package mutating func find(_ id: UInt64) -> UnsafeRawBufferPointer {
    record(id, in: leaf(of: id))
  }

  private func address(_ number: UInt64) -> UnsafeRawPointer {
    pages.map + Int(number) * pages.pageSize
  }

  /// Page 0 is a meta page: no leaf.
  private func page(_ leaf: Leaf) -> LeafPage? {
    leaf.number == 0 ? nil : LeafPage(address(leaf.number), size: pages.pageSize)
  }

  /// The leaf page that has or would have `id`; page 0 where that cannot be said.
  private mutating func leaf(of id: UInt64) -> Leaf {
    if let branch, id >= branchLow, id < branchEnd {
      let child = child(of: branch, for: id, from: branchLow, to: branchEnd)
      return child.number < pages.pageCount ? Leaf(number: child.number, low: child.low) : Leaf()
    }
    branch = nil
    var number = pages.root
    // No record has the id 0.
    var low: UInt64 = 1
    var end = UInt64.max
    // Deeper than any tree that fits 64 bits.
    for _ in 0..<32 {
      guard
        let page = TreePages.Page(
          pages.map, number: number, of: pages.pageCount, size: pages.pageSize)
      else { break }
      guard page.isBranch else { return Leaf(number: number, low: low) }
      branch = page
      branchLow = low
      branchEnd = end
      (number, low, end) = child(of: page, for: id, from: low, to: end)
    }
    branch = nil
    return Leaf()
  }

  /// The child of a branch page that has the place of `id`, and the ids that the child is for; those of
  /// the page begin with `low` and end before `end`.
  ///
  /// Looked for from where it is if ids grow evenly, in steps that double until it is passed.
  private func child(
    of page: TreePages.Page, for id: UInt64, from low: UInt64, to end: UInt64
  ) -> (number: UInt64, low: UInt64, end: UInt64) {
    // The first key of a branch stands for "anything lower".
    var first = 0
    var firstLow = low
    var past = page.count
    var pastLow = end
    if end == .max, past > 1 {
      let last = lowestID(of: past - 1, in: page)
      if id >= last { return (page.child(at: past - 1), last, end) }
      past -= 1
      pastLow = last
    }
    let share = id > low ? Double(id - low) / Double(pastLow - low) : 0
    var probe = Int(share * Double(past))
    var step = 1
    var direction = 0
    while past - first > 1 {
      let place = min(max(probe, first + 1), past - 1)
      let lowest = lowestID(of: place, in: page)
      let turn: Int
      if lowest <= id {
        (first, firstLow, turn) = (place, lowest, 1)
      } else {
        (past, pastLow, turn) = (place, lowest, -1)
      }
      if direction == 0 || direction == turn {
        direction = turn
        probe = place + turn * step
        step *= 2
      } else {
        // Passed: it is between two places that were looked at.
        direction = 2
        probe = (first + past) / 2
      }
    }
    return (page.child(at: first), firstLow, pastLow)
  }

  private func lowestID(of place: Int, in page: TreePages.Page) -> UInt64 {
    guard let node = page.node(at: place), node + 16 <= pages.pageSize else { return .max }
    return page.base.loadUnaligned(fromByteOffset: node + 8, as: UInt64.self)
  }

  /// Where `id` is in its page if no id from `low` on is missing there; it is not behind that place.
  private func guess(_ id: UInt64, _ page: LeafPage, _ low: UInt64) -> Int {
    id > low ? Int(min(id - low, UInt64(page.count - 1))) : 0
  }

  private func record(_ id: UInt64, in leaf: Leaf) -> UnsafeRawBufferPointer {
    let none = UnsafeRawBufferPointer(start: nil, count: 0)
    guard let page = page(leaf) else { return none }
    var place = guess(id, page, leaf.low)
    if page.id(page.node(place)) != id {
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

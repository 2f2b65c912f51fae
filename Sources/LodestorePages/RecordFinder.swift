internal import CChecksum
import LodestoreBytes

/// Finds records of a tree by their ids, by reading the map's pages directly.
///
/// Use it only in reads. Most of a search's time is spent waiting for memory. For many ids, sixteen
/// searches run interleaved, and each step prefetches the bytes of the next one. Ids usually grow
/// evenly, so a search first tries the position that an even distribution would give
/// (``LeafFinder``).
package struct RecordFinder {
  private static let width = 16
  /// Requests for fewer records than this do not ask the system for their pages first.
  private static let shortestPrefetch = 128
  private static let longestPrefetch = 1_024
  private static var none: ByteView { ByteView() }

  private var finder: LeafFinder
  private let readsAhead: Bool
  private var leaves: [LeafFinder.Leaf]
  /// The mean size of a record with its key, in the page of the last search for a single id.
  private var usualSize = 0

  /// - Parameter readsAhead: Whether pages of many records are requested from the system before
  ///   they are read.
  package init(_ pages: TreePages, readsAhead: Bool) {
    finder = LeafFinder(pages)
    self.readsAhead = readsAhead
    leaves = Array(repeating: LeafFinder.Leaf(), count: Self.width)
  }

  /// Writes the bytes of the record with `ids[i]` to `found[i]`.
  ///
  /// A buffer without an address means that the record does not exist, or that only LMDB can read
  /// it because its value is in overflow pages. A look-up with a cursor shows which of the two it
  /// is.
  package mutating func find(_ ids: [UInt64], _ found: inout [ByteView]) {
    ids.withUnsafeBufferPointer { ids in
      found.withUnsafeMutableBufferPointer { found in find(ids, found) }
    }
  }

  private mutating func find(
    _ ids: UnsafeBufferPointer<UInt64>, _ found: UnsafeMutableBufferPointer<ByteView>
  ) {
    var start = 0
    var sure = 0
    while start < ids.count {
      if start >= sure, ids.count - start >= Self.shortestPrefetch, readsAhead {
        sure = min(ids.count, start + Self.longestPrefetch)
        prefetch(UnsafeBufferPointer(rebasing: ids[start..<sure]))
      }
      let end = min(ids.count, start + Self.width)
      for i in start..<end { leaves[i - start] = finder.leaf(of: ids[i]) }
      for i in start..<end { lodestore_prefetch(finder.address(leaves[i - start].number)) }
      for i in start..<end {
        let leaf = leaves[i - start]
        if let page = finder.page(leaf) { page.prefetch(guess(ids[i], page, leaf.low), 0) }
      }
      for i in start..<end {
        let leaf = leaves[i - start]
        found[i] = finder.page(leaf).map { record(ids[i], in: $0, from: leaf.low) } ?? Self.none
      }
      start = end
    }
  }

  /// Requests the pages of many records from the system, unless some of them are in memory.
  @inline(never)
  private mutating func prefetch(_ ids: UnsafeBufferPointer<UInt64>) {
    let isInMemory = finder.isInMemory(ids[ids.count / 2]) && finder.isInMemory(ids[ids.count - 1])
    if !isInMemory { finder.prefetch(for: ids) }
  }

  /// The bytes of the record with `id`; see the method for many ids.
  package mutating func find(_ id: UInt64) -> ByteView {
    let leaf = finder.leaf(of: id)
    prefetch(id, in: leaf)
    guard let page = finder.page(leaf) else { return Self.none }
    usualSize = page.meanSize
    return record(id, in: page, from: leaf.low)
  }

  /// Prefetches the cache lines that a search for `id` will probably read of a leaf page.
  ///
  /// A search reads the address of each line from the previous line, so without the prefetches the
  /// cache would miss one line after the other.
  private func prefetch(_ id: UInt64, in leaf: LeafFinder.Leaf) {
    let base = finder.address(leaf.number)
    let size = finder.pageSize
    lodestore_prefetch(base)
    let index = id > leaf.low ? Int(min(id - leaf.low, UInt64(size))) : 0
    lodestore_prefetch(base + finder.format.slot(index))
    // Pages are filled from their end.
    let record = base + size - (index + 1) * usualSize
    lodestore_prefetch(record)
    lodestore_prefetch(record + 64)
  }

  /// The index of `id` in its page if no id from `low` is missing there; otherwise an upper bound.
  private func guess(_ id: UInt64, _ page: LeafPage, _ low: UInt64) -> Int {
    id > low ? Int(min(id - low, UInt64(page.count - 1))) : 0
  }

  private func record(_ id: UInt64, in page: LeafPage, from lowest: UInt64) -> ByteView {
    var index = guess(id, page, lowest)
    if page.id(page.node(index)) != id {
      var low = 0
      var high = index
      while low < high {
        let middle = (low + high) / 2
        guard let found = page.id(page.node(middle)) else { return Self.none }
        if found < id { low = middle + 1 } else { high = middle }
      }
      index = low
      guard page.id(page.node(index)) == id else { return Self.none }
    }
    guard let bytes = page.value(page.node(index), keyCount: PageLayout.idSize),
      let start = bytes.baseAddress
    else {
      return Self.none
    }
    // The first bytes were fetched with the key.
    if bytes.count > 64 { lodestore_prefetch(start + 64) }
    if bytes.count > 128 { lodestore_prefetch(start + 128) }
    return bytes
  }
}

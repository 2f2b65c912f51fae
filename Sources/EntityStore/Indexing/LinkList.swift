internal import LMDB
internal import LodestoreFormat

/// A list of links in memory, as pairs of ids, to be written in key order.
struct LinkList: ~Copyable {
  private var buffer: SortBuffer
  private(set) var count = 0

  init(expectedCount: Int = 0) {
    buffer = SortBuffer(capacity: max(64, min(expectedCount, 1 << 24)))
  }

  /// Makes the pairs of one record with each of the others.
  init(of id: UInt64, with others: some Collection<UInt64>) {
    self.init(expectedCount: others.count)
    for other in others { append(id, other) }
  }

  @inline(__always)
  mutating func append(_ id: UInt64, _ other: UInt64) {
    if count == buffer.capacity { buffer.grow(keeping: count) }
    (buffer.start + count).initialize(to: SortItem(word: id, payload: other))
    count &+= 1
  }

  @inline(__always)
  func id(at index: Int) -> UInt64 { buffer.start[index].word }

  @inline(__always)
  func other(at index: Int) -> UInt64 { buffer.start[index].payload }

  /// Exchanges the two ids of each pair.
  mutating func swapSides() {
    for index in 0..<count {
      let item = buffer.start[index]
      buffer.start[index] = SortItem(word: item.payload, payload: item.word)
    }
  }

  /// Returns the pairs with their ids exchanged, sorted.
  func swapped() -> LinkList {
    var list = LinkList(expectedCount: count)
    for index in 0..<count { list.append(other(at: index), id(at: index)) }
    list.sort()
    return list
  }

  /// Sorts the pairs by their first ids, and pairs with the same first id by the second.
  mutating func sort() {
    var scratch = SortBuffer()
    swapSides()
    scratch.sort(buffer.items(count))
    swapSides()
    scratch.sort(buffer.items(count))
  }

  /// Whether the pairs ascend by their first ids, pairs with the same first id by the second,
  /// without repetitions.
  var isAscending: Bool {
    for index in 0..<max(0, count - 1) {
      let (item, next) = (buffer.start[index], buffer.start[index + 1])
      if (next.word, next.payload) <= (item.word, item.payload) { return false }
    }
    return true
  }

  /// Keeps the pairs of the sorted list for which `body` returns true, without repetitions.
  ///
  /// - Parameter body: called with the position of a pair in the list.
  mutating func keepEach(where body: (Int) -> Bool) {
    var kept = 0
    for index in 0..<count {
      let item = buffer.start[index]
      // The item before this one has not been overwritten: an item moves at most to its own
      // position.
      if index > 0, buffer.start[index - 1] == item { continue }
      if body(index) {
        buffer.start[kept] = item
        kept &+= 1
      }
    }
    count = kept
  }

  /// Removes repeated pairs and keeps the first of each.
  mutating func removeRepetitions() {
    var seen: Set<SortItem> = []
    keep { seen.insert($0).inserted }
  }

  /// Removes pairs whose second id has another first id in a later pair.
  ///
  /// An attribute holds one id, so the last pair with a second id decides.
  mutating func keepLastOwners() {
    var owners: [UInt64: UInt64] = [:]
    for index in 0..<count { owners[other(at: index)] = id(at: index) }
    guard owners.count < count else { return }
    keep { owners[$0.payload] == $0.word }
  }

  private mutating func keep(where body: (SortItem) -> Bool) {
    var kept = 0
    for index in 0..<count {
      let item = buffer.start[index]
      guard body(item) else { continue }
      buffer.start[kept] = item
      kept &+= 1
    }
    count = kept
  }

  /// The first ids of the sorted list, without repetitions.
  var ids: [UInt64] {
    var ids: [UInt64] = []
    for index in 0..<count where ids.last != buffer.start[index].word {
      ids.append(buffer.start[index].word)
    }
    return ids
  }

  /// The second ids of the sorted list, grouped by the first ids, without repetitions.
  var groups: [(id: UInt64, others: [UInt64])] {
    var groups: [(id: UInt64, others: [UInt64])] = []
    for index in 0..<count {
      let item = buffer.start[index]
      if let last = groups.last, last.id == item.word {
        if last.others.last != item.payload { groups[groups.count - 1].others.append(item.payload) }
      } else {
        groups.append((item.word, [item.payload]))
      }
    }
    return groups
  }

  /// Puts the entries of the sorted list into `index`.
  func write(into index: StoredIndex, core: TreeWriteCore) throws(StoreError) {
    try wrappingErrors {
      var writer = try IndexWriter(into: index, core: core)
      var block = KeyBlock(of: .ids, isUnique: false)
      for entry in 0..<count {
        block.append(buffer.start[entry].word, recordID: buffer.start[entry].payload)
        if block.isFull { try writer.put(&block) }
      }
      try writer.put(&block)
      try writer.finish()
    }
  }

  /// Removes the entries of the sorted list from `index`, if it has them.
  func remove(from index: StoredIndex, core: TreeWriteCore) throws(StoreError) {
    guard count > 0 else { return }
    try wrappingErrors {
      let cursor = try WritingCursor(index.tree, in: core.writing)
      var walk = SortedLookup(cursor.reads)
      for entry in 0..<count {
        core.key.reset()
        core.key.append(buffer.start[entry].word)
        core.key.append(recordID: buffer.start[entry].payload)
        switch try walk.find(core.key.bytes) {
        case .found: try walk.remove(at: cursor)
        case .absent: break
        case .beyond: return
        }
      }
    }
  }

  /// Keeps the links of the sorted list that `index` has, or those that it does not have.
  ///
  /// - Parameter isThere: whether to keep the links that `index` has.
  mutating func keepEach(
    in index: StoredIndex, isThere: Bool, core: TransactionCore
  ) throws(StoreError) {
    var keeps: [Bool] = []
    keeps.reserveCapacity(count)
    try forEach(in: index, core: core) { _, _, found in keeps.append(found == isThere) }
    keepEach { keeps[$0] }
  }

  /// Visits the links of the sorted list, with whether `index` has each.
  func forEach(
    in index: StoredIndex, core: TransactionCore, _ body: (UInt64, UInt64, Bool) -> Void
  ) throws(StoreError) {
    try wrappingErrors {
      var walk = SortedLookup(try Cursor(index.tree, in: core.transaction))
      for entry in 0..<count {
        let item = buffer.start[entry]
        core.key.reset()
        core.key.append(item.word)
        core.key.append(recordID: item.payload)
        body(item.word, item.payload, try walk.find(core.key.bytes) == .found)
      }
    }
  }
}

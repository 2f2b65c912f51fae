internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

// Only this file puts entries into an index tree or removes them; `tools/lint` checks this.

/// Puts entries into an index in key order.
///
/// Entries above all keys of the index are appended, unless the writer also removes entries.
///
/// ``finish()`` ends the writing. Until that call, the entries after a run of new ones may be in
/// memory only (``LiftedEntries``). While the index is rewritten (``IndexRepacking``), all
/// remaining entries are in memory.
struct IndexWriter: ~Copyable {
  /// The number of entries put between two calls of ``lookAhead(_:)``.
  private static let landmarkDistance = 32
  /// The maximum number of bytes in an entry's value; the value of a filler is longer.
  private static let longestValue = 8
  private static var noBytes: ByteView { ByteView() }

  private let index: StoredIndex
  private let cursor: WritingCursor
  private let isUnique: Bool
  private let body = OwnedBytes(byteCount: 8, alignment: 8)
  private var isAppending: Bool
  /// Whether the first key has been compared with the last key of the index.
  private var hasBegun: Bool
  private var lifted: LiftedEntries
  private let transaction: WritingTransaction
  private let pageSize: Int
  /// The number of entries put since the last call of ``lookAhead(_:)``.
  private var putCount = 0
  /// The key that followed the entries put before the last call of ``lookAhead(_:)``; empty if no
  /// key followed.
  private var landmark: [UInt8] = []
  /// Whether the index is rewritten, so that all entries are appended.
  private var isRepacking = false
  /// The number of bytes appended since the last filler.
  private var unfilled = 0
  /// The keys of all fillers.
  private var fillers: [[UInt8]] = []
  /// Receives the first and lowest key that is put, if records are evicted in the order of the
  /// index.
  private var watch: EvictionWatch?

  /// Creates a writer.
  ///
  /// - Parameter alsoRemoves: whether entries are also removed, in which case none is appended.
  init(into index: StoredIndex, core: TreeWriteCore, alsoRemoves: Bool = false) throws(LMDBError) {
    let cursor = try WritingCursor(index.tree, in: core.writing)
    pageSize = try core.transaction.statistics(of: index.tree).pageSize
    self.cursor = cursor
    self.index = index
    isUnique = index.isUnique
    isAppending = !alsoRemoves
    hasBegun = alsoRemoves
    transaction = core.writing
    lifted = LiftedEntries()
    watch = core.evictionWatch(of: index)
  }

  @inline(__always)
  mutating func put(_ key: ByteView, recordID: UInt64) throws(LMDBError) {
    if !hasBegun { try begin(key) }
    if watch != nil { reportFirstKey(key) }
    if !lifted.isEmpty { try makeWay(for: key) }
    if isUnique { body.view.storeBytes(of: recordID.littleEndian, as: UInt64.self) }
    let value = ByteView(body.view)[..<(isUnique ? 8 : 0)]
    if isAppending {
      if try cursor.append(key, value) {
        if isRepacking, isFull(with: LiftedEntries.size(key, value)) { try addFiller(behind: key) }
        return
      }
      isAppending = false
    }
    try cursor.put(key, value)
    putCount &+= 1
    if putCount == Self.landmarkDistance { try lookAhead(key) }
  }

  /// Puts all entries of `block`, whose keys must be above those put before, and empties the block.
  mutating func put(_ block: inout KeyBlock) throws(LMDBError) {
    block.makeKeys()
    defer { block.removeAll() }
    guard block.count > 0, let keys = block.base else { return }
    if !hasBegun { try begin(block.key(at: 0)) }
    if watch != nil { reportFirstKey(block.key(at: 0)) }
    var entry = 0
    if isAppending, !isRepacking {
      entry = try cursor.append(keys: keys, ends: block.ends, values: block.values)
      isAppending = entry == block.count
    }
    while entry < block.count {
      try put(block.key(at: entry), recordID: block.recordID(at: entry))
      entry += 1
    }
  }

  /// Removes the entry of the record `id` with `key`, if the index has it.
  @inline(__always)
  mutating func remove(_ key: ByteView, recordID id: UInt64) throws {
    if !lifted.isEmpty || isRepacking {
      try putBack(before: key)
      if !lifted.isEmpty, lifted.order(to: key) == 0 {
        if isUnique {
          try lifted.withFirst { _, value in try index.checkEntry(value, leadsTo: id) }
        }
        return lifted.removeFirst()
      }
      if isRepacking { return }
    }
    guard try cursor.reads.seek(key) else { return }
    if isUnique { try index.checkEntry(cursor.reads.value, leadsTo: id) }
    try cursor.delete()
  }

  @inline(never)
  private mutating func reportFirstKey(_ key: ByteView) {
    guard let watch else { return }
    for order in watch.orders { watch.unevictable.putFirst(key, of: order) }
    self.watch = nil
  }

  private mutating func begin(_ key: ByteView) throws(LMDBError) {
    hasBegun = true
    if try cursor.reads.last() { isAppending = compareKeys(cursor.reads.key, key) < 0 }
  }

  /// Puts lifted entries back and removes fillers.
  consuming func finish() throws(LMDBError) {
    while !lifted.isEmpty { try putFirstBack() }
    for filler in fillers {
      let isFound = try filler._withBytes { (key) throws(LMDBError) in try cursor.reads.seek(key) }
      if isFound, cursor.reads.value.count > Self.longestValue { try cursor.delete() }
    }
  }

  // MARK: Taking out entries in the way

  /// Lifts the entries that are in the way of a run of new ones.
  ///
  /// The method is called after every 32 entries put. If all of them came before the ``landmark``,
  /// the landmark's entry and later entries are lifted, up to the size of a page.
  @inline(never)
  private mutating func lookAhead(_ key: ByteView) throws(LMDBError) {
    putCount = 0
    guard lifted.isEmpty else { return }
    let isRun = !landmark.isEmpty && landmark._withBytes { compareKeys(key, $0) < 0 }
    landmark.removeAll(keepingCapacity: true)
    guard try cursor.reads.seek(key), try cursor.reads.next() else { return }
    guard isRun else { return landmark.append(contentsOf: cursor.reads.key) }
    lifted.removeAll()
    var size = 0
    var found = true
    while found, size < pageSize {
      size += LiftedEntries.size(cursor.reads.key, cursor.reads.value)
      lifted.append(cursor.reads.key, cursor.reads.value)
      try cursor.delete()
      // After a delete, `next()` moves to the entry after the deleted one.
      found = try cursor.reads.next()
    }
  }

  @inline(never)
  private mutating func makeWay(for key: ByteView) throws(LMDBError) {
    try putBack(before: key)
    // A lifted entry with the same key is dropped, just as a put would replace it in the index.
    if !lifted.isEmpty, lifted.order(to: key) == 0 { lifted.removeFirst() }
  }

  @inline(never)
  private mutating func putBack(before key: ByteView) throws(LMDBError) {
    while !lifted.isEmpty, lifted.order(to: key) < 0 { try putFirstBack() }
  }

  private mutating func putFirstBack() throws(LMDBError) {
    let cursor = cursor
    let isRepacking = isRepacking
    let size = try lifted.withFirst { (key, value) throws(LMDBError) in
      let isAppended = isRepacking ? try cursor.append(key, value) : false
      if !isAppended { try cursor.put(key, value) }
      return LiftedEntries.size(key, value)
    }
    if isRepacking, isFull(with: size) {
      let last = lifted.withFirst { key, _ in Array(key) }
      try last._withBytes { (key) throws(LMDBError) in try addFiller(behind: key) }
    }
    lifted.removeFirst()
  }

  // MARK: Rewriting the index

  /// Begins to rewrite the index if ``IndexRepacking`` decides so, for a batch that adds `added`
  /// entries and removes `removed`.
  ///
  /// - Parameter middle: the key of one of these entries.
  mutating func repackIfDue(
    added: Int, removed: Int, middle: ByteView, core: TreeWriteCore
  ) throws(LMDBError) {
    let isDue = try IndexRepacking.isDue(
      index, added: added, removed: removed, middle: middle,
      memoryLimit: core.store.options.batchMemoryInBytes / 4, in: transaction.reads)
    if isDue { try takeAllOut() }
  }

  private mutating func takeAllOut() throws(LMDBError) {
    var found = try cursor.reads.first()
    while found {
      lifted.append(cursor.reads.key, cursor.reads.value)
      found = try cursor.reads.next()
    }
    try index.empty(in: transaction)
    hasBegun = true
    isAppending = true
    isRepacking = true
  }

  /// Counts an appended entry of `size` bytes, and returns whether the page has reached its target
  /// fill, so that a filler is due.
  private mutating func isFull(with size: Int) -> Bool {
    unfilled += size
    return unfilled >= pageSize - pageSize / IndexRepacking.slack
  }

  /// Appends a filler, an entry that ``finish()`` removes, so that its bytes become free in the
  /// page.
  @inline(never)
  private mutating func addFiller(behind key: ByteView) throws(LMDBError) {
    unfilled = 0
    let filler = Array(key) + [0]
    let size = pageSize / IndexRepacking.slack - LiftedEntries.size(key, Self.noBytes)
    // The value is longer than that of any entry, so that the filler can be recognized.
    guard filler.count <= KeyEncoder.longestTuple, size > Self.longestValue else { return }
    let isAppended = try filler._withBytes { (key) throws(LMDBError) in
      try [UInt8](repeating: 0, count: size)._withBytes { (value) throws(LMDBError) in
        try cursor.append(key, value)
      }
    }
    if isAppended { fillers.append(filler) }
  }
}

extension SortedLookup {
  /// Removes the entry found last; `cursor` is the one of this lookup.
  mutating func remove(at cursor: WritingCursor) throws(LMDBError) {
    assert(cursor.reads === self.cursor, "the lookup has found the entry")
    try cursor.delete()
    noteRemoval()
  }
}

extension TreeWriteCore {
  /// Moves the entries of the record `id` from its old keys to its new ones.
  func moveEntries(of id: UInt64, by keys: borrowing KeyChange) throws(StoreError) {
    let body = littleEndianBytes(id)
    do {
      // Only indexes whose key changes are visited. With an equal key, the removal and the put
      // below would concern the same entry.
      for (position, index) in keys.indexes.enumerated() where keys.isMoved(position) {
        if !keys.old.isEmpty {
          try keys.old.withKey(position) { (key) throws(LMDBError) in
            _ = try writing.delete(key, in: index.tree)
          }
        }
        if !keys.new.isEmpty {
          try keys.new.withKey(position) { (key) throws(LMDBError) in
            try body._withBytes { (body) throws(LMDBError) in
              try writing.put(
                key, index.isUnique ? body : ByteView(), in: index.tree)
            }
            evictionWatch(of: index)?.put(key)
          }
        }
      }
    } catch {
      throw StoreError(error)
    }
  }
}

/// Reports to ``UnevictableRecords`` which keys are put into an index.
private struct EvictionWatch {
  let unevictable: UnevictableRecords
  /// The eviction orders that follow the index.
  let orders: [EvictionOrder]

  func put(_ key: ByteView) { for order in orders { unevictable.put(key, of: order) } }
}

extension TreeWriteCore {
  /// Returns the receiver of keys put into `index`, or `nil` if no records are evicted in its
  /// order.
  @inline(__always)
  fileprivate func evictionWatch(of index: StoredIndex) -> EvictionWatch? {
    schema.evictsByIndex ? knownWatch(of: index) : nil
  }

  @inline(never)
  private func knownWatch(of index: StoredIndex) -> EvictionWatch? {
    schema.evictionOrders(by: index).map {
      EvictionWatch(unevictable: store.unevictableRecords, orders: $0)
    }
  }
}

extension StoredIndex {
  /// Removes all entries, in a time independent of their number.
  func empty(in transaction: WritingTransaction) throws(LMDBError) { try transaction.empty(tree) }
}

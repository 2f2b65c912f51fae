internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// The records of one store that cannot be evicted, and the position up to which each order was
/// tried.
///
/// A write searches only after the position, so it meets no unevictable record. When a write of
/// this store adds an index entry before the position, it reports the entry's key here, which moves
/// the position back. After a commit of another store or process, a write searches from the
/// beginning, and skips the unevictable records.
///
/// A pass that tries the unevictable records again has its own position (``EvictionPass``). At its
/// end it replaces the state of this object.
final class UnevictableRecords: Sendable {
  private struct Entry {
    var unevictable: Set<UInt64> = []
    /// The position up to which eviction has tried every record: it has removed the record, or has
    /// found it unevictable.
    var position: EvictionPosition
    /// The highest position up to which records were tried.
    ///
    /// An unevictable record whose date or age attribute has moved it further is tried again.
    var highest: EvictionPosition
    /// The lowest index key that was written since ``position`` was set; `nil` for none.
    var lowest: EvictionPosition?
    /// The lowest index key that was written since an eviction pass began; `nil` for none.
    var lowestInPass: EvictionPosition?
    /// The records that writes have found unevictable since an eviction pass began.
    var unevictableInPass: Set<UInt64> = []

    init(_ order: EvictionOrder) {
      position = order.first
      highest = order.first
    }

    /// The position at which a write begins to search for records to evict.
    var start: EvictionPosition { lowest.map { min($0, position) } ?? position }

    mutating func put(_ key: EvictionPosition) {
      lowest = lowest.map { min($0, key) } ?? key
      lowestInPass = lowestInPass.map { min($0, key) } ?? key
    }
  }

  private struct State {
    var entries: [EvictionOrder: Entry] = [:]
    /// The schema to which the entries belong.
    var schema: SchemaNumber?
    /// The number of the last commit whose index entries this object takes into account.
    var commit: UInt64?
    var passCount = 0
    var visitCount = 0
  }

  private let state = Guarded(State())

  /// The number of index entries that were visited to find records to evict; for tests.
  var visitCount: Int { state.withLock { $0.visitCount } }

  // MARK: Writes

  /// Called in each write, before it searches or changes anything.
  func begin(_ core: TreeWriteCore) {
    let last = core.transaction.id &- 1
    state.withLock { state in
      if state.schema != core.schema.number {
        state.schema = core.schema.number
        state.entries = [:]
      }
      guard state.commit != last else { return }
      // A commit of another store or process may have written any index entries, so writes search
      // from the beginning.
      for order in core.schema.evictionOrders {
        state.entries[order, default: Entry(order)].put(order.first)
      }
      state.commit = last
    }
    core.writing.afterCommit { [self] _, commit in state.withLock { $0.commit = commit } }
  }

  /// Called for the least of the entries that a write adds, in key order, to an index by which
  /// records are evicted.
  ///
  /// An entry without a date may be followed by entries with any date.
  func putFirst(_ key: ByteView, of order: EvictionOrder) {
    guard order.first.isAbove(key) else { return put(key, of: order) }
    order.first.bytes._withBytes { put($0, of: order) }
  }

  /// Called for a single entry that a write adds to an index by which records are evicted.
  func put(_ key: ByteView, of order: EvictionOrder) {
    // A record without a date does not expire.
    if order.first.isAbove(key) { return }
    state.withLock { state in
      // For an order without a state, nothing has been tried yet, so writes search it from the
      // beginning anyway.
      guard let entry = state.entries[order] else { return }
      let isLowest = entry.lowest?.isAbove(key) ?? true
      let isLowestInPass = entry.lowestInPass?.isAbove(key) ?? true
      if isLowest || isLowestInPass { state.entries[order]?.put(.at(key)) }
    }
  }

  // MARK: Positions of searches

  /// The position at which a write begins to search for records to evict.
  func start(of order: EvictionOrder) -> EvictionPosition {
    state.withLock { $0.entries[order]?.start ?? order.first }
  }

  /// Begins an attempt to evict the records after ``start(of:)``, in a write.
  func beginBatch(of order: EvictionOrder) -> EvictionPosition {
    state.withLock { state in
      var entry = state.entries[order] ?? Entry(order)
      entry.position = entry.start
      entry.lowest = nil
      state.entries[order] = entry
      return entry.position
    }
  }

  /// Returns whether the eviction skips a record, because it is unevictable and has not moved.
  func holds(_ id: UInt64, _ key: ByteView, of order: EvictionOrder) -> Bool {
    state.withLock { state in
      state.visitCount += 1
      guard let entry = state.entries[order] else { return false }
      return entry.unevictable.contains(id) && entry.highest.isAbove(key)
    }
  }

  /// Notes, in a write, that all records from `start` to `end` are unevictable.
  func pass(from start: EvictionPosition, to end: EvictionPosition, of order: EvictionOrder) {
    state.withLock { state in
      guard var entry = state.entries[order], entry.start == start, start < end else { return }
      entry.position = max(entry.position, end)
      entry.lowest = entry.lowest.flatMap { $0 < end ? nil : $0 }
      state.entries[order] = entry
    }
  }

  func noteVisit() { state.withLock { $0.visitCount += 1 } }

  /// Notes that eviction has tried all records from `start` to `end`, and could not remove `ids`.
  func hold(
    _ ids: Set<UInt64>, of order: EvictionOrder, from start: EvictionPosition,
    to end: EvictionPosition
  ) {
    state.withLock { state in
      var entry = state.entries[order] ?? Entry(order)
      entry.unevictable.formUnion(ids)
      if state.passCount > 0 { entry.unevictableInPass.formUnion(ids) }
      entry.highest = max(entry.highest, end)
      // If another write has changed the position meanwhile, the position stays, and these records
      // are tried again.
      if entry.position == start { entry.position = max(start, end) }
      state.entries[order] = entry
    }
  }

  // MARK: Passes over all records

  func beginPass() {
    state.withLock { state in
      state.passCount += 1
      guard state.passCount == 1 else { return }
      for number in state.entries.keys {
        state.entries[number]?.lowestInPass = nil
        state.entries[number]?.unevictableInPass = []
      }
    }
  }

  func endPass() { state.withLock { $0.passCount -= 1 } }

  /// Replaces the unevictable records; called at the end of a complete pass over the records of an
  /// entity.
  ///
  /// - Parameters:
  ///   - ids: the records that the pass could not remove.
  ///   - end: the position that the pass reached.
  func replace(with ids: Set<UInt64>, of order: EvictionOrder, to end: EvictionPosition) {
    state.withLock { state in
      var entry = state.entries[order] ?? Entry(order)
      entry.unevictable = ids.union(entry.unevictableInPass)
      entry.highest = max(entry.highest, end)
      // If an index entry before `end` was written during the pass, the pass may have missed it.
      // The position then stays.
      if entry.lowestInPass.map({ end <= $0 }) ?? true {
        entry.position = max(entry.position, end)
        entry.lowest = entry.lowest.flatMap { $0 < end ? nil : $0 }
      }
      state.entries[order] = entry
    }
  }
}

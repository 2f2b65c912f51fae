internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// The records that cannot be evicted, of one store, and up to which place in each order everything
/// was tried.
///
/// A write looks after that place alone, so it meets no held record. An entry that is put before
/// the place moves the place back: a write of this store tells the key. After a commit of another
/// store or process a write looks from the beginning, and passes over the held records.
///
/// A pass that tries the held records again has its own place (``EvictionPass``), and replaces what
/// is here when it has come to its end.
final class HeldRecords: Sendable {
  private struct Entry {
    var held: Set<UInt64> = []
    /// Everything before it has been tried, and is gone or held.
    var position: EvictionPosition
    /// Up to where anything was tried: a held record that now comes later is tried again.
    var highest: EvictionPosition
    /// The least key that was put since ``position`` was set.
    var lowest: EvictionPosition?
    /// The least key that was put since a pass began, and the records that writes have held since
    /// then.
    var lowestInPass: EvictionPosition?
    var heldInPass: Set<UInt64> = []

    init(_ order: EvictionOrder) {
      position = order.first
      highest = order.first
    }

    /// Where a write begins to look.
    var start: EvictionPosition { lowest.map { min($0, position) } ?? position }

    mutating func put(_ key: EvictionPosition) {
      lowest = lowest.map { min($0, key) } ?? key
      lowestInPass = lowestInPass.map { min($0, key) } ?? key
    }
  }

  private struct State {
    var entries: [EvictionOrder: Entry] = [:]
    /// The schema that the entries are of.
    var schema: SchemaNumber?
    /// The last commit that the entries know of.
    var commit: UInt64?
    var passCount = 0
    var visitCount = 0
  }

  private let state = Guarded(State())

  /// How many entries of indexes were visited to find records to evict; for tests.
  var visitCount: Int { state.withLock { $0.visitCount } }

  // MARK: Writes

  /// Called in each write, before it looks or changes anything.
  func begin(_ core: TransactionCore) {
    let last = core.transaction.id &- 1
    state.withLock { state in
      if state.schema != core.schema.number {
        state.schema = core.schema.number
        state.entries = [:]
      }
      guard state.commit != last else { return }
      // Another's commit: nothing is known of the entries that it has put.
      for order in core.schema.evictionOrders {
        state.entries[order, default: Entry(order)].put(order.first)
      }
      state.commit = last
    }
    core.transaction.afterCommit { [self] _, commit in state.withLock { $0.commit = commit } }
  }

  /// Called for the least of the entries that a write puts into the index of an order, in order.
  ///
  /// Behind an entry without a date, any date may follow.
  func putFirst(_ key: ByteView, of order: EvictionOrder) {
    guard order.first.isAbove(key) else { return put(key, of: order) }
    order.first.bytes._withBytes { put($0, of: order) }
  }

  /// Called for an entry that a write puts into the index of an order by itself.
  func put(_ key: ByteView, of order: EvictionOrder) {
    // A record without a date does not expire.
    if order.first.isAbove(key) { return }
    state.withLock { state in
      // Without an entry, everything is still to be tried.
      guard let entry = state.entries[order] else { return }
      let isLowest = entry.lowest?.isAbove(key) ?? true
      let isLowestInPass = entry.lowestInPass?.isAbove(key) ?? true
      if isLowest || isLowestInPass { state.entries[order]?.put(.at(key)) }
    }
  }

  // MARK: Looking

  /// Where a write begins to look for records to evict.
  func start(of order: EvictionOrder) -> EvictionPosition {
    state.withLock { $0.entries[order]?.start ?? order.first }
  }

  /// Begins to try the records after ``start(of:)``, in a write.
  func beginBatch(of order: EvictionOrder) -> EvictionPosition {
    state.withLock { state in
      var entry = state.entries[order] ?? Entry(order)
      entry.position = entry.start
      entry.lowest = nil
      state.entries[order] = entry
      return entry.position
    }
  }

  /// Whether a record with an entry of the index is not to be tried.
  func holds(_ id: UInt64, _ key: ByteView, of order: EvictionOrder) -> Bool {
    state.withLock { state in
      state.visitCount += 1
      guard let entry = state.entries[order] else { return false }
      return entry.held.contains(id) && entry.highest.isAbove(key)
    }
  }

  /// Notes, in a write, that all records from `start` to `end` are held.
  func pass(from start: EvictionPosition, to end: EvictionPosition, of order: EvictionOrder) {
    state.withLock { state in
      guard var entry = state.entries[order], entry.start == start, start < end else { return }
      entry.position = max(entry.position, end)
      entry.lowest = entry.lowest.flatMap { $0 < end ? nil : $0 }
      state.entries[order] = entry
    }
  }

  func noteVisit() { state.withLock { $0.visitCount += 1 } }

  /// Notes that all from `start` to `end` was tried, and that `ids` cannot be removed.
  func hold(
    _ ids: Set<UInt64>, of order: EvictionOrder, from start: EvictionPosition,
    to end: EvictionPosition
  ) {
    state.withLock { state in
      var entry = state.entries[order] ?? Entry(order)
      entry.held.formUnion(ids)
      if state.passCount > 0 { entry.heldInPass.formUnion(ids) }
      entry.highest = max(entry.highest, end)
      // Otherwise another write tries the same, and goes on from where it began.
      if entry.position == start { entry.position = max(start, end) }
      state.entries[order] = entry
    }
  }

  // MARK: Passes that try everything again

  func beginPass() {
    state.withLock { state in
      state.passCount += 1
      guard state.passCount == 1 else { return }
      for number in state.entries.keys {
        state.entries[number]?.lowestInPass = nil
        state.entries[number]?.heldInPass = []
      }
    }
  }

  func endPass() { state.withLock { $0.passCount -= 1 } }

  /// Called at the end of a complete pass over the records of an entity up to `end`, of which it
  /// holds `ids`.
  func replace(with ids: Set<UInt64>, of order: EvictionOrder, to end: EvictionPosition) {
    state.withLock { state in
      var entry = state.entries[order] ?? Entry(order)
      entry.held = ids.union(entry.heldInPass)
      entry.highest = max(entry.highest, end)
      // The pass may have been past an entry that was put meanwhile.
      if entry.lowestInPass.map({ end <= $0 }) ?? true {
        entry.position = max(entry.position, end)
        entry.lowest = entry.lowest.flatMap { $0 < end ? nil : $0 }
      }
      state.entries[order] = entry
    }
  }
}

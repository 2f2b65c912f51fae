internal import LMDB
internal import LodestoreFormat

/// A place in the index over the dates by which records expire: the least key that is not before
/// it.
struct ExpiryPosition: Sendable, Comparable {
  let bytes: [UInt8]

  /// Before all dates; null comes before them.
  static let first = ExpiryPosition(bytes: [0, 255])

  /// After every entry of a date.
  static func behind(_ date: Double) -> ExpiryPosition {
    var encoder = KeyEncoder()
    encoder.append(date: date)
    return ExpiryPosition(bytes: Array(encoder.bytes) + [255])
  }

  /// Of an entry.
  static func at(_ key: UnsafeRawBufferPointer) -> ExpiryPosition {
    ExpiryPosition(bytes: Array(key))
  }

  /// After an entry.
  static func behind(_ key: UnsafeRawBufferPointer) -> ExpiryPosition {
    ExpiryPosition(bytes: Array(key) + [0])
  }

  /// Whether an entry comes before it.
  func isAbove(_ key: UnsafeRawBufferPointer) -> Bool {
    bytes.withUnsafeBytes { compareKeys(key, $0) < 0 }
  }

  static func < (a: ExpiryPosition, b: ExpiryPosition) -> Bool {
    b.bytes.withUnsafeBytes { b in a.bytes.withUnsafeBytes { compareKeys($0, b) < 0 } }
  }
}

/// The expired records that cannot be evicted, of one store, and up to which place in the index of
/// dates everything was tried.
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
    var position = ExpiryPosition.first
    /// Up to where anything was tried: a held record with a later date is tried again.
    var highest = ExpiryPosition.first
    /// The least key that was put since ``position`` was set.
    var lowest: ExpiryPosition?
    /// The least key that was put since a pass began, and the records that writes have held since
    /// then.
    var lowestInPass: ExpiryPosition?
    var heldInPass: Set<UInt64> = []

    /// Never before the first date: a record without a date does not expire.
    var start: ExpiryPosition { max(.first, lowest.map { min($0, position) } ?? position) }

    mutating func put(_ key: ExpiryPosition) {
      lowest = lowest.map { min($0, key) } ?? key
      lowestInPass = lowestInPass.map { min($0, key) } ?? key
    }
  }

  private struct State {
    var entries: [EntityNumber: Entry] = [:]
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
      for entity in core.schema.expiring {
        state.entries[entity.number, default: Entry()].put(.first)
      }
      state.commit = last
    }
    core.transaction.afterCommit { [self] _, commit in state.withLock { $0.commit = commit } }
  }

  /// Called for the least of the entries that a write puts into the index of dates in order.
  ///
  /// Behind an entry without a date, any date may follow.
  func putFirst(_ key: UnsafeRawBufferPointer, of entity: EntityNumber) {
    guard ExpiryPosition.first.isAbove(key) else { return put(key, of: entity) }
    ExpiryPosition.first.bytes.withUnsafeBytes { put($0, of: entity) }
  }

  /// Called for an entry that a write puts into the index of dates by itself.
  func put(_ key: UnsafeRawBufferPointer, of entity: EntityNumber) {
    // A record without a date does not expire.
    if ExpiryPosition.first.isAbove(key) { return }
    state.withLock { state in
      // Without an entry, everything is still to be tried.
      guard let entry = state.entries[entity] else { return }
      let isLowest = entry.lowest?.isAbove(key) ?? true
      let isLowestInPass = entry.lowestInPass?.isAbove(key) ?? true
      if isLowest || isLowestInPass { state.entries[entity]?.put(.at(key)) }
    }
  }

  // MARK: Looking

  /// From where a write looks for expired records.
  func start(of entity: EntityNumber) -> ExpiryPosition {
    state.withLock { $0.entries[entity]?.start ?? .first }
  }

  /// Begins to try the records after ``start(of:)``, in a write.
  func beginBatch(of entity: EntityNumber) -> ExpiryPosition {
    state.withLock { state in
      var entry = state.entries[entity] ?? Entry()
      entry.position = entry.start
      entry.lowest = nil
      state.entries[entity] = entry
      return entry.position
    }
  }

  /// Whether a record with an entry of the index is not to be tried.
  func holds(_ id: UInt64, _ key: UnsafeRawBufferPointer, of entity: EntityNumber) -> Bool {
    state.withLock { state in
      state.visitCount += 1
      guard let entry = state.entries[entity] else { return false }
      return entry.held.contains(id) && entry.highest.isAbove(key)
    }
  }

  /// Notes, in a write, that all records from `start` to `end` are held.
  func pass(from start: ExpiryPosition, to end: ExpiryPosition, of entity: EntityNumber) {
    state.withLock { state in
      guard var entry = state.entries[entity], entry.start == start, start < end else { return }
      entry.position = max(entry.position, end)
      entry.lowest = entry.lowest.flatMap { $0 < end ? nil : $0 }
      state.entries[entity] = entry
    }
  }

  func noteVisit() { state.withLock { $0.visitCount += 1 } }

  /// Notes that all from `start` to `end` was tried, and that `ids` cannot be removed.
  func hold(
    _ ids: Set<UInt64>, of entity: EntityNumber, from start: ExpiryPosition, to end: ExpiryPosition
  ) {
    state.withLock { state in
      var entry = state.entries[entity] ?? Entry()
      entry.held.formUnion(ids)
      if state.passCount > 0 { entry.heldInPass.formUnion(ids) }
      entry.highest = max(entry.highest, end)
      // Otherwise another write tries the same, and goes on from where it began.
      if entry.position == start { entry.position = max(start, end) }
      state.entries[entity] = entry
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
  func replace(with ids: Set<UInt64>, of entity: EntityNumber, to end: ExpiryPosition) {
    state.withLock { state in
      var entry = state.entries[entity] ?? Entry()
      entry.held = ids.union(entry.heldInPass)
      entry.highest = max(entry.highest, end)
      // The pass may have been past an entry that was put meanwhile.
      if entry.lowestInPass.map({ end <= $0 }) ?? true {
        entry.position = max(entry.position, end)
        entry.lowest = entry.lowest.flatMap { $0 < end ? nil : $0 }
      }
      state.entries[entity] = entry
    }
  }
}

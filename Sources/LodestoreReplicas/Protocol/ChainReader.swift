internal import LodestoreFormat

/// Reads the entries after a position, and checks that they continue the chain.
///
/// The floor is read after the entries and before they are reported. A stalled writer may store a
/// collected slot again, and such an entry looks as if it continued the chain.
///
/// The floor also tells a slot that was collected from one that is not written yet. A reader that
/// trusts absence does not ask: it reports an absent first slot as the end of the log. Such a
/// reader may notice a collection late. Entries are never reported before the floor was read.
///
/// A reader with many slots to read may read merged slots, which save requests. Merged slots must
/// continue the chain. The log's entry of their last slot must be the one that they name.
struct ChainReader: ProtocolMachine {
  enum Result: Sendable, Equatable {
    /// The entries are parts of the chain. `isEnd` tells that the slot after them was absent.
    case read([LogEntry], isEnd: Bool)
    /// The slot after the position was collected: only a base leads on.
    case collected(Floor)
    /// An object is not a part of the chain, although it is not below the floor.
    case refused(PackError)
  }

  private enum Phase: Sendable {
    case entry
    /// Reads the merged slots of a level that begin after the end.
    case merged(level: Int)
    /// Reads the log's entry of the last merged slot.
    case lastEntry(LogEntry, level: Int)
    case floor(FloorSearch, end: End)
    case finished(Result)
  }

  private enum End: Sendable {
    case limit, absent
    case fault(PackError)
  }

  /// The position after the entries that were reported.
  private(set) var position: ChainPosition
  private(set) var floor: Floor
  /// Whether the newest record of the floor was read for the last result.
  private(set) var hasReadFloor = false
  /// The number of entries and bytes after which a batch ends.
  private let limit: (entries: Int, bytes: Int)
  private let readsMerged: Bool
  /// Whether an absent slot ends a batch without entries before the floor is read.
  var trustsAbsence = false
  /// Whether more entries than one range of merged slots were read since the last absent slot.
  private var isBehind: Bool
  private var entries: [LogEntry] = []
  private var byteCount = 0
  /// The position after the entries that were read.
  private var end: ChainPosition
  private var phase = Phase.entry
  private var failures = Failures()

  /// - Parameters:
  ///   - readsMerged: Whether merged slots are reported in place of their entries.
  ///   - isBehind: Whether a batch before this one ended at a limit.
  init(
    position: ChainPosition, floor: Floor, limit: (entries: Int, bytes: Int) = (256, 64 << 20),
    readsMerged: Bool = false, isBehind: Bool = false
  ) {
    self.position = position
    self.floor = floor
    self.limit = limit
    self.readsMerged = readsMerged
    self.isBehind = isBehind
    end = position
    phase = reading
  }

  /// Begins the next batch after the last one was reported.
  mutating func readOn() {
    guard case .finished(.read) = phase else { return }
    entries = []
    byteCount = 0
    phase = reading
  }

  mutating func next() -> ProtocolAction<Result> {
    if let count = failures.takeWait() { return .wait(failures: count) }
    switch phase {
    case .entry: return .request(.get(.entry(slot: end.slot + 1)))
    case .merged(let level): return .request(.get(.merged(level: level, slots: slots(level))))
    case .lastEntry(let entry, _): return .request(.get(.entry(slot: entry.head.slot)))
    case .floor(let search, _): return .request(.get(search.name))
    case .finished(let result): return .finished(result)
    }
  }

  mutating func receive(_ outcome: StorageOutcome) {
    if case .unclear = outcome { return failures.add() }
    failures.clear()
    switch (phase, outcome) {
    case (.entry, .object(let bytes)): take(bytes)
    case (.entry, .absent) where trustsAbsence && entries.isEmpty:
      hasReadFloor = false
      phase = .finished(.read([], isEnd: true))
    case (.entry, .absent): searchFloor(.absent)
    case (.merged(let level), .object(let bytes)): take(merged: bytes, level)
    case (.lastEntry(let entry, let level), .object(let bytes)): take(entry, last: bytes, level)
    case (.merged(let level), .absent), (.lastEntry(_, let level), .absent):
      phase = level > 1 ? .merged(level: level - 1) : .entry
    case (.floor(var search, let end), _):
      search.receive(outcome)
      phase = .floor(search, end: end)
      if search.isFinished { finish(search, end) }
    default: break
    }
  }

  private mutating func take(_ bytes: [UInt8]) {
    do throws(PackError) {
      let entry = try LogEntry(reading: bytes, slot: end.slot + 1)
      try end.advance(over: entry)
      entries.append(entry)
    } catch { return searchFloor(.fault(error)) }
    if entries.count >= Int(ReplicaName.mergeFactor) { isBehind = true }
    goOn(after: bytes.count)
  }

  private mutating func goOn(after count: Int) {
    byteCount += count
    phase = reading
    if entries.count >= limit.entries || byteCount >= limit.bytes { searchFloor(.limit) }
  }

  // MARK: Merged slots

  /// The phase that reads the slot after the end.
  private var reading: Phase {
    guard readsMerged, isBehind, end.unfinished == nil else { return .entry }
    let levels = (1...ReplicaName.highestLevel).reversed()
    return levels.first { slots($0).lowerBound == end.slot + 1 }.map { .merged(level: $0) }
      ?? .entry
  }

  /// The merged slots of a level that have the slot after the end.
  private func slots(_ level: Int) -> ClosedRange<UInt64> {
    let next = end.slot + 1
    return ReplicaName.mergedSlots(level, containing: next) ?? next...next
  }

  private mutating func take(merged bytes: [UInt8], _ level: Int) {
    var end = end
    guard let entry = try? LogEntry(reading: bytes), let merged = entry.head.merged,
      merged.firstSlot...max(merged.firstSlot, entry.head.slot) == slots(level),
      (try? end.advance(over: entry)) != nil
    else { return phase = level > 1 ? .merged(level: level - 1) : .entry }
    phase = .lastEntry(entry, level: level)
  }

  private mutating func take(_ entry: LogEntry, last bytes: [UInt8], _ level: Int) {
    guard SHA256.hash(bytes) == entry.head.merged?.lastEntry, (try? end.advance(over: entry)) != nil
    else { return phase = level > 1 ? .merged(level: level - 1) : .entry }
    entries.append(entry)
    goOn(after: entry.bytes.count)
  }

  private mutating func searchFloor(_ end: End) {
    phase = .floor(FloorSearch(known: floor), end: end)
  }

  private mutating func finish(_ search: FloorSearch, _ reason: End) {
    floor = search.floor
    hasReadFloor = true
    if let fault = search.fault {
      phase = .finished(.refused(fault))
    } else if floor.slot > position.slot + 1 {
      phase = .finished(.collected(floor))
    } else if case .fault(let fault) = reason {
      phase = .finished(.refused(fault))
    } else {
      position = end
      var isEnd = false
      if case .absent = reason { isEnd = true }
      phase = .finished(.read(entries, isEnd: isEnd))
    }
  }
}

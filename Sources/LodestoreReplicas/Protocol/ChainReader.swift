/// Reads the entries after a position, and checks that they continue the chain.
///
/// The floor is read after the entries and before they are reported. A stalled writer may store a
/// collected slot again, and such an entry looks as if it continued the chain.
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
  /// The number of entries and bytes after which a batch ends.
  private let limit: (entries: Int, bytes: Int)
  private var entries: [LogEntry] = []
  private var byteCount = 0
  /// The position after the entries that were read.
  private var end: ChainPosition
  private var phase = Phase.entry
  private var failures = Failures()

  init(
    position: ChainPosition, floor: Floor, limit: (entries: Int, bytes: Int) = (256, 64 << 20)
  ) {
    self.position = position
    self.floor = floor
    self.limit = limit
    end = position
  }

  /// Begins the next batch after the last one was reported.
  mutating func readOn() {
    guard case .finished(.read) = phase else { return }
    entries = []
    byteCount = 0
    phase = .entry
  }

  mutating func next() -> ProtocolAction<Result> {
    if let count = failures.takeWait() { return .wait(failures: count) }
    switch phase {
    case .entry: return .request(.get(.entry(slot: end.slot + 1)))
    case .floor(let search, _): return .request(.get(search.name))
    case .finished(let result): return .finished(result)
    }
  }

  mutating func receive(_ outcome: StorageOutcome) {
    if case .unclear = outcome { return failures.add() }
    failures.clear()
    switch (phase, outcome) {
    case (.entry, .object(let bytes)): take(bytes)
    case (.entry, .absent): searchFloor(.absent)
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
    byteCount += bytes.count
    if entries.count >= limit.entries || byteCount >= limit.bytes { searchFloor(.limit) }
  }

  private mutating func searchFloor(_ end: End) {
    phase = .floor(FloorSearch(known: floor), end: end)
  }

  private mutating func finish(_ search: FloorSearch, _ reason: End) {
    floor = search.floor
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

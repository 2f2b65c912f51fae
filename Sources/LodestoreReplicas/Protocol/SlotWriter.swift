/// Writes entries into the slots after a position, one at a time.
///
/// `offer` takes the next entry. After `.committed` the writer takes another one; any other result
/// is final.
struct SlotWriter: ProtocolMachine {
  /// The end of an offer.
  enum Result: Sendable, Equatable {
    /// The entry is a part of the chain, which ends here now.
    case committed(ChainPosition)
    /// Another entry has the slot.
    ///
    /// The writer is fenced if the entry's epoch is higher. An entry of the writer's own epoch may
    /// have been sent by an earlier session of this writer, and ``WriterStart`` decides.
    case taken(LogEntry)
    /// The slot was collected. The entry may or may not have been a part of the chain before.
    case collected(Floor)
    /// An object cannot be trusted.
    case refused(PackError)
  }

  private enum Phase: Sendable {
    case put
    /// The slot is taken, and its entry is read.
    case read
    /// The newest floor is read. `isStored` tells whether the slot has held the entry.
    case floor(FloorSearch, isStored: Bool)
    /// The entry is garbage below the floor, and is deleted.
    case delete
    case finished(Result)
  }

  /// The position after which the next entry is written.
  private(set) var position: ChainPosition
  /// The newest floor that this writer has read.
  private(set) var floor: Floor
  /// The bytes of the entry that is being written.
  private var entry: [UInt8] = []
  /// The position after that entry.
  private var end: ChainPosition
  private var phase: Phase
  private var failures = Failures()

  init(position: ChainPosition, floor: Floor) {
    self.position = position
    self.floor = floor
    end = position
    phase = .finished(.committed(position))
  }

  private var name: ReplicaName { .entry(slot: position.slot + 1) }

  /// Whether the writer takes an entry: none is being written, and the last one is committed.
  var isReady: Bool { if case .finished(.committed) = phase { true } else { false } }

  /// Begins the write of an entry.
  ///
  /// - Throws: `PackError` with the code `brokenChain`, if the entry cannot follow the position or
  ///   the writer is not ready. The writer then stays as it was.
  mutating func offer(_ entry: LogEntry) throws(PackError) {
    guard isReady else {
      throw PackError(
        .brokenChain,
        "cannot write the entry of slot \(entry.head.slot): the one before it is not committed; "
          + "wait for its end", slot: entry.head.slot)
    }
    var end = position
    try end.advance(over: entry)
    self.end = end
    self.entry = entry.bytes
    phase = .put
  }

  mutating func next() -> ProtocolAction<Result> {
    if let count = failures.takeWait() { return .wait(failures: count) }
    switch phase {
    case .put: return .request(.putIfAbsent(name, entry))
    case .read: return .request(.get(name))
    case .floor(let search, _): return .request(.get(search.name))
    case .delete: return .request(.delete(name))
    case .finished(let result): return .finished(result)
    }
  }

  mutating func receive(_ outcome: StorageOutcome) {
    if case .unclear = outcome { return failures.add() }
    failures.clear()
    switch (phase, outcome) {
    case (.put, .stored): searchFloor(isStored: true)
    case (.put, .exists): phase = .read
    case (.read, .object(let bytes)): compare(bytes)
    case (.read, .absent): searchFloor(isStored: false)
    case (.floor(var search, let isStored), _):
      search.receive(outcome)
      phase = .floor(search, isStored: isStored)
      if search.isFinished { finish(search, isStored: isStored) }
    case (.delete, .deleted): phase = .finished(.collected(floor))
    default: break
    }
  }

  /// The storage may have executed the request before, and lost its answer.
  private mutating func compare(_ bytes: [UInt8]) {
    if bytes == entry { return searchFloor(isStored: true) }
    do throws(PackError) {
      let other = try LogEntry(reading: bytes, slot: position.slot + 1)
      // An entry that does not continue this writer's chain tells that the chain was overwritten.
      var end = position
      try end.advance(over: other)
      phase = .finished(.taken(other))
    } catch { phase = .finished(.refused(error)) }
  }

  private mutating func searchFloor(isStored: Bool) {
    phase = .floor(FloorSearch(known: floor), isStored: isStored)
  }

  /// An absent slot can have been stored again after its collection, so the floor decides.
  private mutating func finish(_ search: FloorSearch, isStored: Bool) {
    floor = search.floor
    if let fault = search.fault {
      phase = .finished(.refused(fault))
    } else if floor.slot > position.slot + 1 {
      phase = isStored ? .delete : .finished(.collected(floor))
    } else if isStored {
      position = end
      phase = .finished(.committed(position))
    } else {
      phase = .finished(.refused(.missing("'\(name.text)'", slot: position.slot + 1)))
    }
  }
}

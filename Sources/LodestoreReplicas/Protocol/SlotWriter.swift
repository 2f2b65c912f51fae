/// Writes entries into the slots after a position, one at a time.
///
/// `offer` takes the bytes of the next entry. Then `next` and `receive` alternate until `next`
/// returns `.finished`. After `.committed` the writer takes the next entry; any other result is
/// final.
struct SlotWriter<Codec: ReplicaCodec>: Sendable {
  /// The end of an offer.
  enum Result: Sendable, Hashable {
    /// The entry is a part of the chain, which ends here now.
    case committed(ChainPosition)
    /// Another entry has the slot.
    ///
    /// The writer is fenced, unless the entry is of its own store and epoch. An earlier session of
    /// this writer may have sent such an entry, and ``WriterStart`` decides.
    case taken(EntryHead, EntryDigest)
    /// The slot was collected. The entry may or may not have been a part of the chain before.
    case collected(Floor)
    /// An object cannot be trusted.
    case damaged(ObjectName, ChainFault)
  }

  typealias Action = ProtocolAction<Result>

  private enum Phase: Sendable {
    case idle
    case put
    /// The slot is taken, and its entry is read.
    case read
    /// The newest floor is read. `isStored` tells whether the slot has held the entry.
    case floor(FloorSearch<Codec>, isStored: Bool)
    /// The entry is garbage below the floor, and is deleted.
    case delete
    case finished(Result)
  }

  private let codec: Codec
  /// The position after which the next entry is written.
  private(set) var position: ChainPosition
  /// The newest floor that this writer has read.
  private(set) var floor: Floor
  private var entry: [UInt8] = []
  private var phase = Phase.idle
  private var failures = Failures()

  init(codec: Codec, position: ChainPosition, floor: Floor) {
    self.codec = codec
    self.position = position
    self.floor = floor
  }

  private var name: ObjectName { .log(slot: position.slot + 1) }

  /// Begins the write of an entry.
  ///
  /// Returns false, and changes nothing, if the entry cannot follow the position or another entry
  /// is still being written.
  mutating func offer(_ entry: [UInt8]) -> Bool {
    switch phase {
    case .idle, .finished(.committed): break
    default: return false
    }
    guard let head = codec.head(of: entry), position.fault(of: head) == nil else { return false }
    self.entry = entry
    phase = .put
    return true
  }

  /// The next step, or nil when no entry was offered.
  mutating func next() -> Action? {
    if let count = failures.takeWait() { return .wait(failures: count) }
    switch phase {
    case .idle: return nil
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
    guard let head = codec.head(of: bytes) else {
      return phase = .finished(.damaged(name, .unreadable))
    }
    // An entry that does not continue this writer's own chain tells that the chain was overwritten.
    if let fault = position.fault(of: head) { return phase = .finished(.damaged(name, fault)) }
    phase = .finished(.taken(head, codec.digest(of: bytes)))
  }

  private mutating func searchFloor(isStored: Bool) {
    phase = .floor(FloorSearch(codec: codec, known: floor), isStored: isStored)
  }

  /// An absent slot can have been stored again after its collection, so the floor decides.
  private mutating func finish(_ search: FloorSearch<Codec>, isStored: Bool) {
    floor = search.floor
    if let fault = search.fault {
      phase = .finished(.damaged(search.name, fault))
    } else if floor.slot > position.slot + 1 {
      phase = isStored ? .delete : .finished(.collected(floor))
    } else if isStored, let head = codec.head(of: entry) {
      position = ChainPosition(after: head, digest: codec.digest(of: entry))
      phase = .finished(.committed(position))
    } else {
      phase = .finished(.damaged(name, .absent))
    }
  }
}

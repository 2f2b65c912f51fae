/// An entry of the chain that a reader has read.
struct ChainEntry: Sendable, Hashable {
  var head: EntryHead
  var bytes: [UInt8]
}

/// Reads the entries after a position, and checks that they continue the chain.
///
/// The floor is read after the entries and before they are reported. A stalled writer may store a
/// collected slot again, and such an entry looks as if it continued the chain.
struct ChainReader<Codec: ReplicaCodec>: Sendable {
  enum Result: Sendable, Hashable {
    /// The entries are parts of the chain. `isEnd` tells that the slot after them was absent.
    case read([ChainEntry], isEnd: Bool)
    /// The slot after the position was collected: only a base leads on.
    case collected(Floor)
    /// An object is not a part of the chain, although it is not below the floor.
    case damaged(ObjectName, ChainFault)
  }

  typealias Action = ProtocolAction<Result>

  private enum Phase: Sendable {
    case entry
    case floor(FloorSearch<Codec>, end: End)
    case finished(Result)
  }

  private enum End: Sendable {
    case limit, absent
    case fault(ChainFault)
  }

  private let codec: Codec
  /// The position after the entries that were reported.
  private(set) var position: ChainPosition
  private(set) var floor: Floor
  /// The number of entries and bytes after which a batch ends.
  private let limit: (entries: Int, bytes: Int)
  private var entries: [ChainEntry] = []
  private var byteCount = 0
  /// The position after the entries that were read.
  private var end: ChainPosition
  private var phase = Phase.entry
  private var failures = Failures()

  init(
    codec: Codec, position: ChainPosition, floor: Floor,
    limit: (entries: Int, bytes: Int) = (256, 64 << 20)
  ) {
    self.codec = codec
    self.position = position
    self.floor = floor
    self.limit = limit
    end = position
  }

  private var name: ObjectName { .log(slot: end.slot + 1) }

  /// Begins the next batch after the last one was reported.
  mutating func readOn() {
    guard case .finished(.read) = phase else { return }
    entries = []
    byteCount = 0
    phase = .entry
  }

  mutating func next() -> Action {
    if let count = failures.takeWait() { return .wait(failures: count) }
    switch phase {
    case .entry: return .request(.get(name))
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
    guard let head = codec.head(of: bytes) else { return searchFloor(.fault(.unreadable)) }
    if let fault = end.fault(of: head) { return searchFloor(.fault(fault)) }
    end = ChainPosition(after: head, digest: codec.digest(of: bytes))
    entries.append(ChainEntry(head: head, bytes: bytes))
    byteCount += bytes.count
    if entries.count >= limit.entries || byteCount >= limit.bytes { searchFloor(.limit) }
  }

  private mutating func searchFloor(_ end: End) {
    phase = .floor(FloorSearch(codec: codec, known: floor), end: end)
  }

  private mutating func finish(_ search: FloorSearch<Codec>, _ reason: End) {
    floor = search.floor
    if let fault = search.fault {
      phase = .finished(.damaged(search.name, fault))
    } else if floor.slot > position.slot + 1 {
      phase = .finished(.collected(floor))
    } else if case .fault(let fault) = reason {
      phase = .finished(.damaged(name, fault))
    } else {
      position = end
      var isEnd = false
      if case .absent = reason { isEnd = true }
      phase = .finished(.read(entries, isEnd: isEnd))
    }
  }
}

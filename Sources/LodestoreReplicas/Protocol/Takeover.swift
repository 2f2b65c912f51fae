/// Fences the writer of a chain: writes a fence of the next epoch into the first free slot.
///
/// The machine reads on from a position to the end of the chain. If another process takes the slot
/// first, the machine goes on to the next slot. Afterwards the new writer applies the entries up
/// to the fence before it writes.
struct Takeover<Codec: ReplicaCodec>: Sendable {
  enum Result: Sendable, Hashable {
    /// The fence is committed: the chain ends at this position, and no earlier writer can write.
    case fenced(ChainPosition)
    /// The chain was collected beyond the position. Begin again at a newer base.
    case collected(Floor)
    case damaged(ObjectName, ChainFault)
  }

  typealias Action = ProtocolAction<Result>

  private enum Phase: Sendable {
    case read(ChainReader<Codec>)
    case write(SlotWriter<Codec>)
    case finished(Result)
  }

  private let codec: Codec
  private let store: ReplicaIdentity
  private let session: ReplicaIdentity
  private var phase: Phase

  /// Creates a takeover by a store whose state is that of a position, or an earlier state.
  init(
    codec: Codec, position: ChainPosition, floor: Floor, store: ReplicaIdentity,
    session: ReplicaIdentity
  ) {
    self.codec = codec
    self.store = store
    self.session = session
    phase = .read(ChainReader(codec: codec, position: position, floor: floor))
  }

  mutating func next() -> Action {
    switch phase {
    case .read(var reader):
      let action = reader.next()
      phase = .read(reader)
      switch action {
      case .request(let request): return .request(request)
      case .wait(let count): return .wait(failures: count)
      case .finished(let result): take(result, reader)
      }
    case .write(var writer):
      let action = writer.next()
      phase = .write(writer)
      switch action {
      case .request(let request): return .request(request)
      case .wait(let count): return .wait(failures: count)
      case .finished(let result): take(result, writer)
      case nil: phase = .finished(.damaged(.log(slot: writer.position.slot + 1), .unreadable))
      }
    case .finished(let result): return .finished(result)
    }
    return next()
  }

  mutating func receive(_ outcome: StorageOutcome) {
    switch phase {
    case .read(var reader):
      reader.receive(outcome)
      phase = .read(reader)
    case .write(var writer):
      writer.receive(outcome)
      phase = .write(writer)
    case .finished: break
    }
  }

  private mutating func take(_ result: ChainReader<Codec>.Result, _ reader: ChainReader<Codec>) {
    switch result {
    case .read(_, isEnd: false):
      var reader = reader
      reader.readOn()
      phase = .read(reader)
    case .read(_, isEnd: true): offer(after: reader.position, floor: reader.floor)
    case .collected(let floor): phase = .finished(.collected(floor))
    case .damaged(let name, let fault): phase = .finished(.damaged(name, fault))
    }
  }

  private mutating func offer(after position: ChainPosition, floor: Floor) {
    let head = EntryHead(
      kind: .fence, epoch: position.epoch + 1, slot: position.slot + 1,
      previous: position.digest, store: store, session: session,
      firstWrite: position.lastWrite + 1, lastWrite: position.lastWrite)
    var writer = SlotWriter(codec: codec, position: position, floor: floor)
    _ = writer.offer(codec.fence(head))
    phase = .write(writer)
  }

  private mutating func take(_ result: SlotWriter<Codec>.Result, _ writer: SlotWriter<Codec>) {
    switch result {
    case .committed(let position): phase = .finished(.fenced(position))
    case .taken:
      // The reader checks the other's entry, and finds the entries after it.
      phase = .read(ChainReader(codec: codec, position: writer.position, floor: writer.floor))
    case .collected(let floor): phase = .finished(.collected(floor))
    case .damaged(let name, let fault): phase = .finished(.damaged(name, fault))
    }
  }
}

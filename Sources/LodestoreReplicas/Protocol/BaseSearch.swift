/// A base of which the protocol knows that it lies on the chain.
struct BaseChoice: Sendable, Hashable {
  /// The number in the names of the base's two objects.
  var verity: UInt64
  /// The position whose state the base holds.
  var position: ChainPosition
}

/// Finds the newest base on the chain, of a lowest slot or later.
///
/// A base lies on the chain if its head names the digest of its slot's entry. Its slot must not be
/// below the floor, where a stalled writer may have stored the entry again.
struct BaseSearch<Codec: ReplicaCodec>: Sendable {
  enum Result: Sendable, Hashable {
    case found(BaseChoice)
    case none
    case damaged(ObjectName, ChainFault)
  }

  typealias Action = ProtocolAction<Result>

  private enum Phase: Sendable {
    case list
    case head
    case entry(BaseHead)
    case floor(FloorSearch<Codec>, ChainPosition?)
    case finished(Result)
  }

  private let codec: Codec
  private let lowest: UInt64
  /// Bases to leave out.
  private let unusable: Set<UInt64>
  private(set) var floor: Floor
  /// The bases that were not looked into yet, the newest last.
  private var candidates: [(slot: UInt64, verity: UInt64)] = []
  private var phase = Phase.list
  private var failures = Failures()

  init(codec: Codec, lowest: UInt64, floor: Floor, unusable: Set<UInt64> = []) {
    self.codec = codec
    self.lowest = lowest
    self.unusable = unusable
    self.floor = floor
  }

  mutating func next() -> Action {
    if let count = failures.takeWait() { return .wait(failures: count) }
    switch (phase, candidates.last) {
    case (.list, _): return .request(.list(.base, upTo: .max))
    case (.head, let base?): return .request(.get(.baseHead(slot: base.slot, verity: base.verity)))
    case (.entry, let base?): return .request(.get(.log(slot: base.slot)))
    case (.floor(let search, _), _): return .request(.get(search.name))
    case (.finished(let result), _): return .finished(result)
    case (.head, nil), (.entry, nil):
      phase = .finished(.none)
      return .finished(.none)
    }
  }

  mutating func receive(_ outcome: StorageOutcome) {
    if case .unclear = outcome { return failures.add() }
    failures.clear()
    switch (phase, outcome) {
    case (.list, .names(let names)): take(names)
    case (.head, .object(let bytes)):
      guard let head = codec.base(of: bytes), head.slot == candidates.last?.slot else {
        return tryNext()
      }
      phase = .entry(head)
    case (.entry(let base), .object(let bytes)): take(bytes, of: base)
    // A collection has deleted the object in the meantime, or its writer has not ended yet.
    case (.head, .absent): searchFloor(nil)
    case (.entry, .absent): searchFloor(nil)
    case (.floor(var search, let position), _):
      search.receive(outcome)
      phase = .floor(search, position)
      if search.isFinished { finish(search, position) }
    default: break
    }
  }

  private mutating func take(_ names: [ObjectName]) {
    candidates = []
    for case .baseHead(let slot, let verity) in names where slot >= lowest {
      if !unusable.contains(verity) { candidates.append((slot, verity)) }
    }
    candidates.sort { $0.slot < $1.slot }
    // Without candidates the floor tells whether a chain without a base can be read at all.
    if candidates.isEmpty { searchFloor(nil) } else { phase = .head }
  }

  private mutating func take(_ bytes: [UInt8], of base: BaseHead) {
    guard codec.digest(of: bytes) == base.digest, let head = codec.head(of: bytes),
      head.slot == base.slot
    else { return tryNext() }
    searchFloor(ChainPosition(after: head, digest: base.digest))
  }

  private mutating func tryNext() {
    _ = candidates.popLast()
    if candidates.isEmpty { searchFloor(nil) } else { phase = .head }
  }

  private mutating func searchFloor(_ position: ChainPosition?) {
    phase = .floor(FloorSearch(codec: codec, known: floor), position)
  }

  private mutating func finish(_ search: FloorSearch<Codec>, _ position: ChainPosition?) {
    let hasRisen = search.floor.number > floor.number
    floor = search.floor
    if let fault = search.fault { return phase = .finished(.damaged(search.name, fault)) }
    if let position, let base = candidates.last, base.slot >= floor.slot {
      phase = .finished(.found(BaseChoice(verity: base.verity, position: position)))
    } else if hasRisen {
      // A newer base exists since.
      phase = .list
    } else {
      _ = candidates.popLast()
      phase = candidates.isEmpty ? .finished(.none) : .head
    }
  }
}

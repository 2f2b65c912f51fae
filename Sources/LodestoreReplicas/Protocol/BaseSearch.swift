internal import LodestoreFormat

/// Finds the newest base on the chain, of a lowest slot or later.
///
/// A base lies on the chain if its head names the hash of its slot's entry. A fenced writer may
/// have stored a base of a slot that it did not win. The base's slot must not be below the floor,
/// where a stalled writer may have stored the entry again.
struct BaseSearch: ProtocolMachine {
  enum Result: Sendable, Equatable {
    case found(BaseHead)
    case none
    case refused(PackError)
  }

  private enum Phase: Sendable {
    case list
    case head
    case entry(BaseHead)
    case floor(FloorSearch, BaseHead?)
    case finished(Result)
  }

  /// The UUID of the replica.
  private let store: UUIDBytes
  private let lowest: UInt64
  /// Bases to leave out.
  private let unusable: Set<ReplicaName>
  private(set) var floor: Floor
  /// The heads of bases that were not looked into yet, the newest last.
  private var candidates: [(slot: UInt64, name: ReplicaName)] = []
  private var phase = Phase.list
  private var failures = Failures()

  init(store: UUIDBytes, lowest: UInt64, floor: Floor, unusable: Set<ReplicaName> = []) {
    self.store = store
    self.lowest = lowest
    self.unusable = unusable
    self.floor = floor
  }

  mutating func next() -> ProtocolAction<Result> {
    if let count = failures.takeWait() { return .wait(failures: count) }
    switch (phase, candidates.last) {
    case (.list, _): return .request(.list(.base, upTo: .max))
    case (.head, let candidate?): return .request(.get(candidate.name))
    case (.entry, let candidate?): return .request(.get(.entry(slot: candidate.slot)))
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
      guard let name = candidates.last?.name,
        let head = try? BaseHead(reading: bytes, named: name.text)
      else { return tryNext() }
      phase = .entry(head)
    case (.entry(let base), .object(let bytes)): take(bytes, of: base)
    // A collection has deleted the object in the meantime, or its writer has not ended yet.
    case (.head, .absent): searchFloor(nil)
    case (.entry, .absent): searchFloor(nil)
    case (.floor(var search, let base), _):
      search.receive(outcome)
      phase = .floor(search, base)
      if search.isFinished { finish(search, base) }
    default: break
    }
  }

  private mutating func take(_ names: [ReplicaName]) {
    candidates = []
    for name in names where name.isHeadOfBase && !unusable.contains(name) {
      if let slot = name.collectedSlot, slot >= lowest { candidates.append((slot, name)) }
    }
    candidates.sort { $0.slot < $1.slot }
    // Without candidates the floor tells whether a chain without a base can be read at all.
    if candidates.isEmpty { searchFloor(nil) } else { phase = .head }
  }

  private mutating func take(_ bytes: [UInt8], of base: BaseHead) {
    guard SHA256.hash(bytes) == base.entry.bytes,
      let head = try? LogEntry(reading: bytes, slot: base.slot).head,
      base.store == store, head.store == store, head.epoch == base.epoch,
      head.lastWrite == base.lastWrite, !head.part.continues
    else { return tryNext() }
    searchFloor(base)
  }

  private mutating func tryNext() {
    _ = candidates.popLast()
    if candidates.isEmpty { searchFloor(nil) } else { phase = .head }
  }

  private mutating func searchFloor(_ base: BaseHead?) {
    phase = .floor(FloorSearch(known: floor), base)
  }

  private mutating func finish(_ search: FloorSearch, _ base: BaseHead?) {
    let hasRisen = search.floor.number > floor.number
    floor = search.floor
    if let fault = search.fault { return phase = .finished(.refused(fault)) }
    if let base, base.slot >= floor.slot {
      phase = .finished(.found(base))
    } else if hasRisen {
      // A newer base exists since.
      phase = .list
    } else {
      _ = candidates.popLast()
      phase = candidates.isEmpty ? .finished(.none) : .head
    }
  }
}

internal import LodestoreFormat

/// Raises the floor to a slot that a base covers, and deletes the objects below it.
///
/// The record of the floor is created first. A stalled writer that stores a deleted slot again
/// then finds the record, and does not count its entry as committed.
struct Collector: ProtocolMachine {
  enum Result: Sendable, Equatable {
    /// All objects below the floor are deleted.
    case collected(Floor, deleted: Int)
    case refused(PackError)
  }

  private enum Phase: Sendable {
    case base(BaseSearch)
    /// The next record of the floor is created. Its slot is that of the base, or the limit.
    case raise(UInt64)
    /// Another record exists, and the newest is read.
    case floor(FloorSearch, raisingTo: UInt64)
    case list
    case delete
    case finished(Result)
  }

  /// The highest slot that the floor may have: by the age of entries and by registered followers.
  private let limit: UInt64
  private(set) var floor: Floor
  /// The time in the record of the floor, for people; nothing depends on it.
  private let time: Double
  private var folders: [ReplicaFolder] = [.base, .merged, .log]
  /// The objects to delete, the next one last.
  private var names: [ReplicaName] = []
  private var deletedCount = 0
  private var phase: Phase
  private var failures = Failures()

  /// - Parameters:
  ///   - store: The UUID of the replica.
  ///   - limit: The highest slot that the floor may have.
  ///   - floor: A floor that is known, or `.none`.
  ///   - time: The present time, in seconds since 2001-01-01T00:00:00Z.
  init(store: UUIDBytes, limit: UInt64, floor: Floor, time: Double) {
    self.limit = limit
    self.floor = floor
    self.time = time
    phase = .base(BaseSearch(store: store, lowest: 1, floor: floor))
  }

  mutating func next() -> ProtocolAction<Result> {
    if let count = failures.takeWait() { return .wait(failures: count) }
    switch phase {
    case .base(var search):
      let action = search.next()
      phase = .base(search)
      switch action {
      case .request(let request): return .request(request)
      case .wait(let count): return .wait(failures: count)
      case .finished(let result): take(result, search.floor)
      }
      return next()
    case .raise(let slot):
      let record = FloorRecord(slot: slot, time: time)
      return .request(.putIfAbsent(.floor(number: floor.number + 1), record.bytes))
    case .floor(let search, _): return .request(.get(search.name))
    case .list:
      guard let folder = folders.last else {
        let result = Result.collected(floor, deleted: deletedCount)
        phase = .finished(result)
        return .finished(result)
      }
      return .request(.list(folder, upTo: floor.slot - 1))
    case .delete:
      guard let name = names.last else {
        phase = .list
        return next()
      }
      return .request(.delete(name))
    case .finished(let result): return .finished(result)
    }
  }

  mutating func receive(_ outcome: StorageOutcome) {
    if case .base(var search) = phase {
      search.receive(outcome)
      return phase = .base(search)
    }
    if case .unclear = outcome { return failures.add() }
    failures.clear()
    switch (phase, outcome) {
    case (.raise(let slot), .stored):
      floor = Floor(number: floor.number + 1, slot: slot)
      phase = .list
    case (.raise(let slot), .exists):
      // The record is another's, or this machine's own of which the answer was lost.
      phase = .floor(FloorSearch(known: floor), raisingTo: slot)
    case (.floor(var search, let slot), _):
      search.receive(outcome)
      phase = .floor(search, raisingTo: slot)
      if search.isFinished { finish(search, raisingTo: slot) }
    case (.list, .names(let found)):
      // The oldest objects are deleted first.
      names = found.filter { ($0.collectedSlot ?? .max) < floor.slot }.reversed()
      _ = folders.popLast()
      phase = .delete
    case (.delete, .deleted):
      deletedCount += 1
      _ = names.popLast()
    default: break
    }
  }

  private mutating func take(_ result: BaseSearch.Result, _ newest: Floor) {
    floor = newest
    switch result {
    case .found(let base): raise(to: min(base.slot, limit))
    case .none: raise(to: 0)
    case .refused(let error): phase = .finished(.refused(error))
    }
  }

  /// Raises the floor, or only deletes below it when it has the slot already.
  private mutating func raise(to slot: UInt64) {
    if slot > floor.slot {
      phase = .raise(slot)
    } else if floor.slot > 0 {
      phase = .list
    } else {
      phase = .finished(.collected(floor, deleted: 0))
    }
  }

  private mutating func finish(_ search: FloorSearch, raisingTo slot: UInt64) {
    floor = search.floor
    if let fault = search.fault { return phase = .finished(.refused(fault)) }
    raise(to: slot)
  }
}

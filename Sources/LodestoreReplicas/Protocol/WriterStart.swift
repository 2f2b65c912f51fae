internal import LodestoreFormat

/// The position that a writer's store has kept, and the writes that it has.
struct LocalPosition: Sendable, Hashable {
  /// The position after the last entry of which the store knows that it was committed.
  var position: ChainPosition
  /// The number of the store's last write.
  var lastWrite: UInt64
}

/// Compares a writer's store with the chain before the first write.
///
/// After `.compare` the caller passes its answer to `receive(isOwn:)` and drives the machine on.
/// All other results are final.
struct WriterStart: ProtocolMachine {
  enum Result: Sendable, Equatable {
    /// Compare the entry with the store's own history: numbers, times, authors and ids.
    ///
    /// Pass the answer to `receive(isOwn:)`.
    case compare(LogEntry)
    /// The store has all writes of the chain, which ends at the position. The writer writes on.
    ///
    /// `adopted` entries were this store's own, and their answers had been lost. The position may
    /// have unfinished writes whose parts this session does not know. The writer then offers a
    /// fence of the next epoch, which ends these writes, and writes them again.
    case ready(ChainPosition, adopted: Int)
    /// Another writer has taken over with this epoch.
    ///
    /// Writes after the position were not shipped. If the position itself was collected, some of
    /// them may have been.
    case fenced(epoch: UInt64, after: ChainPosition)
    /// The chain has later writes of this store than the store itself: the store is an old copy.
    case behind(chain: UInt64, local: UInt64)
    /// The store's writes are not those of the chain.
    case diverged(firstWrite: UInt64, lastWrite: UInt64)
    case refused(PackError)
  }

  private enum Phase: Sendable {
    /// The entry at the local position is compared first.
    case own
    /// An entry is not the expected one, unless it was collected. `missing` is its slot if the slot
    /// is absent.
    case floor(FloorSearch, missing: UInt64?)
    case read(ChainReader)
    case compare
    /// The local position was collected, and the entry at the floor tells by whom.
    case collected
    case finished(Result)
  }

  private let local: LocalPosition
  private var position: ChainPosition
  private(set) var floor: Floor
  /// The entries that the store does not know, the next one last.
  private var unknown: [LogEntry] = []
  private var isEnd = false
  private var adoptedCount = 0
  /// Whether entries after the local position were collected, so that they cannot be compared.
  private var hasGap = false
  /// The damage of the entry at the local position.
  private var fault: PackError?
  private var phase: Phase
  private var failures = Failures()

  init(local: LocalPosition, floor: Floor) {
    self.local = local
    self.floor = floor
    position = local.position
    phase = .own
    if position.slot == 0 { read() }
  }

  mutating func next() -> ProtocolAction<Result> {
    if let count = failures.takeWait() { return .wait(failures: count) }
    switch phase {
    case .own: return .request(.get(.entry(slot: position.slot)))
    case .floor(let search, _): return .request(.get(search.name))
    case .collected: return .request(.get(.entry(slot: floor.slot)))
    case .finished(let result): return .finished(result)
    case .compare:
      if let entry = unknown.last {
        guard let refusal = refusal(of: entry.head) else { return .finished(.compare(entry)) }
        phase = .finished(refusal)
      } else if isEnd {
        finishReading()
      } else {
        read()
      }
    case .read(var reader):
      let action = reader.next()
      phase = .read(reader)
      switch action {
      case .request(let request): return .request(request)
      case .wait(let count): return .wait(failures: count)
      case .finished(let result): take(result, reader)
      }
    }
    return next()
  }

  mutating func receive(_ outcome: StorageOutcome) {
    if case .read(var reader) = phase {
      reader.receive(outcome)
      return phase = .read(reader)
    }
    if case .unclear = outcome { return failures.add() }
    failures.clear()
    switch (phase, outcome) {
    case (.own, .object(let bytes)):
      if SHA256.hash(bytes) == position.hash { return read() }
      do throws(PackError) {
        _ = try LogEntry(reading: bytes, slot: position.slot)
      } catch { fault = error }
      searchFloor(missing: nil)
    case (.own, .absent): searchFloor(missing: position.slot)
    case (.floor(var search, let missing), _):
      search.receive(outcome)
      phase = .floor(search, missing: missing)
      if search.isFinished { finish(search, missing: missing) }
    case (.collected, .object(let bytes)): takeFloorEntry(bytes)
    // The floor may have risen again.
    case (.collected, .absent): searchFloor(missing: floor.slot)
    default: break
    }
  }

  /// Takes the answer to `.compare`.
  mutating func receive(isOwn: Bool) {
    guard case .compare = phase, let entry = unknown.popLast() else { return }
    if !isOwn { return diverge() }
    do throws(PackError) {
      if hasGap, entry.head.slot == floor.slot {
        position = ChainPosition(after: entry)
      } else {
        try position.advance(over: entry)
      }
      adoptedCount += 1
    } catch { phase = .finished(.refused(error)) }
  }

  private mutating func read() {
    phase = .read(ChainReader(position: position, floor: floor))
  }

  private mutating func searchFloor(missing: UInt64?) {
    phase = .floor(FloorSearch(known: floor), missing: missing)
  }

  private mutating func diverge() {
    let first = min(position.lastWrite + 1, local.lastWrite)
    phase = .finished(.diverged(firstWrite: first, lastWrite: local.lastWrite))
  }

  private mutating func take(_ result: ChainReader.Result, _ reader: ChainReader) {
    floor = reader.floor
    switch result {
    case .read(let entries, let isEnd):
      self.isEnd = isEnd
      unknown = entries.reversed()
      phase = .compare
    case .collected(let floor):
      self.floor = floor
      phase = .collected
    case .refused(let error): phase = .finished(.refused(error))
    }
  }

  /// The reason why the store cannot have written an entry, or nil.
  private func refusal(of head: EntryHead) -> Result? {
    // The first epoch of a chain is 1, also for a store that knows no entry yet.
    if head.epoch > max(local.position.epoch, 1) {
      return .fenced(epoch: head.epoch, after: position)
    }
    if head.lastWrite > local.lastWrite {
      return .behind(chain: head.lastWrite, local: local.lastWrite)
    }
    return nil
  }

  private mutating func finishReading() {
    // A writer records a place before it collects up to there, so the store is an old copy.
    if hasGap { return diverge() }
    phase = .finished(
      local.lastWrite < position.lastWrite
        ? .behind(chain: position.lastWrite, local: local.lastWrite)
        : .ready(position, adopted: adoptedCount))
  }

  private mutating func finish(_ search: FloorSearch, missing: UInt64?) {
    floor = search.floor
    if let fault = search.fault { return phase = .finished(.refused(fault)) }
    if let missing, missing >= floor.slot {
      let name = ReplicaName.entry(slot: missing).text
      return phase = .finished(.refused(.missing("'\(name)'", slot: missing)))
    }
    // A base of the next slot may exist already, if its entry's answer was lost.
    if floor.slot == position.slot + 1 { return read() }
    if floor.slot > position.slot { return phase = .collected }
    if let fault { return phase = .finished(.refused(fault)) }
    phase = .finished(.diverged(firstWrite: position.lastWrite, lastWrite: local.lastWrite))
  }

  private mutating func takeFloorEntry(_ bytes: [UInt8]) {
    do throws(PackError) {
      let entry = try LogEntry(reading: bytes, slot: floor.slot)
      if let refusal = refusal(of: entry.head) { return phase = .finished(refusal) }
      guard entry.head.store == position.store else { return diverge() }
      // The entry may be this store's own, after the recorded place. The fence of the writer that
      // has collected the slots before it is then a later entry.
      hasGap = true
      isEnd = false
      unknown = [entry]
      phase = .compare
    } catch { phase = .finished(.refused(error)) }
  }
}

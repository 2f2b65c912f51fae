internal import LodestoreFormat

/// Follows a chain from a position, and finds the base to continue from where entries are missing.
///
/// The caller applies the entries up to ``resumePosition`` in one transaction, which also stores
/// that position. The entries after it are parts of writes whose end is not read yet: the caller
/// keeps them until a later result has the rest. The caller calls `goOn` afterwards.
struct FollowerCursor: ProtocolMachine {
  enum Result: Sendable, Equatable {
    /// Apply the entries. `isEnd` tells that the follower is up to date then.
    case apply([LogEntry], isEnd: Bool)
    /// Replace the whole content by this base.
    case swap(BaseHead)
    case refused(PackError)
    /// The chain needs a base of this slot or a later one, and the storage has none.
    case noBase(slot: UInt64)
  }

  private enum Phase: Sendable {
    case read(ChainReader)
    case base(BaseSearch)
    case finished(Result)
  }

  /// The position of an own fence, which the chain must contain.
  private let fence: ChainPosition?
  private let readsMerged: Bool
  /// Whether the last batch ended before the end of the log.
  private var isBehind = false
  /// The position after the last result.
  private(set) var position: ChainPosition
  /// The last position without unfinished writes, at which another cursor can begin.
  private(set) var resumePosition: ChainPosition
  private(set) var floor: Floor
  /// Whether the newest record of the floor was read for the last result.
  private(set) var hasReadFloor = false
  /// The lowest slot that the next base may have.
  private var lowest: UInt64 = 0
  /// The bases whose files were absent or damaged.
  private var unusable: Set<ReplicaName> = []
  private var phase: Phase

  /// Creates a follower that begins at a position, or at the newest base without one.
  ///
  /// - Parameters:
  ///   - store: The UUID of the replica.
  ///   - fence: The position of a new writer's fence, so that a storage that has overwritten the
  ///     fence is found.
  ///   - readsMerged: Whether merged slots may be reported in place of their entries.
  init(
    store: UUIDBytes, position: ChainPosition?, floor: Floor, fence: ChainPosition? = nil,
    readsMerged: Bool = false
  ) {
    self.fence = fence
    self.readsMerged = readsMerged
    self.position = position ?? .start(of: store)
    resumePosition = self.position
    self.floor = floor
    phase =
      if let position {
        .read(ChainReader(position: position, floor: floor, readsMerged: readsMerged))
      } else {
        .base(BaseSearch(store: store, lowest: 0, floor: floor))
      }
  }

  /// Continues after a result was applied, or after the file of a base could not be used.
  ///
  /// The file of a base is absent when a collection has deleted it in the meantime. The machine
  /// looks for another base when the file is absent or damaged.
  mutating func goOn(baseIsUnusable: Bool = false) {
    guard case .finished(let result) = phase else { return }
    switch result {
    case .apply: read()
    case .swap(let base):
      if baseIsUnusable {
        unusable.insert(base.name(of: .head))
        return search()
      }
      position = base.position
      resumePosition = position
      lowest = 0
      read()
    case .refused, .noBase: break
    }
  }

  /// Lets the next result be the end of the log if the next slot is absent, without a read of the
  /// floor.
  ///
  /// The slot may have been collected since the floor was read last. The follower then stays at its
  /// place, whose state is a part of the chain, until a later result for which the floor is read.
  /// Entries are never reported before the floor was read after them.
  mutating func trustAbsence() {
    guard case .read(var reader) = phase else { return }
    reader.trustsAbsence = true
    phase = .read(reader)
  }

  mutating func next() -> ProtocolAction<Result> {
    switch phase {
    case .read(var reader):
      let action = reader.next()
      phase = .read(reader)
      switch action {
      case .request(let request): return .request(request)
      case .wait(let count): return .wait(failures: count)
      case .finished(let result): take(result, reader)
      }
    case .base(var search):
      let action = search.next()
      phase = .base(search)
      switch action {
      case .request(let request): return .request(request)
      case .wait(let count): return .wait(failures: count)
      case .finished(let result): take(result, search)
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
    case .base(var search):
      search.receive(outcome)
      phase = .base(search)
    case .finished: break
    }
  }

  private mutating func read() {
    phase = .read(
      ChainReader(
        position: position, floor: floor, readsMerged: readsMerged, isBehind: isBehind))
  }

  private mutating func search() {
    phase = .base(
      BaseSearch(store: position.store, lowest: lowest, floor: floor, unusable: unusable))
  }

  private mutating func take(_ result: ChainReader.Result, _ reader: ChainReader) {
    floor = reader.floor
    hasReadFloor = reader.hasReadFloor
    switch result {
    case .read(let entries, let isEnd):
      if let fence, let entry = entries.first(where: { $0.head.slot == fence.slot }),
        entry.hash != fence.hash
      {
        return phase = .finished(.refused(overwritten(fence)))
      }
      guard let index = entries.firstIndex(where: { $0.head.kind == .base }) else {
        return apply(entries, isEnd: isEnd)
      }
      // Entries before the change of the schema are applied, and the base replaces the rest.
      if index == 0 {
        lowest = entries[0].head.slot
        return search()
      }
      apply(Array(entries[..<index]), isEnd: false)
    case .collected(let floor):
      lowest = floor.slot
      search()
    case .refused(let error): phase = .finished(.refused(error))
    }
  }

  /// Reports entries, and moves the position to their end.
  private mutating func apply(_ entries: [LogEntry], isEnd: Bool) {
    do throws(PackError) {
      for entry in entries {
        try position.advance(over: entry)
        if position.unfinished == nil { resumePosition = position }
      }
      isBehind = !isEnd
      phase = .finished(.apply(entries, isEnd: isEnd))
    } catch { phase = .finished(.refused(error)) }
  }

  private func overwritten(_ fence: ChainPosition) -> PackError {
    PackError(
      .brokenChain,
      "cannot use the entry of slot \(fence.slot): it is not the fence that was written there, so "
        + "the storage overwrites objects; use another storage", slot: fence.slot)
  }

  private mutating func take(_ result: BaseSearch.Result, _ search: BaseSearch) {
    floor = search.floor
    hasReadFloor = true
    switch result {
    case .found(let base): phase = .finished(.swap(base))
    case .none where lowest == 0 && floor.slot == 0: read()
    case .none: phase = .finished(.noBase(slot: max(lowest, floor.slot)))
    case .refused(let error): phase = .finished(.refused(error))
    }
  }
}

/// Follows a chain from a position, and finds the base to continue from where entries are missing.
///
/// The caller applies each result in one transaction together with the position that
/// ``position`` has then. Only then it calls `goOn`.
struct FollowerCursor<Codec: ReplicaCodec>: Sendable {
  enum Result: Sendable, Hashable {
    /// Apply the entries. `isEnd` tells that the follower is up to date then.
    case apply([ChainEntry], isEnd: Bool)
    /// Replace the whole content by this base.
    case swap(BaseChoice)
    case damaged(ObjectName, ChainFault)
    /// The chain needs a base of this slot or a later one, and the storage has none.
    case noBase(slot: UInt64)
  }

  typealias Action = ProtocolAction<Result>

  private enum Phase: Sendable {
    case read(ChainReader<Codec>)
    case base(BaseSearch<Codec>)
    case finished(Result)
  }

  private let codec: Codec
  /// The position of an own fence, which the chain must contain.
  private let fence: ChainPosition?
  /// The position after the last result.
  private(set) var position: ChainPosition
  private(set) var floor: Floor
  /// The lowest slot that the next base may have.
  private var lowest: UInt64 = 0
  /// The bases whose files were absent or damaged.
  private var unusable: Set<UInt64> = []
  private var phase: Phase

  /// Creates a follower that begins at a position, or at the newest base without one.
  ///
  /// A new writer passes its fence, so that a storage that has overwritten the fence is found.
  init(codec: Codec, position: ChainPosition?, floor: Floor, fence: ChainPosition? = nil) {
    self.codec = codec
    self.fence = fence
    self.position = position ?? .origin
    self.floor = floor
    phase =
      if let position {
        .read(ChainReader(codec: codec, position: position, floor: floor))
      } else {
        .base(BaseSearch(codec: codec, lowest: 0, floor: floor))
      }
  }

  /// Continues after a result was applied, or after the file of a base could not be used.
  ///
  /// The file of a base is absent when a collection has deleted it in the meantime. Then, and when
  /// the file is damaged, the machine looks for another base.
  mutating func goOn(baseIsUnusable: Bool = false) {
    guard case .finished(let result) = phase else { return }
    switch result {
    case .apply: read()
    case .swap(let base):
      if baseIsUnusable {
        unusable.insert(base.verity)
        return search()
      }
      position = base.position
      lowest = 0
      read()
    case .damaged, .noBase: break
    }
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
    phase = .read(ChainReader(codec: codec, position: position, floor: floor))
  }

  private mutating func search() {
    phase = .base(BaseSearch(codec: codec, lowest: lowest, floor: floor, unusable: unusable))
  }

  private mutating func take(_ result: ChainReader<Codec>.Result, _ reader: ChainReader<Codec>) {
    floor = reader.floor
    switch result {
    case .read(let entries, let isEnd):
      if let fence, let entry = entries.first(where: { $0.head.slot == fence.slot }),
        codec.digest(of: entry.bytes) != fence.digest
      {
        return phase = .finished(.damaged(.log(slot: fence.slot), .brokenChain))
      }
      guard let index = entries.firstIndex(where: { $0.head.kind == .base }) else {
        position = reader.position
        return phase = .finished(.apply(entries, isEnd: isEnd))
      }
      // Entries before the change of the schema are applied, and the base replaces the rest.
      if index == 0 {
        lowest = entries[0].head.slot
        return search()
      }
      let last = entries[index - 1]
      position = ChainPosition(after: last.head, digest: codec.digest(of: last.bytes))
      phase = .finished(.apply(Array(entries[..<index]), isEnd: false))
    case .collected(let floor):
      lowest = floor.slot
      search()
    case .damaged(let name, let fault): phase = .finished(.damaged(name, fault))
    }
  }

  private mutating func take(_ result: BaseSearch<Codec>.Result, _ search: BaseSearch<Codec>) {
    floor = search.floor
    switch result {
    case .found(let base): phase = .finished(.swap(base))
    case .none where lowest == 0 && floor.slot == 0: read()
    case .none: phase = .finished(.noBase(slot: max(lowest, floor.slot)))
    case .damaged(let name, let fault): phase = .finished(.damaged(name, fault))
    }
  }
}

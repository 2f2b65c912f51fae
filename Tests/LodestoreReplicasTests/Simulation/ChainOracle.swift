@testable import LodestoreReplicas

/// The truth about the chain, which no process can see: the first entry that each slot got.
struct ChainOracle {
  private let codec = SimulatedCodec()
  /// The digests of the entries, by slot.
  private(set) var digests: [EntryDigest] = [.zero]
  /// The states after the entries, by slot.
  private(set) var states = [SimulatedState()]
  /// The epochs of the entries, by slot.
  private(set) var epochs: [UInt64] = [0]
  private(set) var position = ChainPosition.origin
  private(set) var floor: UInt64 = 0
  private(set) var violation: String?
  /// The entries with writes that were reported as committed.
  private(set) var acknowledged: [(slot: UInt64, digest: EntryDigest)] = []
  /// How often a stalled writer has stored a collected slot again.
  private(set) var garbageCount = 0

  var head: UInt64 { position.slot }

  mutating func fail(_ text: String) { violation = violation ?? text }

  /// Takes a request that an honest storage has executed.
  mutating func observe(
    _ request: StorageRequest, _ outcome: StorageOutcome, in bucket: SimulatedBucket
  ) {
    switch (request, outcome) {
    case (.putIfAbsent(.log(let slot), let bytes), .stored): store(bytes, in: slot)
    case (.putIfAbsent(.floor, let bytes), .stored):
      guard let slot = codec.floor(of: bytes) else { return fail("a floor is unreadable") }
      if slot <= floor { fail("the floor fell from \(floor) to \(slot)") }
      floor = slot
      if !bucket.hasBase(from: slot) { fail("no base covers the floor \(slot)") }
    case (.delete(let name), _):
      if let slot = name.collectedSlot, slot >= floor { fail("\(name) was deleted, but is live") }
    default: break
    }
  }

  private mutating func store(_ bytes: [UInt8], in slot: UInt64) {
    if slot <= head {
      // A stalled writer stores a collected slot again, and must find out.
      garbageCount += 1
      if slot >= floor { fail("live slot \(slot) was stored twice") }
      return
    }
    guard let entry = SimulatedEntry(bytes: bytes) else { return fail("an entry is unreadable") }
    if let fault = position.fault(of: entry.head) { fail("slot \(slot): \(fault)") }
    var state = states[Int(head)]
    for value in entry.writes { state.apply(value) }
    if state.lastWrite != entry.head.lastWrite { fail("slot \(slot) lacks writes") }
    position = ChainPosition(after: entry.head, digest: codec.digest(of: bytes))
    digests.append(position.digest)
    epochs.append(position.epoch)
    states.append(state)
  }

  /// Takes the report of a writer that an entry is committed.
  mutating func acknowledge(_ end: ChainPosition, hasWrites: Bool, isHonest: Bool) {
    if hasWrites { acknowledged.append((end.slot, end.digest)) }
    if isHonest, end.slot > head || digests[Int(end.slot)] != end.digest {
      fail("the acknowledged entry of slot \(end.slot) is not in the chain")
    }
  }

  /// Checks that a store holds exactly the state of its position.
  mutating func check(_ store: SimulatedStore, _ reader: String) {
    guard let end = store.position else { return fail("\(reader) has no position") }
    guard end.slot <= head, digests[Int(end.slot)] == end.digest else {
      return fail("\(reader) has a slot \(end.slot) that is not in the chain")
    }
    if store.state(after: end.lastWrite) != states[Int(end.slot)] {
      fail("\(reader) has another state than slot \(end.slot)")
    }
  }
}

extension SimulatedBucket {
  /// Whether a base with its file exists, of a slot or later.
  fileprivate func hasBase(from slot: UInt64) -> Bool {
    objects.keys.contains { name in
      guard case .baseHead(let found, let verity) = name, found >= slot else { return false }
      return objects[.base(slot: found, verity: verity)] != nil
    }
  }
}

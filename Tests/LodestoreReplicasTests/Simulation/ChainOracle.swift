import LodestoreFormat

@testable import LodestoreReplicas

/// The truth about the chain, which no process can see: the first entry that each slot got.
struct ChainOracle {
  /// The hashes of the entries, by slot.
  private(set) var hashes: [[UInt8]] = [[]]
  /// The states after the entries, by slot.
  private(set) var states = [SimulatedState()]
  /// The epochs of the entries, by slot.
  private(set) var epochs: [UInt64] = [0]
  /// The values of the parts of a write that is not complete.
  private var pending: [UInt64] = []
  private(set) var position = ChainPosition.start(of: SimulatedReplica.store)
  /// The last position without an incomplete write, to which a store is restored.
  private(set) var completePosition = ChainPosition.start(of: SimulatedReplica.store)
  private(set) var floor: UInt64 = 0
  private(set) var violation: String?
  /// The entries with writes that were reported as committed.
  private(set) var acknowledged: [(slot: UInt64, bytes: [UInt8])] = []
  /// How often a stalled writer has stored a collected slot again.
  private(set) var garbageCount = 0

  var head: UInt64 { position.slot }

  mutating func fail(_ text: String) { violation = violation ?? text }

  /// Takes a request that an honest storage has executed.
  mutating func observe(
    _ request: StorageRequest, _ outcome: StorageOutcome, in bucket: SimulatedBucket
  ) {
    switch (request, outcome) {
    case (.putIfAbsent(.entry(let slot), let bytes), .stored): store(bytes, in: slot, of: bucket)
    case (.putIfAbsent(.floor(let number), let bytes), .stored):
      let name = ReplicaName.floor(number: number).text
      guard let slot = try? FloorRecord(reading: bytes, named: name).slot else {
        return fail("a floor is unreadable")
      }
      if slot <= floor { fail("the floor fell from \(floor) to \(slot)") }
      floor = slot
      if !bucket.hasBase(from: slot) { fail("no base covers the floor \(slot)") }
    case (.delete(let name), _):
      if let slot = name.collectedSlot, slot >= floor { fail("\(name) was deleted, but is live") }
    default: break
    }
  }

  private mutating func store(
    _ bytes: [UInt8], in slot: UInt64, of bucket: SimulatedBucket
  ) {
    if slot <= head {
      // A stalled writer stores a collected slot again, and must find out.
      garbageCount += 1
      if slot >= floor { fail("live slot \(slot) was stored twice") }
      return
    }
    let entry: LogEntry
    do {
      entry = try LogEntry(reading: bytes, slot: slot)
      try position.advance(over: entry)
    } catch { return fail("slot \(slot): \(error)") }
    var state = states[Int(slot) - 1]
    if let base = entry.head.base {
      guard let found = bucket.state(of: base) else {
        return fail("the base of slot \(slot) is absent")
      }
      state = found
    }
    pending = entry.head.kind == .fence ? [] : pending + SimulatedReplica.values(of: entry)
    if !entry.head.part.continues {
      for value in pending { state.apply(value) }
      pending = []
    }
    if state.lastWrite != position.lastWrite { fail("slot \(slot) lacks writes") }
    if position.unfinished == nil { completePosition = position }
    hashes.append(position.hash)
    epochs.append(position.epoch)
    states.append(state)
  }

  /// Takes the report of a writer that an entry is committed.
  ///
  /// - Parameter entry: the bytes of an entry with writes.
  mutating func acknowledge(_ end: ChainPosition, entry: [UInt8]?, isHonest: Bool) {
    if let entry { acknowledged.append((end.slot, entry)) }
    if isHonest, end.slot > head || hashes[Int(end.slot)] != end.hash {
      fail("the acknowledged entry of slot \(end.slot) is not in the chain")
    }
  }

  /// Checks that a store holds exactly the state of its position.
  mutating func check(_ store: SimulatedStore, _ reader: String) {
    guard let end = store.position else { return fail("\(reader) has no position") }
    guard end.slot <= head, hashes[Int(end.slot)] == end.hash else {
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
      guard case .base(let found, let verity, .head) = name, found >= slot else { return false }
      return objects[.base(slot: found, verity: verity, .file)] != nil
    }
  }

  /// The state in the file of a base, by the name of its head.
  fileprivate func state(of name: ReplicaName) -> SimulatedState? {
    guard case .base(let slot, let verity, .head) = name,
      let bytes = objects[.base(slot: slot, verity: verity, .file)]
    else { return nil }
    let words = SimulatedReplica.words(bytes)
    return words.count == 2 ? SimulatedState(lastWrite: words[0], digest: words[1]) : nil
  }
}

import Testing

@testable import LodestoreReplicas

/// The answers of a storage to the entries of one writer.
struct SlotWriterTests {
  private let codec = SimulatedCodec()
  private let start = ChainPosition(
    slot: 4, digest: EntryDigest(words: (7, 0, 0, 0)), epoch: 2, lastWrite: 10)

  private func entry(session: UInt64 = 1, epoch: UInt64 = 2) -> [UInt8] {
    let head = EntryHead(
      kind: epoch > start.epoch ? .fence : .pack, epoch: epoch, slot: 5, previous: start.digest,
      store: ReplicaIdentity(high: 0, low: 1), session: ReplicaIdentity(high: 0, low: session),
      firstWrite: 11, lastWrite: epoch > start.epoch ? 10 : 11)
    return SimulatedEntry(head: head, writes: epoch > start.epoch ? [] : [99]).bytes
  }

  /// Passes answers to a writer, and returns its requests and its last result.
  private func run(
    _ answers: [StorageOutcome]
  ) -> (requests: [StorageRequest], waits: [Int], result: SlotWriter<SimulatedCodec>.Result?) {
    var writer = SlotWriter(codec: codec, position: start, floor: .none)
    #expect(writer.offer(entry()))
    var answers = answers[...]
    var requests: [StorageRequest] = []
    var waits: [Int] = []
    for _ in 0..<100 {
      switch writer.next() {
      case .request(let request):
        requests.append(request)
        guard let answer = answers.popFirst() else { return (requests, waits, nil) }
        writer.receive(answer)
      case .wait(let count): waits.append(count)
      case .finished(let result): return (requests, waits, result)
      case nil: return (requests, waits, nil)
      }
    }
    return (requests, waits, nil)
  }

  @Test func `An entry counts as committed only after the floor was read`() {
    let end = run([.stored, .absent])
    #expect(end.requests.count == 2 && end.requests.last == .get(.floor(number: 1)))
    guard case .committed(let position) = end.result else { return #expect(Bool(false)) }
    #expect(position.slot == 5 && position.lastWrite == 11)
  }

  @Test func `An entry with a lost answer is found in its slot`() {
    let end = run([.unclear, .unclear, .exists, .object(entry()), .absent])
    #expect(end.waits == [1, 2])
    guard case .committed = end.result else { return #expect(Bool(false)) }
  }

  @Test func `An entry of another session or epoch takes the slot`() {
    for other in [entry(session: 2), entry(epoch: 3)] {
      let end = run([.exists, .object(other)])
      guard case .taken(let head, _) = end.result else { return #expect(Bool(false)) }
      #expect(head == codec.head(of: other))
    }
  }

  @Test func `An entry in a collected slot is deleted, and not reported as committed`() {
    let floor = codec.bytes(ofFloor: 6)
    let end = run([.stored, .object(floor), .absent, .absent, .deleted])
    #expect(end.requests.last == .delete(.log(slot: 5)))
    #expect(end.result == .collected(Floor(number: 1, slot: 6)))
  }

  @Test func `An entry that does not continue the chain is refused`() {
    var writer = SlotWriter(codec: codec, position: .origin, floor: .none)
    #expect(!writer.offer(entry()))
    #expect(writer.position == .origin)
  }

  @Test func `Names of objects are read as they are written, and no others`() {
    let names: [ObjectName] = [
      .log(slot: 17), .floor(number: .max), .base(slot: 1, verity: 0xabc),
      .baseHead(slot: .max, verity: .max), .merged(level: 2, first: 1, last: 256),
      .probe(number: 9),
    ]
    for name in names { #expect(ObjectName(path: name.path) == name) }
    for path in ["", "log", "log/1.lsc", "log/+0000000000000000017.lsc", "merged/1", "a/b/c", "/"] {
      #expect(ObjectName(path: path) == nil)
    }
  }
}

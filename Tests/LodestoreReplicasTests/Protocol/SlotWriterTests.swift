import LodestoreFormat
import Testing

@testable import LodestoreReplicas

/// The answers of a storage to the entries of one writer.
struct SlotWriterTests {
  private let start = ChainPosition(
    slot: 4, hash: Entries.hash, epoch: 2, store: Entries.store, lastWrite: 10)

  private func entry(session: UInt64 = 1, epoch: UInt64 = 2) throws -> LogEntry {
    let isFence = epoch > start.epoch
    return try LogEntry(
      EntryHead(
        isFence ? .fence : .pack, epoch: epoch, slot: 5, previous: start.hash, store: start.store,
        session: UUIDBytes(high: 0, low: session), firstWrite: isFence ? nil : 11,
        lastWrite: isFence ? 10 : 11, time: 0, schema: Entries.hash))
  }

  /// Passes answers to a writer, and returns its requests and its last result.
  private func run(
    _ answers: [StorageOutcome]
  ) throws -> (requests: [StorageRequest], waits: [Int], result: SlotWriter.Result?) {
    var writer = SlotWriter(position: start, floor: .none)
    try writer.offer(entry())
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
      }
    }
    return (requests, waits, nil)
  }

  @Test func `An entry counts as committed only after the floor was read`() throws {
    let end = try run([.stored, .absent])
    #expect(end.requests.count == 2 && end.requests.last == .get(.floor(number: 1)))
    guard case .committed(let position) = end.result else { return #expect(Bool(false)) }
    #expect(position.slot == 5 && position.lastWrite == 11)
  }

  @Test func `An entry with a lost answer is found in its slot`() throws {
    let end = try run([.unclear, .unclear, .exists, .object(entry().bytes), .absent])
    #expect(end.waits == [1, 2])
    guard case .committed = end.result else { return #expect(Bool(false)) }
  }

  @Test func `An entry of another session or epoch takes the slot`() throws {
    for other in [try entry(session: 2), try entry(epoch: 3)] {
      #expect(try run([.exists, .object(other.bytes)]).result == .taken(other))
    }
  }

  @Test func `An entry in a collected slot is deleted, and not reported as committed`() throws {
    let floor = FloorRecord(slot: 6, time: 0).bytes
    let end = try run([.stored, .object(floor), .absent, .absent, .deleted])
    #expect(end.requests.last == .delete(.entry(slot: 5)))
    #expect(end.result == .collected(Floor(number: 1, slot: 6)))
  }

  @Test func `An entry that does not continue the chain is refused`() throws {
    var writer = SlotWriter(position: .start(of: Entries.store), floor: .none)
    #expect(throws: PackError.self) { try writer.offer(entry()) }
    #expect(writer.position == .start(of: Entries.store) && writer.isReady)
  }

  @Test func `A second entry is refused while the first one is on its way`() throws {
    var writer = SlotWriter(position: start, floor: .none)
    try writer.offer(entry())
    #expect(!writer.isReady)
    #expect(throws: PackError.self) { try writer.offer(entry(session: 2)) }
    #expect(writer.next().request == .putIfAbsent(.entry(slot: 5), try entry().bytes))
  }
}

extension ProtocolAction {
  /// The request of the step; `nil` for other steps.
  fileprivate var request: StorageRequest? {
    if case .request(let request) = self { request } else { nil }
  }
}

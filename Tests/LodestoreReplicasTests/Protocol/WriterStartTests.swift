import LodestoreFormat
import Testing

@testable import LodestoreReplicas

/// The comparison of a store with the chain before its first write.
struct WriterStartTests {
  private func base(epoch: UInt64) throws -> LogEntry {
    var head = EntryHead(
      .base, epoch: epoch, slot: 1, previous: nil, store: Entries.store,
      session: UUIDBytes(high: 0, low: 1), lastWrite: 3, time: 0, schema: Entries.hash)
    head.base = .base(slot: 1, verity: 1, .head)
    return try LogEntry(head)
  }

  /// Starts a store that knows no entry on a chain of one entry.
  private func start(on entry: LogEntry) -> WriterStart.Result? {
    var machine = WriterStart(
      local: LocalPosition(position: .start(of: Entries.store), lastWrite: 3), floor: .none)
    for _ in 0..<20 {
      switch machine.next() {
      case .request(.get(.entry(slot: 1))): machine.receive(.object(entry.bytes))
      case .request: machine.receive(.absent)
      case .wait: break
      case .finished(let result): return result
      }
    }
    return nil
  }

  @Test func `A first entry whose answer was lost is compared with the store`() throws {
    let entry = try base(epoch: 1)
    #expect(start(on: entry) == .compare(entry))
  }

  @Test func `A first entry of a higher epoch fences the store`() throws {
    let result = try start(on: base(epoch: 2))
    #expect(result == .fenced(epoch: 2, after: .start(of: Entries.store)))
  }
}

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

  /// A store whose recorded place is slot 1 starts on a log whose slots below 3 were collected.
  private func startAfterCollection(
    isFenced: Bool, lacking missing: UInt64? = nil
  ) throws -> WriterStart.Result? {
    var position = ChainPosition.start(of: Entries.store)
    var entries = [try base(epoch: 1)]
    try position.advance(over: entries[0])
    let local = LocalPosition(position: position, lastWrite: 3)
    for slot in UInt64(2)...5 {
      let isFence = isFenced && slot == 5
      let entry = try LogEntry(
        EntryHead(
          isFence ? .fence : .empty, epoch: isFence ? 2 : 1, slot: slot, previous: position.hash,
          store: Entries.store, session: Entries.session, lastWrite: 3, time: 0,
          schema: Entries.hash))
      try position.advance(over: entry)
      entries.append(entry)
    }
    var machine = WriterStart(local: local, floor: .none)
    for _ in 0..<40 {
      switch machine.next() {
      case .request(.get(.entry(let slot))) where (3...5).contains(slot) && slot != missing:
        machine.receive(.object(entries[Int(slot) - 1].bytes))
      case .request(.get(.floor(number: 1))):
        machine.receive(.object(FloorRecord(slot: 3, time: 0).bytes))
      case .request: machine.receive(.absent)
      case .wait: break
      case .finished(.compare): machine.receive(isOwn: true)
      case .finished(let result): return result
      }
    }
    return nil
  }

  @Test func `A fence after collected entries of the store fences the store`() throws {
    guard case .fenced(epoch: 2, let after) = try startAfterCollection(isFenced: true) else {
      Issue.record("the store is not fenced")
      return
    }
    #expect(after.slot == 4 && after.epoch == 1 && after.lastWrite == 3)
  }

  @Test func `Collected entries without a fence show an old copy of the store`() throws {
    let result = try startAfterCollection(isFenced: false)
    #expect(result == .diverged(firstWrite: 3, lastWrite: 3))
  }

  @Test func `A storage that has lost the entry of the floor is refused`() throws {
    guard case .refused(let error) = try startAfterCollection(isFenced: true, lacking: 3) else {
      Issue.record("the storage is not refused")
      return
    }
    #expect(error.code == .missing && error.slot == 3)
  }
}

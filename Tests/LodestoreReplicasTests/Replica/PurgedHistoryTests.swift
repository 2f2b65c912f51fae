#if Datasets
  import EntityStore
  import Foundation
  import LodestoreFormat
  import Synchronization
  import Testing

  @testable import LodestoreReplicas

  /// Stores that were stopped before they recorded their last entries.
  @Suite("Writers that continue after a crash")
  struct PurgedHistoryTests {
    /// Copies a store whose writer has sent writes 1 to 6, of which the copy's mark has writes 1 to
    /// 3.
    ///
    /// The copy is in the state in which a crash would leave the store.
    private func crashed(_ fixture: ReplicaFixture) async throws -> (store: Store, copy: Store) {
      let store = try fixture.store()
      try ReplicaFixture.write(1...3, to: store)
      let writer = try await fixture.writer(store) { $0.checkpointInterval = .seconds(600) }
      try await writer.flush()
      try ReplicaFixture.write(4...6, to: store)
      try await writer.flush()
      _ = try await store.backup(to: fixture.path("crashed.lodestore"))
      try await writer.stop()
      let copy = try fixture.store("crashed.lodestore")
      #expect(try Replica.position(of: copy)?.lastWrite == 3)
      return (store, copy)
    }

    private func purge(_ store: Store) async throws {
      let count = try await store.write { try $0.purgeHistory(before: .distantFuture) }
      #expect(count > 0)
    }

    @Test func `A purge of the history does not stop a writer whose content is the replica's`()
      async throws
    {
      let fixture = try ReplicaFixture()
      let (_, copy) = try await crashed(fixture)
      try await purge(copy)
      let writer = try await fixture.writer(copy)
      try ReplicaFixture.write(7...9, to: copy)
      try await writer.stop()
      #expect(try await fixture.restored() == ReplicaFixture.notes(of: copy))
      #expect(writer.status.replicatedWrite == 9)
    }

    @Test func `Later writes in the history prove the purged ones before them`() async throws {
      let fixture = try ReplicaFixture()
      let (_, copy) = try await crashed(fixture)
      let history = try await copy.read { try $0.history(.all) }
      let fifth = try #require(history.first { $0.token.number == 5 })
      #expect(try await copy.write { try $0.purgeHistory(through: fifth.token) } == 5)
      try ReplicaFixture.write(7...9, to: copy)
      let writer = try await fixture.writer(copy)
      try await writer.stop()
      #expect(try await fixture.restored() == ReplicaFixture.notes(of: copy))
    }

    @Test func `Purged writes that nothing proves are refused with their numbers`() async throws {
      let fixture = try ReplicaFixture()
      let (store, copy) = try await crashed(fixture)
      try ReplicaFixture.write(107...109, to: copy)
      try await purge(copy)
      let error = await #expect(throws: ReplicaError.self) { try await fixture.writer(copy) }
      #expect(error?.code == .diverged)
      #expect(error?.message.contains("writes 4 to 6") == true)
      #expect(try await fixture.restored() == ReplicaFixture.notes(of: store))
    }

    /// Replaces the last entry of the log by one with the same changes and another head.
    private func alterLastEntry(
      _ fixture: ReplicaFixture, _ change: (inout EntryHead) -> Void
    ) throws {
      let folder = fixture.bucketPath + "/log"
      let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
      let url = URL(fileURLWithPath: folder + "/" + (try #require(names.last)))
      let entry = try LogEntry(reading: [UInt8](Data(contentsOf: url)))
      var head = entry.head
      let body = PackBody(
        bytes: Array(entry.bytes[entry.bodyStart...]), changeCount: head.changeCount,
        stepCount: head.stepCount, unpackedLength: head.unpackedLength)
      change(&head)
      try FileManager.default.removeItem(at: url)
      try Data(LogEntry(head, body).bytes).write(to: url)
    }

    @Test func `An entry of another session is not the store's, whatever writes it has`()
      async throws
    {
      let fixture = try ReplicaFixture()
      let (store, copy) = try await crashed(fixture)
      try alterLastEntry(fixture) { $0.session = .random }
      let error = await #expect(throws: ReplicaError.self) { try await fixture.writer(copy) }
      #expect(error?.code == .diverged)
      #expect(try await fixture.restored() == ReplicaFixture.notes(of: store))
    }

    @Test func `An entry after which the content is another is not the store's`() async throws {
      let fixture = try ReplicaFixture()
      let (_, copy) = try await crashed(fixture)
      try alterLastEntry(fixture) { head in
        for key in head.digests.keys { head.digests[key] = ContentDigest() }
      }
      let error = await #expect(throws: ReplicaError.self) { try await fixture.writer(copy) }
      #expect(error?.code == .diverged)
    }

    @Test func `A twin with other writes of a purged history is refused`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      try ReplicaFixture.write(1...3, to: store)
      let writer = try await fixture.writer(store) { $0.checkpointInterval = .seconds(600) }
      try await writer.flush()
      _ = try await store.backup(to: fixture.path("twin.lodestore"))
      try ReplicaFixture.write(4...6, to: store)
      try await writer.stop()
      let twin = try fixture.store("twin.lodestore")
      try ReplicaFixture.write(104...106, to: twin)
      try await purge(twin)
      let error = await #expect(throws: ReplicaError.self) { try await fixture.writer(twin) }
      #expect(error?.code == .diverged)
      #expect(try await fixture.restored() == ReplicaFixture.notes(of: store))
    }

    @Test func `A twin does not take the base of its original for its own`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let path = fixture.path("twin.lodestore")
      let failure = Mutex<(any Error)?>(nil)
      let writer = try await fixture.writer(store) { options in
        options.onStep = { step in
          guard step == .opened else { return }
          do {
            // The twin has the mark of this session, and none of the writes of the base.
            _ = try store.backup(to: path)
            try ReplicaFixture.write(1...3, to: store)
          } catch { failure.withLock { $0 = error } }
        }
      }
      #expect(failure.withLock { $0 } == nil)
      try await writer.stop()
      let twin = try fixture.store("twin.lodestore")
      try ReplicaFixture.write(101...104, to: twin)
      let error = await #expect(throws: ReplicaError.self) { try await fixture.writer(twin) }
      #expect(error?.code == .diverged)
      #expect(try await fixture.restored() == ReplicaFixture.notes(of: store))
    }
  }
#endif

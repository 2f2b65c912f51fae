#if Datasets
  import EntityStore
  import Foundation
  import Testing

  @testable import LodestoreReplicas

  @Suite("Takeovers of replicas")
  struct TakeoverTests {
    @Test func `A takeover fences the writer, and its unsent writes are exported`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store) { $0.flushInterval = .seconds(60) }
      try ReplicaFixture.write(1...6, to: store)
      try await writer.flush()
      let shared = try ReplicaFixture.notes(of: store)
      let taken = try await Replica.takeOver(fixture.bucket, at: fixture.path("new.lodestore"))
      #expect(taken.epoch == 2)
      // The former writer does not know of the takeover.
      try ReplicaFixture.write(20...22, to: store)
      let error = await #expect(throws: ReplicaError.self) { try await writer.flush() }
      #expect(error?.code == .fenced)
      #expect(error?.divergedWrites == 7...9)
      let export = fixture.path("lost.jsonl")
      #expect(try Replica.exportDiverged(store, to: export, from: 7) == 3)
      let lines = try String(contentsOfFile: export, encoding: .utf8).split(separator: "\n")
      #expect(lines.count == 3)
      #expect(lines[0].contains("\"note 20\"") && lines[0].contains("\"write\":7"))
      // The new writer continues the numbers of the log.
      let successor = try Store(at: taken.path, entities: [Note.self], options: Note.options)
      #expect(try ReplicaFixture.notes(of: successor) == shared)
      let second = try await fixture.writer(successor)
      try ReplicaFixture.write(30...39, to: successor)
      try await second.stop()
      #expect(second.status.replicatedWrite == 16)
      #expect(try await fixture.restored() == ReplicaFixture.notes(of: successor))
      #expect(try await fixture.restored(.write(10)).map(\.number).max() == 33)
      // The former writer is refused when it is opened again, too.
      let refused = await #expect(throws: ReplicaError.self) { try await fixture.writer(store) }
      #expect(refused?.code == .fenced)
    }

    @Test func `The copy of a follower can take over`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store)
      try ReplicaFixture.write(1...6, to: store)
      try await writer.flush()
      let follower = try await fixture.follower()
      await follower.stop()
      try ReplicaFixture.write(7...9, to: store)
      try await writer.stop()
      let taken = try await Replica.takeOver(fixture.bucket, at: fixture.path("copy"))
      let successor = try Store(at: taken.path, entities: [Note.self], options: Note.options)
      #expect(try ReplicaFixture.digests(of: successor) == ReplicaFixture.digests(of: store))
      let second = try await fixture.writer(successor)
      try ReplicaFixture.write(30...33, to: successor)
      try await second.stop()
      #expect(try await fixture.restored() == ReplicaFixture.notes(of: successor))
      // A follower follows the log across the takeover.
      let other = try await fixture.follower("other")
      try await other.catchUp()
      #expect(other.status.epoch == 2)
      #expect(try ReplicaFixture.digests(of: other.store) == ReplicaFixture.digests(of: successor))
      await other.stop()
      let refused = await #expect(throws: ReplicaError.self) { try await fixture.follower() }
      #expect(refused?.code == .unsuitableStore)
    }

    @Test func `A copy that a program has written cannot take over`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store)
      try ReplicaFixture.write(1...6, to: store)
      try await writer.flush()
      let follower = try await fixture.follower()
      try ReplicaFixture.write(7...9, to: store)
      try await writer.stop()
      try await follower.catchUp()
      let path = follower.store.path
      await follower.stop()
      let copy = try Store(at: path, entities: [Note.self])
      try await copy.write { tx in
        try tx.update(Note.where { $0.number == 7 }) { $0.title = "changed" }
      }
      copy.close()
      let folder = fixture.path("copy")
      let foreseen = await #expect(throws: ReplicaError.self) {
        try await Replica.takeOverPlan(fixture.bucket, at: folder)
      }
      #expect(foreseen?.code == .diverged)
      let refused = await #expect(throws: ReplicaError.self) {
        try await Replica.takeOver(fixture.bucket, at: folder)
      }
      #expect(refused?.code == .diverged)
      #expect(refused?.localizedDescription.contains("take over at a new path") == true)
      // The log has no fence, so the writer goes on.
      let again = try await fixture.writer(store)
      try ReplicaFixture.write(10...12, to: store)
      try await again.stop()
      #expect(again.status.epoch == 1)
      #expect(try await fixture.restored() == ReplicaFixture.notes(of: store))
    }

    @Test func `A valid lease refuses a takeover unless it is ignored`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store) {
        $0.leaseInterval = .seconds(300)
        $0.name = "machine 1"
      }
      try ReplicaFixture.write(1...3, to: store)
      try await writer.flush()
      let lease = fixture.bucketPath + "/lease.json"
      for _ in 0..<3_000 where !FileManager.default.fileExists(atPath: lease) {
        try await Task.sleep(for: .milliseconds(10))
      }
      let path = fixture.path("new.lodestore")
      let refused = await #expect(throws: ReplicaError.self) {
        try await Replica.takeOver(fixture.bucket, at: path)
      }
      #expect(refused?.code == .busy)
      #expect(refused?.message.contains("machine 1") == true)
      #expect(refused?.message.contains("--ignore-lease") == true)
      var options = ReplicaRestoreOptions()
      options.ignoresLease = true
      #expect(try await Replica.takeOver(fixture.bucket, at: path, options: options).epoch == 2)
      // A writer that stops gives its lease back.
      let successor = try fixture.store("new.lodestore")
      let second = try await fixture.writer(successor) { $0.leaseInterval = .seconds(300) }
      try await second.flush()
      try await second.stop()
      let again = fixture.path("again.lodestore")
      #expect(try await Replica.takeOver(fixture.bucket, at: again).epoch == 3)
    }

    @Test func `Of two copies of one store, one writes and the other is fenced`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store)
      try ReplicaFixture.write(1...3, to: store)
      try await writer.stop()
      _ = try await store.backup(to: fixture.path("twin.lodestore"))
      let twin = try fixture.store("twin.lodestore")
      let first = try await fixture.writer(store)
      let second = try await fixture.writer(twin)
      try ReplicaFixture.write(4...5, to: store)
      try await first.flush()
      try ReplicaFixture.write(104...105, to: twin)
      await #expect(throws: ReplicaError.self) { try await second.flush() }
      #expect(second.status.end != nil)
      try ReplicaFixture.write(6...7, to: store)
      try await first.stop()
      #expect(try await fixture.restored() == ReplicaFixture.notes(of: store))
    }
  }
#endif

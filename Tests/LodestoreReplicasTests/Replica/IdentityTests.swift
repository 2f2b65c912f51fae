#if Datasets
  import EntityStore
  import Foundation
  import KVDumpCommands
  import LodestoreFormat
  import Testing

  @testable import KVDumpDatasetCommands
  @testable import LodestoreReplicas

  /// The UUIDs of stores and replicas, and the refusals that depend on them.
  @Suite("Identity of stores and replicas")
  struct IdentityTests {
    private static func storeID(of store: Store) throws -> [UInt8] {
      try store.read { try $0.replayFacts().storeID }
    }

    /// The token after a write, which a program keeps.
    private static func token(_ number: UInt64, of store: Store) throws -> HistoryToken {
      try store.read { try $0.historyToken(number: number) }
    }

    /// Whether a store reads its history after a token.
    private static func accepts(_ token: HistoryToken, _ store: Store) throws -> Bool {
      do {
        _ = try store.read { try $0.history(.after(token)) }
        return true
      } catch let error as StoreError where error.code == .invalidQuery { return false }
    }

    // MARK: Stores

    @Test func `A restored store refuses tokens of the writer's history`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      try ReplicaFixture.write(1...4, to: store)
      let writer = try await fixture.writer(store)
      try await writer.flush()
      try ReplicaFixture.write(5...6, to: store)
      let token = try Self.token(5, of: store)
      try await store.write { try $0.setHistoryToken(token, ofConsumer: "cloud") }
      try await writer.stop()
      let path = fixture.path("restored.lodestore")
      try await Replica.restore(fixture.bucket, at: path)
      let restored = try fixture.store("restored.lodestore")
      // The restored store has a write 5, too, which is another one.
      try ReplicaFixture.write(11...18, to: restored)
      #expect(try Self.accepts(token, store))
      #expect(try !Self.accepts(token, restored))
      #expect(try await restored.read { try $0.historyConsumers().map(\.name) } == [])
      #expect(try Self.storeID(of: restored) != Self.storeID(of: store))
      await #expect(throws: StoreError.self) {
        try await restored.write { try $0.setHistoryToken(token, ofConsumer: "cloud") }
      }
      // The restored store has no part in the replica.
      let error = await #expect(throws: ReplicaError.self) { try await fixture.writer(restored) }
      #expect(error?.code == .otherStore)
    }

    @Test func `A successor refuses tokens of the former writer, and followers go on`()
      async throws
    {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      try ReplicaFixture.write(1...3, to: store)
      let writer = try await fixture.writer(store)
      try await writer.flush()
      let follower = try await fixture.follower()
      let candidate = try await fixture.follower("candidate")
      for number in 4...6 {
        try ReplicaFixture.write(number...number, to: store)
        try await writer.flush()
        try await candidate.catchUp()
      }
      let foreign = try Self.token(2, of: store)
      let own = try Self.token(1, of: candidate.store)
      try await writer.stop()
      await candidate.stop()
      let taken = try await Replica.takeOver(fixture.bucket, at: fixture.path("candidate"))
      let successor = try Store(at: taken.path, entities: [Note.self], options: Note.options)
      let second = try await fixture.writer(successor)
      try ReplicaFixture.write(11...18, to: successor)
      try await second.flush()
      #expect(try !Self.accepts(foreign, successor))
      // The copy's own history goes on, so its tokens stay valid.
      #expect(try Self.accepts(own, successor))
      try await follower.catchUp()
      #expect(follower.status.replacements == 0 && follower.status.epoch == 2)
      let digests = try ReplicaFixture.digests(of: successor)
      #expect(try ReplicaFixture.digests(of: follower.store) == digests)
      #expect(try !Self.accepts(foreign, follower.store))
      #expect(try !Self.accepts(own, follower.store))
      // Bases of the successor serve new copies.
      try await second.writeBase()
      try await second.stop()
      let late = try await fixture.follower("late")
      #expect(try ReplicaFixture.digests(of: late.store) == digests)
      #expect(try await fixture.restored() == ReplicaFixture.notes(of: successor))
      await late.stop()
      await follower.stop()
    }

    // MARK: Replicas

    @Test func `A store leaves its replica for another storage only if asked`() async throws {
      let fixture = try ReplicaFixture()
      let other = try ReplicaFixture()
      let store = try fixture.store()
      try ReplicaFixture.write(1...3, to: store)
      try await fixture.writer(store).stop()
      let refused = await #expect(throws: ReplicaError.self) { try await other.writer(store) }
      #expect(refused?.code == .otherReplica)
      #expect(try FileManager.default.contentsOfDirectory(atPath: other.bucketPath).isEmpty)
      let foreseen = await #expect(throws: ReplicaError.self) {
        _ = try await Replica.writerPlan(store, to: other.bucket)
      }
      #expect(foreseen?.code == .otherReplica)
      let writer = try await other.writer(store) { $0.beginsNewReplica = true }
      try ReplicaFixture.write(4...5, to: store)
      try await writer.stop()
      #expect(try await other.restored() == ReplicaFixture.notes(of: store))
      let first = try await Replica.summary(of: fixture.bucket).replicaID
      #expect(try await Replica.summary(of: other.bucket).replicaID != first)
      // The store belongs to the second replica now, and never to both.
      for begins in [false, true] {
        let error = await #expect(throws: ReplicaError.self) {
          try await fixture.writer(store) { $0.beginsNewReplica = begins }
        }
        #expect(error?.code == .otherReplica)
        #expect(error?.message.contains(first) == true)
      }
      try await other.writer(store).stop()
    }

    @Test func `A store continues a replica that it began without recording it`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      try ReplicaFixture.write(1...3, to: store)
      let own = UUIDBytes(bytes: try Self.storeID(of: store))
      let info = ReplicaInfo(store: .random, firstStore: own, createdAt: 0)
      try Data(info.bytes).write(
        to: URL(fileURLWithPath: fixture.bucketPath + "/replica.json"))
      try await fixture.writer(store).stop()
      #expect(try await Replica.summary(of: fixture.bucket).replicaID == info.store.text)
      #expect(try await fixture.restored() == ReplicaFixture.notes(of: store))
    }

    @Test func `A copy of another replica cannot take over`() async throws {
      let fixture = try ReplicaFixture()
      let other = try ReplicaFixture()
      for fixture in [fixture, other] {
        let store = try fixture.store()
        try ReplicaFixture.write(1...3, to: store)
        try await fixture.writer(store).stop()
      }
      await (try fixture.follower()).stop()
      let error = await #expect(throws: ReplicaError.self) {
        try await Replica.takeOver(other.bucket, at: fixture.path("copy"))
      }
      #expect(error?.code == .otherReplica)
      #expect(try await Replica.summary(of: other.bucket).epoch == 1)
    }

    @Test func `The command begins a new replica by an option`() async throws {
      let fixture = try ReplicaFixture()
      let other = try ReplicaFixture()
      let store = try fixture.store()
      try ReplicaFixture.write(1...3, to: store)
      try await fixture.writer(store).stop()
      let path = store.path
      store.close()
      func run(_ words: String...) async -> (status: KVDumpCommands.ExitStatus, errors: String) {
        let errors = MemorySink()
        let status = await KVDumpDatasets.execute(
          ["replicate", path, other.bucketPath] + words + ["--format", "json"],
          on: Console(output: MemorySink(), errors: errors))
        return (status, errors.text)
      }
      for words in [["--once"], ["--dry-run"]] {
        let refused = await run(words[0])
        #expect(refused.status == .damagedData)
        #expect(refused.errors.contains("\"code\":\"other-replica\""), "\(refused.errors)")
      }
      #expect(await run("--dry-run", "--new").status == .success)
      #expect(await run("--once", "--new").status == .success)
      #expect(await run("--once").status == .success)
    }

    // MARK: Writers

    @Test func `A second writer of one file is refused while the first runs`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      try ReplicaFixture.write(1...3, to: store)
      let writer = try await fixture.writer(store)
      try await writer.flush()
      // The folder's other name leads to the same file.
      let link = fixture.path("link")
      try FileManager.default.createSymbolicLink(
        atPath: link, withDestinationPath: fixture.path(""))
      for path in ["store.lodestore", "link/store.lodestore"] {
        let second = try fixture.store(path)
        let error = await #expect(throws: ReplicaError.self) { try await fixture.writer(second) }
        #expect(error?.code == .busy, "\(path)")
      }
      if ReplicaProcess.program != nil {
        let line = try await ReplicaProcess.run(
          ["write", store.path, fixture.bucketPath, "4", "5"])
        #expect(line == "busy")
      }
      try await writer.stop()
      #expect(!FileManager.default.fileExists(atPath: store.path + "-replica-lock"))
      try await fixture.writer(store).stop()
    }
  }
#endif

#if Datasets
  import EntityStore
  import Foundation
  import Testing

  @testable import LodestoreReplicas

  /// Restores and takeovers that are killed at each step, and begun again.
  @Suite("Killed restores and takeovers of replicas", .timeLimit(.minutes(30)))
  struct RestoreKillTests {
    /// Steps, and how often they are made before the process dies.
    private static let steps: [(String, Int)] = [
      ("after-get-replica", 1), ("after-list-base", 1), ("after-get-base", 1),
      ("after-get-base", 2), ("downloaded", 1), ("copied", 1), ("after-list-merged", 1),
      ("after-get-merged", 1), ("after-get-log", 1), ("after-get-log", 4), ("after-get-floor", 1),
      ("applied", 1), ("applied", 2), ("complete", 1), ("linked", 1),
    ]
    private static let takeoverSteps: [(String, Int)] =
      steps + [
        ("before-put-log", 1), ("after-put-log", 1), ("after-get-floor", 2), ("fenced", 1),
        ("marked", 1),
      ]

    /// A replica with a base, merged slots and an open end, whose writer has 25 writes.
    private func replica() async throws -> (ReplicaFixture, Store) {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store) { $0.durability = .replicated }
      try await writer.writeBase()
      for number in 1...36 { try await writer.write { try Note.change(number, &$0) } }
      try await fixture.waitForMergedSlots()
      try await writer.stop()
      return (fixture, store)
    }

    @Test(.enabled(if: ReplicaProcess.program != nil), arguments: steps)
    func `A restore killed at any step leaves a whole file or none`(
      step: String, count: Int
    ) async throws {
      let (fixture, store) = try await replica()
      let target = fixture.path("target.lodestore")
      let words = ["restore", target, fixture.bucketPath]
      let died = try await ReplicaProcess.outcome(of: words + [step, "\(count)"])
      #expect(died.line == nil, "the process made no such step")
      if !FileManager.default.fileExists(atPath: target) {
        #expect(try await ReplicaProcess.outcome(of: words).place?.write == 36)
      }
      #expect(try fixture.notes(ofFileAt: target) == ReplicaFixture.notes(of: store))
      try ReplicaFixture.end(store)
    }

    /// The names of files next to a path that restores have made.
    private func remains(of target: String) throws -> [String] {
      let url = URL(fileURLWithPath: target)
      return try FileManager.default.contentsOfDirectory(
        atPath: url.deletingLastPathComponent().path
      ).filter { $0.hasPrefix(url.lastPathComponent + "-restoring-") }
    }

    @Test(
      .enabled(if: ReplicaProcess.program != nil), arguments: ["restore", "takeover"],
      ["downloaded", "copied", "complete", "linked"])
    func `The files of a killed restore go with the next one, and those of a running one stay`(
      command: String, step: String
    ) async throws {
      let (fixture, store) = try await replica()
      defer { store.close() }
      let target = fixture.path("target.lodestore")
      let words = [command, target, fixture.bucketPath]
      #expect(try await ReplicaProcess.outcome(of: words + [step, "1"]).line == nil)
      #expect(try remains(of: target).count >= 2)
      let running = try RestoreScratch(for: target)
      try Data([1]).write(to: URL(fileURLWithPath: running.stem + ".copy"))
      let again = try await ReplicaProcess.outcome(of: words)
      #expect(again.place?.write == 36 || step == "linked" && again.line == "unsuitablePath")
      #expect(try remains(of: target).count == 2)
      #expect(FileManager.default.fileExists(atPath: running.stem + ".copy"))
      withExtendedLifetime(running) {}
      // The files of another path are no files of this one.
      let other = try RestoreScratch(for: fixture.path("target"))
      RestoreScratch.removeAbandoned(for: target)
      #expect(FileManager.default.fileExists(atPath: other.stem + ".lock"))
      withExtendedLifetime(other) {}
    }

    @Test func `A restore leaves no files, also if it fails`() async throws {
      let (fixture, store) = try await replica()
      defer { store.close() }
      let target = fixture.path("target.lodestore")
      _ = try? await Replica.restore(fixture.bucket, to: .write(1_000), at: target)
      try await Replica.restore(fixture.bucket, at: target)
      #expect(try remains(of: target) == [])
    }

    @Test(.enabled(if: ReplicaProcess.program != nil), arguments: takeoverSteps)
    func `A takeover killed at any step is begun again, and one writer is left`(
      step: String, count: Int
    ) async throws {
      let (fixture, store) = try await replica()
      let target = fixture.path("target.lodestore")
      let words = ["takeover", target, fixture.bucketPath]
      let died = try await ReplicaProcess.outcome(of: words + [step, "\(count)"])
      #expect(died.line == nil, "the process made no such step")
      try await fixture.expectReplicated(atLeast: 36)
      if !FileManager.default.fileExists(atPath: target) {
        #expect(try await ReplicaProcess.outcome(of: words).place?.write == 36)
      }
      try await expectWriter(at: target, insteadOf: store, fixture)
    }

    @Test(
      .enabled(if: ReplicaProcess.program != nil),
      arguments: [
        ("after-get-log", 1), ("before-put-log", 1), ("after-put-log", 1), ("fenced", 1),
        ("marked", 1),
      ])
    func `A takeover by a follower's copy killed at any step is begun again`(
      step: String, count: Int
    ) async throws {
      let (fixture, store) = try await replica()
      let copy = fixture.path("copy")
      let followed = try await ReplicaProcess.outcome(of: ["follow", copy, fixture.bucketPath])
      #expect(followed.place?.write == 36)
      let words = ["takeover", copy, fixture.bucketPath]
      let died = try await ReplicaProcess.outcome(of: words + [step, "\(count)"])
      #expect(died.line == nil, "the process made no such step")
      try await fixture.expectReplicated(atLeast: 36)
      // A copy that has become the writer's is not taken over again.
      let again = try await ReplicaProcess.outcome(of: words)
      #expect(again.place?.write == 36 || step == "marked" && again.line == "unsuitableStore")
      let path = try #require(try FollowerFolder(copy).current)
      try await expectWriter(at: path, insteadOf: store, fixture)
    }

    /// Writes with the store that has taken over, and checks that the former writer is fenced.
    private func expectWriter(
      at path: String, insteadOf former: Store, _ fixture: ReplicaFixture
    ) async throws {
      let fenced = await #expect(throws: ReplicaError.self) { try await fixture.writer(former) }
      #expect(fenced?.code == .fenced)
      let store = try Store(at: path, entities: [Note.self], options: Note.options)
      let writer = try await fixture.writer(store)
      try ReplicaFixture.write(37...40, to: store)
      try await writer.stop()
      #expect(writer.status.replicatedWrite == 40)
      #expect(try await fixture.restored() == ReplicaFixture.notes(of: store))
      let follower = try await fixture.follower("reader")
      try await follower.catchUp()
      try await ReplicaFixture.end(follower, equalTo: store)
      try ReplicaFixture.end(store)
      try ReplicaFixture.end(former)
    }
  }
#endif

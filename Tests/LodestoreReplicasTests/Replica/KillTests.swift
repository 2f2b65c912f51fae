#if Datasets
  import EntityStore
  import Foundation
  import Testing

  @testable import LodestoreReplicas

  /// Processes that are killed at each step, and continue.
  @Suite("Killed writers and followers of replicas")
  struct KillTests {
    @Test(
      .enabled(if: ReplicaProcess.program != nil), arguments: WriterStep.allCases, [1, 2, 5])
    func `A writer killed at any step continues, and nothing is lost`(
      step: WriterStep, count: Int
    ) async throws {
      let fixture = try ReplicaFixture()
      let store = fixture.path("store.lodestore")
      let line = try await ReplicaProcess.run(
        ["write", store, fixture.bucketPath, "1", "24", step.rawValue, "\(count)"])
      if let line { #expect(line.contains(" "), "\(line)") }
      // A restore after the death has each write that was reported as replicated, and no other
      // state than one of the writer's.
      let again = try await ReplicaProcess.run(["write", store, fixture.bucketPath, "1", "30"])
      #expect(again?.contains(" ") == true, "\(again ?? "killed")")
      let writer = try fixture.store()
      defer { writer.close() }
      #expect(try await fixture.restored() == ReplicaFixture.notes(of: writer))
      let follower = try await fixture.follower()
      try await follower.catchUp()
      #expect(
        try ReplicaFixture.digests(of: follower.store) == ReplicaFixture.digests(of: writer))
      await follower.stop()
    }

    @Test(
      .enabled(if: ReplicaProcess.program != nil), arguments: FollowerStep.allCases, [1, 2, 4])
    func `A follower killed at any step applies each change once`(
      step: FollowerStep, count: Int
    ) async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store) { $0.durability = .replicated }
      for number in 1...20 { try await writer.write { try Note.change(number, &$0) } }
      let words = ["follow", fixture.path("copy"), fixture.bucketPath]
      let died = try await ReplicaProcess.run(words + [step.rawValue, "\(count)"])
      if let died { #expect(died.contains(" "), "\(died)") }
      for number in 21...25 { try await writer.write { try Note.change(number, &$0) } }
      let line = try await ReplicaProcess.run(words)
      #expect(line?.hasSuffix(" 25") == true, "\(line ?? "killed")")
      try await writer.stop()
      let follower = try await fixture.follower("copy")
      #expect(try ReplicaFixture.digests(of: follower.store) == ReplicaFixture.digests(of: store))
      await follower.stop()
    }

    @Test(.enabled(if: ReplicaProcess.program != nil))
    func `Commits of other processes are sent, too`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store)
      try await writer.flush()
      #expect(try await ReplicaProcess.run(["plain", store.path, "1", "5"]) == "done")
      for _ in 0..<300 where writer.status.replicatedWrite < 5 {
        try await Task.sleep(for: .milliseconds(20))
      }
      #expect(writer.status.replicatedWrite == 5)
      #expect(try await fixture.restored() == ReplicaFixture.notes(of: store))
    }
  }
#endif

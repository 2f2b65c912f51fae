#if Datasets
  import EntityStore
  import Foundation
  import Testing

  @testable import LodestoreReplicas

  /// Processes that may open few files.
  @Suite("Replicas without file descriptors", .timeLimit(.minutes(30)))
  struct FewDescriptorsTests {
    /// The limits range from too few for any file to nearly enough.
    ///
    /// A process with fewer descriptors, or with none at a bad moment, is ended by libdispatch.
    private static let limits = [8, 10, 12, 14, 16, 18, 20]

    @Test(
      .enabled(if: ReplicaProcess.program != nil), arguments: ["restore", "follow", "takeover"])
    func `A process without descriptors fails with an error, and succeeds later`(
      command: String
    ) async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store)
      for number in 1...6 {
        try ReplicaFixture.write(number...number, to: store)
        try await writer.flush()
      }
      try await writer.stop()
      let path = fixture.path("other")
      for limit in Self.limits {
        let outcome = try await ReplicaProcess.outcome(
          of: [command, path, fixture.bucketPath], ["LODESTORE_DESCRIPTORS": "\(limit)"])
        if outcome.place != nil { break }
        if command != "follow" {
          #expect(!FileManager.default.fileExists(atPath: path), "\(limit)")
        }
      }
      if !FileManager.default.fileExists(atPath: path) || command == "follow" {
        let last = try await ReplicaProcess.outcome(of: [command, path, fixture.bucketPath])
        #expect(last.place?.write == 6, "\(last.line ?? "killed")")
      }
      if command != "follow" {
        #expect(try fixture.notes(ofFileAt: path) == ReplicaFixture.notes(of: store))
      }
      try ReplicaFixture.end(store)
    }

    @Test(.enabled(if: ReplicaProcess.program != nil))
    func `A writer without descriptors loses nothing that it reported`() async throws {
      let fixture = try ReplicaFixture()
      let path = fixture.path("store.lodestore")
      var next = 1
      for limit in Self.limits {
        let session = try RunningSession(
          ["write", path, fixture.bucketPath, "\(next)", "\(next + 3)"],
          ["LODESTORE_DESCRIPTORS": "\(limit)"])
        // A writer whose storage fails repeats its request without an end.
        for _ in 0..<100 where session.isRunning { try await Task.sleep(for: .milliseconds(10)) }
        session.send(SIGKILL)
        _ = try await session.end()
        try await fixture.expectReplicated(atLeast: session.acknowledged)
        next = max(next, session.acknowledged + 1)
      }
      let last = try await ReplicaProcess.outcome(
        of: ["write", path, fixture.bucketPath, "\(next)", "40"])
      #expect(last.place?.write == 40, "\(last.line ?? "killed")")
    }
  }
#endif

#if Datasets
  import EntityStore
  import Foundation
  import Synchronization
  import Testing

  @testable import LodestoreReplicas

  /// Replicas on real S3-compatible servers.
  @Suite("Replicas on servers", .serialized)
  struct ReplicaServerTests {
    @Test(arguments: StorageServer.Product.trusted)
    func `A replica is written, followed, collected, restored and taken over`(
      on product: StorageServer.Product
    ) async throws {
      guard let server = try StorageServer(product) else { return }
      defer { withExtendedLifetime(server) {} }
      let fixture = try ReplicaFixture(ReplicaStorage(try server.storage("some/pods")))
      let store = try fixture.store()
      try ReplicaFixture.write(1...5, to: store)
      let writer = try await fixture.writer(store) {
        $0.probesStorage = product != .moto
        $0.retention = .zero
        $0.leaseInterval = .seconds(30)
      }
      try await writer.flush()
      let follower = try await fixture.follower { $0.id = "laptop" }
      for round in 1...20 {
        try ReplicaFixture.write(round * 10...round * 10 + 2, to: store)
        try await writer.flush()
      }
      try await writer.writeBase()
      try await follower.catchUp()
      let digests = try ReplicaFixture.digests(of: store)
      #expect(try ReplicaFixture.digests(of: follower.store) == digests)
      try await writer.collect()
      #expect(try await fixture.restored() == ReplicaFixture.notes(of: store))
      try await writer.stop()
      let summary = try await Replica.summary(of: fixture.bucket)
      #expect(summary.lastWrite == 65 && summary.followers.map(\.id) == ["laptop"])
      let taken = try await Replica.takeOver(fixture.bucket, at: fixture.path("new.lodestore"))
      #expect(taken.epoch == 2 && taken.lastWrite == 65)
      let fenced = await #expect(throws: ReplicaError.self) { try await fixture.writer(store) }
      #expect(fenced?.code == .fenced)
      try await follower.catchUp()
      #expect(follower.status.epoch == 2)
      try await ReplicaFixture.end(follower, equalTo: store)
      try ReplicaFixture.end(store)
      let successor = try Store(at: taken.path, entities: [Note.self], options: Note.options)
      let second = try await fixture.writer(successor)
      try ReplicaFixture.write(300...309, to: successor)
      try await second.stop()
      #expect(second.status.replicatedWrite == 75)
      #expect(try await fixture.restored() == ReplicaFixture.notes(of: successor))
      #expect(try await fixture.restored(.write(70)).map(\.number).max() == 304)
      try ReplicaFixture.end(successor)
    }

    @Test(
      .enabled(if: ReplicaProcess.program != nil), arguments: StorageServer.Product.trusted,
      ["before-put-log", "after-put-log", "after-put-base", "after-put-floor", "before-delete-log"])
    func `A writer killed at a request continues`(
      on product: StorageServer.Product, step: String
    ) async throws {
      guard let server = try StorageServer(product) else { return }
      defer { withExtendedLifetime(server) {} }
      let fixture = try ReplicaFixture(ReplicaStorage(try server.storage("pods")))
      let words = ["write", fixture.path("store.lodestore"), server.address("pods")]
      let died = try await ReplicaProcess.outcome(of: words + ["1", "12", step, "1"])
      #expect(died.line == nil, "\(died.line ?? "")")
      try await fixture.expectReplicated(atLeast: died.acknowledged)
      let again = try await ReplicaProcess.outcome(of: words + ["\(died.acknowledged + 1)", "16"])
      #expect(again.place?.write == 16, "\(again.line ?? "killed")")
      let target = fixture.path("new.lodestore")
      let takeover = ["takeover", target, server.address("pods")]
      #expect(try await ReplicaProcess.outcome(of: takeover + ["fenced", "1"]).line == nil)
      #expect(try await ReplicaProcess.outcome(of: takeover).place?.write == 16)
      #expect(try fixture.notes(ofFileAt: target) == (try ReplicaFixture.state(after: 16)))
      let follow = ["follow", fixture.path("copy"), server.address("pods")]
      #expect(try await ReplicaProcess.outcome(of: follow + ["applied", "1"]).line == nil)
      #expect(try await ReplicaProcess.outcome(of: follow).place?.write == 16)
      try ReplicaFixture.expectSound(fixture.path("store.lodestore"))
    }

    @Test func `Keys that the server refuses for a time stop nobody for good`() async throws {
      guard let server = try StorageServer(.seaweed) else { return }
      defer { withExtendedLifetime(server) {} }
      var options = S3Storage.Options()
      options.region = "us-east-1"
      let wrong = S3Credentials(
        accessKey: StorageServer.credentials.accessKey, secretKey: "expired")
      let refused = try S3Storage(
        server.address("pods"), credentials: .keys(wrong), options: options)
      let life = KeyLife()
      let storage = WatchedStorage(try server.storage("pods")) {
        (_, _) async throws(StorageError) in
        if life.isOverAtCall() { _ = try await refused.list(prefix: "log/", after: nil, limit: 1) }
      }
      let fixture = try ReplicaFixture(ReplicaStorage(storage))
      let store = try fixture.store()
      let writer = try await fixture.writer(store)
      try ReplicaFixture.write(1...3, to: store)
      try await writer.flush()
      let follower = try await fixture.follower()
      try await follower.catchUp()
      life.set(0)
      try ReplicaFixture.write(4...6, to: store)
      for _ in 0..<3_000 where writer.status.lastFailure == nil {
        try await Task.sleep(for: .milliseconds(20))
      }
      #expect(writer.status.lastFailure?.code == .storage && writer.status.end == nil)
      #expect(writer.status.lagInWrites == 3)
      func expectRefused(_ body: () async throws -> Void) async {
        let error = await #expect(throws: ReplicaError.self) { try await body() }
        #expect(error?.code == .storage)
        #expect(error?.message.contains("check the secret key") == true, "\(error?.message ?? "")")
      }
      await expectRefused { try await follower.catchUp() }
      await expectRefused { _ = try await fixture.restored() }
      let path = fixture.path("new.lodestore")
      await expectRefused { _ = try await Replica.takeOver(fixture.bucket, at: path) }
      life.set(nil)
      try await writer.flush()
      #expect(writer.status.lastFailure == nil)
      try await follower.catchUp()
      #expect(try await fixture.restored() == ReplicaFixture.notes(of: store))
      // The keys expire at many requests of takeovers. Each one after the fence leaves a fence.
      for count in stride(from: 1, through: 121, by: 3) {
        life.set(count)
        let taken = try? await Replica.takeOver(fixture.bucket, at: path)
        life.set(nil)
        if taken != nil { break }
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(count < 121)
      }
      #expect(try fixture.notes(ofFileAt: path) == ReplicaFixture.notes(of: store))
      let fenced = await #expect(throws: ReplicaError.self) {
        try ReplicaFixture.write(7...8, to: store)
        try await writer.flush()
      }
      #expect(fenced?.code == .fenced)
      try await follower.catchUp()
      await follower.stop()
      try ReplicaFixture.end(store)
    }

    @Test func `A server that ignores conditions is refused before the replica exists`()
      async throws
    {
      guard let server = try StorageServer(.rclone) else { return }
      defer { withExtendedLifetime(server) {} }
      let fixture = try ReplicaFixture(ReplicaStorage(try server.storage("pods")))
      let store = try fixture.store()
      let error = await #expect(throws: ReplicaError.self) {
        try await fixture.writer(store) { $0.probesStorage = true }
      }
      #expect(error?.code == .untrustworthyStorage)
      let status = await #expect(throws: ReplicaError.self) {
        try await Replica.summary(of: fixture.bucket)
      }
      #expect(status?.code == .noBase)
    }

    @Test func `A writer waits for a server that is away, and tells its lag`() async throws {
      guard let server = try StorageServer(.seaweed, isShared: false) else { return }
      let fixture = try ReplicaFixture(ReplicaStorage(try server.storage("pods")))
      let store = try fixture.store()
      let writer = try await fixture.writer(store)
      try ReplicaFixture.write(1...3, to: store)
      try await writer.flush()
      server.stop()
      try ReplicaFixture.write(4...6, to: store)
      for _ in 0..<3_000 where writer.status.traffic.failures == 0 {
        try await Task.sleep(for: .milliseconds(20))
      }
      #expect(writer.status.traffic.failures > 0 && writer.status.end == nil)
      #expect(writer.status.lagInWrites == 3 && writer.status.lag > .zero)
      let stopping = Task { try await writer.stop() }
      stopping.cancel()
      await #expect(throws: CancellationError.self) { try await stopping.value }
      #expect(writer.status.lagInWrites == 3)
    }
  }

  /// The number of calls for which keys are valid; `nil` for no end.
  private final class KeyLife: Sendable {
    private let rest = Mutex<Int?>(nil)

    func set(_ count: Int?) { rest.withLock { $0 = count } }

    /// Counts a call; returns whether the keys have expired before.
    func isOverAtCall() -> Bool {
      rest.withLock { rest in
        guard let count = rest else { return false }
        rest = max(count - 1, 0)
        return count == 0
      }
    }
  }
#endif

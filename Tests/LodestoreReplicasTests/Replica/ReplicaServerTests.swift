#if Datasets
  import EntityStore
  import Foundation
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
      let fixture = try ReplicaFixture(Bucket(try server.storage("some/pods")))
      let store = try fixture.store()
      try ReplicaFixture.write(1...5, to: store)
      let writer = try await fixture.writer(store) {
        $0.probesStorage = true
        $0.keepsStatesFor = .zero
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
      await follower.stop()
    }

    @Test func `A server that ignores conditions is refused before the replica exists`()
      async throws
    {
      guard let server = try StorageServer(.rclone) else { return }
      defer { withExtendedLifetime(server) {} }
      let fixture = try ReplicaFixture(Bucket(try server.storage("pods")))
      let store = try fixture.store()
      let error = await #expect(throws: ReplicaError.self) { try await fixture.writer(store) }
      #expect(error?.code == .untrustworthyStorage)
      let status = await #expect(throws: ReplicaError.self) {
        try await Replica.summary(of: fixture.bucket)
      }
      #expect(status?.code == .noBase)
    }

    @Test func `A writer waits for a server that is away, and tells its lag`() async throws {
      guard let server = try StorageServer(.seaweed) else { return }
      let fixture = try ReplicaFixture(Bucket(try server.storage("pods")))
      let store = try fixture.store()
      let writer = try await fixture.writer(store)
      try ReplicaFixture.write(1...3, to: store)
      try await writer.flush()
      server.stop()
      try ReplicaFixture.write(4...6, to: store)
      for _ in 0..<500 where writer.status.traffic.failures == 0 {
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
#endif

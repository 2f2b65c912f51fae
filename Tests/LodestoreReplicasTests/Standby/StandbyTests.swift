#if Datasets
  import EntityStore
  import Foundation
  import Testing

  @testable import LodestoreReplicas

  @Suite("Standbys")
  struct StandbyTests {
    private static func options(
      _ name: String = "standby", look: Duration = .milliseconds(50)
    ) -> ReplicaStandbyOptions {
      var options = ReplicaStandbyOptions()
      options.leasePollInterval = look
      options.name = name
      options.storeOptions = Note.options
      options.follower.pollInterval = .seconds(600)
      return options
    }

    private func standby(
      _ fixture: ReplicaFixture, _ name: String = "standby"
    ) async throws -> ReplicaStandby {
      try await Replica.standby(
        at: fixture.path(name), of: fixture.bucket, entities: [Note.self],
        options: Self.options(name))
    }

    @Test func `A standby leaves a living writer alone, and takes over from a dead one`()
      async throws
    {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      var writer: ReplicaWriter? = try await fixture.writer(store) {
        $0.leaseInterval = .seconds(3)
        $0.name = "first"
      }
      try ReplicaFixture.write(1...6, to: store)
      try await writer?.flush()
      let standby = try await standby(fixture)
      let waiting = Task { try await standby.waitToTakeOver() }
      // The lease lasts nine seconds, and the writer commits nothing.
      try await Task.sleep(for: .seconds(12))
      #expect(standby.status.takeover == nil && standby.status.leaseHolder == "first")
      #expect(standby.status.timeUntilTakeover.map { $0 > .zero } == true)
      let follower = try #require(standby.follower)
      #expect(try ReplicaFixture.notes(of: follower.store) == ReplicaFixture.notes(of: store))
      try ReplicaFixture.write(7...9, to: store)
      try await writer?.flush()
      // Without a stop the lease stays.
      writer = nil
      let taken = try await waiting.value
      #expect(standby.status.takeover?.epoch == 2 && standby.follower == nil)
      #expect(try ReplicaFixture.notes(of: taken) == ReplicaFixture.notes(of: store))
      let successor = try await fixture.writer(taken)
      try ReplicaFixture.write(20...25, to: taken)
      try await successor.stop()
      #expect(try await fixture.restored() == ReplicaFixture.notes(of: taken))
      let refused = await #expect(throws: ReplicaError.self) { try await fixture.writer(store) }
      #expect(refused?.code == .fenced)
      // The folder's store is the writer's, and the next process continues with it.
      taken.close()
      let again = try await self.standby(fixture)
      let reopened = try await again.waitToTakeOver()
      #expect(again.follower == nil && reopened.path == taken.path)
    }

    @Test func `Of two standbys, one takes over and the other follows it`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      var writer: ReplicaWriter? = try await fixture.writer(store) {
        $0.leaseInterval = .seconds(2)
      }
      try ReplicaFixture.write(1...6, to: store)
      try await writer?.flush()
      let standbys = [
        try await standby(fixture, "one"), try await standby(fixture, "two"),
      ]
      let fixtureBucket = fixture.bucket
      let winners = try await withThrowingTaskGroup(of: Int.self) { group in
        for (index, standby) in standbys.enumerated() {
          group.addTask {
            let taken = try await standby.waitToTakeOver()
            var options = ReplicaFixture.options
            options.leaseInterval = .seconds(2)
            let writer = try await Replica.writer(taken, to: fixtureBucket, options: options)
            try ReplicaFixture.write(20...22, to: taken)
            try await writer.flush()
            try await Task.sleep(for: .seconds(8))
            try await writer.stop()
            return index
          }
        }
        try await Task.sleep(for: .seconds(1))
        writer = nil
        let first = try await group.next()
        group.cancelAll()
        return first
      }
      let winner = try #require(winners)
      #expect(standbys[winner].status.takeover?.epoch == 2)
      #expect(standbys[1 - winner].status.takeover == nil)
      let other = try #require(standbys[1 - winner].follower)
      try await other.catchUp()
      #expect(other.status.epoch == 2 && other.status.lastWrite == 9)
      await standbys[1 - winner].stop()
    }

    @Test func `A writer without commits learns of its fence by the lease`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store) { $0.leaseInterval = .milliseconds(200) }
      try ReplicaFixture.write(1...3, to: store)
      try await writer.flush()
      var options = ReplicaRestoreOptions()
      options.ignoresLease = true
      let taken = try await Replica.takeOver(
        fixture.bucket, at: fixture.path("new.lodestore"), options: options)
      let successor = try Store(at: taken.path, entities: [Note.self], options: Note.options)
      let second = try await fixture.writer(successor) { $0.leaseInterval = .milliseconds(200) }
      for _ in 0..<3_000 where writer.status.end == nil {
        try await Task.sleep(for: .milliseconds(20))
      }
      #expect(writer.status.end?.code == .fenced)
      #expect(second.status.end == nil)
      try await second.stop()
    }

    @Test func `A takeover waits for a lease by its own clock`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store)
      try ReplicaFixture.write(1...3, to: store)
      try await writer.stop()
      // The holder's clock is ten years ahead.
      let until = Date().timeIntervalSinceReferenceDate + 315_360_000
      let lease = Lease(holder: "elsewhere", epoch: 1, until: until, milliseconds: 700)
      try Data(lease.bytes).write(
        to: URL(fileURLWithPath: fixture.bucketPath + "/lease.json"))
      let path = fixture.path("new.lodestore")
      let refused = await #expect(throws: ReplicaError.self) {
        try await Replica.takeOver(fixture.bucket, at: path)
      }
      #expect(refused?.code == .busy && refused?.message.contains("in 1 seconds") == true)
      var options = ReplicaRestoreOptions()
      options.waitsForLease = true
      let start = ContinuousClock.now
      #expect(try await Replica.takeOver(fixture.bucket, at: path, options: options).epoch == 2)
      #expect(start.duration(to: .now) >= .milliseconds(700))
    }

    @Test func `A standby without a lease waits, unless a duration is assumed`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store)
      try ReplicaFixture.write(1...3, to: store)
      try await writer.stop()
      let standby = try await standby(fixture)
      let waiting = Task { try await standby.waitToTakeOver() }
      try await Task.sleep(for: .milliseconds(500))
      waiting.cancel()
      await #expect(throws: CancellationError.self) { try await waiting.value }
      #expect(standby.status.timeUntilTakeover == nil && standby.status.takeover == nil)
      await standby.stop()
      var options = Self.options()
      options.assumedLease = .milliseconds(300)
      let other = try await Replica.standby(
        at: fixture.path("other"), of: fixture.bucket, entities: [Note.self], options: options)
      let taken = try await other.waitToTakeOver()
      #expect(try ReplicaFixture.notes(of: taken) == ReplicaFixture.notes(of: store))
    }

    @Test func `A standby follows all entities`() async throws {
      let fixture = try ReplicaFixture()
      var options = Self.options()
      options.follower.followedEntities = ["Note"]
      let chosen = options
      let refused = await #expect(throws: ReplicaError.self) {
        try await Replica.standby(
          at: fixture.path("copy"), of: fixture.bucket, entities: [Note.self], options: chosen)
      }
      #expect(refused?.code == .unsuitableStore)
    }
  }
#endif

#if Datasets
  import EntityStore
  import Foundation
  import Synchronization
  import Testing

  @testable import LodestoreReplicas

  /// The requests of followers, and the replica that they find.
  @Suite("Polls of followers")
  struct PollTests {
    /// The requests of a follower, and a clock that a test moves.
    private final class Watch: Sendable {
      private let start = ContinuousClock.now
      private let state = Mutex((log: 0, floor: 0, passed: Duration.zero, isHeld: false))

      var counts: (log: Int, floor: Int) { state.withLock { ($0.log, $0.floor) } }

      func storage(_ storage: any ObjectStorage) -> ReplicaStorage {
        let watched = WatchedStorage(storage) { operation, name async throws(StorageError) in
          guard operation == .get else { return }
          self.state.withLock { state in
            if name.hasPrefix("log/") { state.log += 1 }
            if name.hasPrefix("floor/") { state.floor += 1 }
          }
          while name.hasPrefix("log/"), self.state.withLock({ $0.isHeld }) {
            try? await Task.sleep(for: .milliseconds(2))
          }
        }
        var clock = ReplicaClock.system
        clock.instant = { self.start + self.state.withLock { $0.passed } }
        return ReplicaStorage(watched, clock: clock)
      }

      func hold(_ isHeld: Bool) { state.withLock { $0.isHeld = isHeld } }

      func advance(_ duration: Duration) { state.withLock { $0.passed += duration } }

      /// Waits for a number of further reads of the log.
      func waitForPolls(_ count: Int) async throws {
        let end = counts.log + count
        for _ in 0..<6_000 where counts.log < end { try await Task.sleep(for: .milliseconds(10)) }
        try #require(counts.log >= end)
      }
    }

    @Test func `A poll without news is one request, and reads the floor at intervals`()
      async throws
    {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store)
      try ReplicaFixture.write(1...3, to: store)
      try await writer.stop()
      let watch = Watch()
      var options = ReplicaFollowerOptions()
      options.pollInterval = .milliseconds(5)
      let follower = try await Replica.follower(
        at: fixture.path("copy"), of: watch.storage(fixture.bucket.storage), entities: [Note.self],
        options: options)
      try await watch.waitForPolls(10)
      let before = watch.counts.floor
      try await watch.waitForPolls(40)
      #expect(watch.counts.floor == before)
      watch.advance(.seconds(31))
      try await watch.waitForPolls(10)
      #expect(watch.counts.floor == before + 1)
      // A call for all entries reads the floor.
      try await follower.catchUp()
      #expect(watch.counts.floor == before + 2)
      try await ReplicaFixture.end(follower, equalTo: store)
      try ReplicaFixture.end(store)
    }

    @Test func `A collection between two polls is noticed later, and nothing is lost`()
      async throws
    {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store) { $0.retention = .zero }
      try ReplicaFixture.write(1...3, to: store)
      try await writer.flush()
      let watch = Watch()
      var options = ReplicaFollowerOptions()
      options.pollInterval = .milliseconds(5)
      let follower = try await Replica.follower(
        at: fixture.path("copy"), of: watch.storage(fixture.bucket.storage), entities: [Note.self],
        options: options)
      try await watch.waitForPolls(5)
      let slot = follower.status.slot
      // The next poll finds a slot that was written and collected.
      watch.hold(true)
      try await watch.waitForPolls(1)
      for number in 4...6 {
        try ReplicaFixture.write(number...number, to: store)
        try await writer.flush()
      }
      try await writer.writeBase()
      try await writer.collect()
      watch.hold(false)
      try await watch.waitForPolls(5)
      #expect(follower.status.slot == slot && follower.status.lastFailure == nil)
      #expect(try ReplicaFixture.notes(of: follower.store).count == 3)
      watch.advance(.seconds(31))
      for _ in 0..<3_000 where follower.status.slot == slot {
        try await Task.sleep(for: .milliseconds(10))
      }
      #expect(follower.status.replacements == 1)
      try await ReplicaFixture.end(follower, equalTo: store)
      try await writer.stop()
      try ReplicaFixture.end(store)
    }

    @Test func `A copy is refused with the storage of another replica`() async throws {
      let (fixture, foreign) = (try ReplicaFixture(), try ReplicaFixture())
      for fixture in [fixture, foreign] {
        let store = try fixture.store()
        let writer = try await fixture.writer(store)
        try ReplicaFixture.write(1...3, to: store)
        try await writer.stop()
        store.close()
      }
      var follower = try await fixture.follower()
      try await follower.catchUp()
      await follower.stop()
      var options = ReplicaFollowerOptions()
      options.pollInterval = .seconds(600)
      let error = await #expect(throws: ReplicaError.self) {
        try await Replica.follower(
          at: fixture.path("copy"), of: foreign.bucket, entities: [Note.self], options: options)
      }
      #expect(error?.code == .otherReplica)
      // The refusal leaves the folder free.
      follower = try await fixture.follower()
      try await follower.catchUp()
      await follower.stop()
      // A copy is opened without its storage, and refused as soon as the storage answers.
      let isAway = Mutex(true)
      let storage = WatchedStorage(foreign.bucket.storage) { _, name throws(StorageError) in
        if isAway.withLock({ $0 }) {
          throw StorageError(.unavailable, .get, key: name, place: "here", reason: "away")
        }
      }
      options.failureLimit = 1
      let away = try await Replica.follower(
        at: fixture.path("copy"), of: ReplicaStorage(storage), entities: [Note.self],
        options: options)
      #expect(try ReplicaFixture.notes(of: away.store).count == 3)
      isAway.withLock { $0 = false }
      let late = await #expect(throws: ReplicaError.self) { try await away.catchUp() }
      #expect(late?.code == .otherReplica)
      await away.stop()
    }
  }
#endif

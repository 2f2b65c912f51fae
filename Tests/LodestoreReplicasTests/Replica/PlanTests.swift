#if Datasets
  import EntityStore
  import Foundation
  import Testing

  @testable import LodestoreReplicas

  /// Plans agree with the results of the real calls.
  @Suite("Plans of replicas")
  struct PlanTests {
    /// A replica with a base in the middle of a log with merged slots.
    private func replica() async throws -> (fixture: ReplicaFixture, store: Store) {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store)
      for number in 1...52 {
        try ReplicaFixture.write(number...number, to: store)
        if number % 4 == 0 {
          try ReplicaFixture.write(number * 100...number * 100, to: store)
        }
        try await writer.flush()
        if number == 5 { try await writer.writeBase() }
      }
      let merged = fixture.bucketPath + "/merged/1"
      for _ in 0..<3_000 {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: merged)) ?? []
        if names.filter({ $0.hasSuffix(".lsc") }).count >= 2 { break }
        try await Task.sleep(for: .milliseconds(20))
      }
      try await writer.stop()
      return (fixture, store)
    }

    /// The report of a restore, or its error as text.
    private func outcome(
      _ body: () async throws -> ReplicaRestoreReport
    ) async -> (report: ReplicaRestoreReport?, error: String?) {
      do {
        return (try await body(), nil)
      } catch { return (nil, "\(error)") }
    }

    @Test func `The plan of a restore is its report`() async throws {
      let (fixture, store) = try await replica()
      defer { store.close() }
      let last = try await Replica.summary(of: fixture.bucket)
      let slots = try #require(last.slots)
      let names = try FileManager.default.contentsOfDirectory(
        atPath: fixture.bucketPath + "/merged/1")
      #expect(names.count >= 2)
      var targets: [ReplicaRestoreTarget] = [.latest, .time(.distantFuture), .time(.distantPast)]
      targets += stride(from: 1, through: last.lastWrite + 1, by: 5).map { .write($0) }
      targets += stride(from: slots.lowerBound, through: slots.upperBound + 1, by: 6).map {
        .slot($0)
      }
      for write in stride(from: UInt64(2), through: last.lastWrite, by: 13) {
        let time = try await Replica.restorePlan(fixture.bucket, to: .write(write)).time
        if let time { targets += [.time(time), .time(time + 0.0005), .time(time - 0.0005)] }
      }
      for (index, target) in targets.enumerated() {
        let plan = await outcome { try await Replica.restorePlan(fixture.bucket, to: target) }
        let path = fixture.path("restored-\(index)")
        let real = await outcome {
          try await Replica.restore(fixture.bucket, to: target, at: path)
        }
        #expect(plan.report == real.report, "\(target)")
        #expect(plan.error == real.error, "\(target)")
      }
      let path = fixture.path("restored-0")
      let refused = await #expect(throws: ReplicaError.self) {
        try await Replica.restorePlan(fixture.bucket, at: path)
      }
      #expect(refused?.code == .unsuitablePath)
    }

    @Test func `The plan of a follower has the entries that it then applies`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store)
      try ReplicaFixture.write(1...3, to: store)
      try await writer.flush()
      let first = try await Replica.followerPlan(at: fixture.path("copy"), of: fixture.bucket)
      #expect(first.action == .download && first.baseSlot == 1)
      #expect(!FileManager.default.fileExists(atPath: fixture.path("copy")))
      let follower = try await fixture.follower()
      try await follower.catchUp()
      let slot = follower.status.slot
      #expect(first.lastSlot == slot)
      // A poll in the background would apply the entries before the plan is made.
      await follower.stop()
      try ReplicaFixture.write(4...6, to: store)
      try await writer.flush()
      let second = try await Replica.followerPlan(at: fixture.path("copy"), of: fixture.bucket)
      #expect(second.action == .apply && second.slot == slot)
      #expect(second.lastWrite == 6 && UInt64(second.entryCount) == second.lastSlot - slot)
      // The log that the copy needs is collected.
      try ReplicaFixture.write(7...8, to: store)
      try await writer.flush()
      try await writer.writeBase()
      try await writer.stop()
      let keeping = try await fixture.writer(store) { $0.retention = .zero }
      try await keeping.collect()
      let third = try await Replica.followerPlan(at: fixture.path("copy"), of: fixture.bucket)
      #expect(third.action == .replace && third.baseSlot.map { $0 > slot } == true)
      let refused = await #expect(throws: ReplicaError.self) {
        var options = ReplicaFollowerOptions()
        options.followedEntities = ["Note"]
        return try await Replica.followerPlan(
          at: fixture.path("copy"), of: fixture.bucket, options: options)
      }
      #expect(refused?.code == .unsuitableStore)
      try await keeping.stop()
    }

    @Test func `The plan of a follower knows conditions and other replicas`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store)
      try ReplicaFixture.write(1...6, to: store)
      try await writer.stop()
      let follower = try await fixture.follower { $0.conditions = ["Note": "number > 4"] }
      try await follower.catchUp()
      let slot = follower.status.slot
      await follower.stop()
      func plan(_ condition: String?, _ place: ReplicaStorage) async throws -> ReplicaPlan {
        var options = ReplicaFollowerOptions()
        options.conditions = condition.map { ["Note": $0] } ?? [:]
        return try await Replica.followerPlan(
          at: fixture.path("copy"), of: place, options: options)
      }
      let same = try await plan("number  >  4", fixture.bucket)
      #expect(same.action == .apply && same.slot == slot && same.entryCount == 0)
      for condition in ["number > 5", nil] {
        let other = try await plan(condition, fixture.bucket)
        #expect(other.action == .replace && other.slot == slot && other.baseSlot != nil)
        #expect(other.lastSlot == slot)
      }
      let refused = await #expect(throws: ReplicaError.self) {
        try await plan("number >", fixture.bucket)
      }
      #expect(refused?.code == .unsuitableStore)
      let foreign = try ReplicaFixture()
      let second = try await foreign.writer(try foreign.store())
      try await second.stop()
      let other = await #expect(throws: ReplicaError.self) {
        try await plan("number > 4", foreign.bucket)
      }
      #expect(other?.code == .otherReplica)
    }

    @Test func `The plan of a writer has the bytes that it then sends`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      try ReplicaFixture.write(1...3, to: store)
      let first = try await Replica.writerPlan(store, to: fixture.bucket)
      #expect(first.action == .create && first.byteCount == nil)
      let writer = try await fixture.writer(store)
      try await writer.stop()
      let slot = writer.status.slot
      let nothing = try await Replica.writerPlan(store, to: fixture.bucket)
      #expect(nothing.action == .send && nothing.entryCount == 0 && nothing.lastSlot == slot)
      try ReplicaFixture.write(4...9, to: store)
      let second = try await Replica.writerPlan(store, to: fixture.bucket)
      #expect(second.action == .send && second.entryCount == 1)
      let again = try await fixture.writer(store)
      try await again.stop()
      #expect(again.status.slot == slot + 1)
      let bytes = try #require(second.byteCount)
      #expect(bytes > 0 && bytes < again.status.entryBytesSent)
      // A purged history is replaced by a base.
      try ReplicaFixture.write(10...12, to: store)
      _ = try await store.write { try $0.purgeHistory(before: .distantFuture) }
      let third = try await Replica.writerPlan(store, to: fixture.bucket)
      #expect(third.action == .sendBase)
    }

    @Test func `The plan of a takeover is refused as the takeover is`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store) { $0.leaseInterval = .seconds(30) }
      try ReplicaFixture.write(1...3, to: store)
      try await writer.flush()
      let lease = fixture.bucketPath + "/lease.json"
      for _ in 0..<3_000 where !FileManager.default.fileExists(atPath: lease) {
        try await Task.sleep(for: .milliseconds(10))
      }
      let path = fixture.path("new.lodestore")
      let refused = await #expect(throws: ReplicaError.self) {
        try await Replica.takeOverPlan(fixture.bucket, at: path)
      }
      #expect(refused?.code == .busy)
      try await writer.stop()
      let plan = try await Replica.takeOverPlan(fixture.bucket, at: path)
      #expect(plan.action == .download && plan.lastWrite == 3)
      let taken = try await Replica.takeOver(fixture.bucket, at: path)
      #expect(taken.slot == plan.lastSlot + 1 && taken.lastWrite == plan.lastWrite)
      let occupied = await #expect(throws: ReplicaError.self) {
        try await Replica.takeOverPlan(fixture.bucket, at: path)
      }
      #expect(occupied?.code == .unsuitablePath)
    }
  }
#endif

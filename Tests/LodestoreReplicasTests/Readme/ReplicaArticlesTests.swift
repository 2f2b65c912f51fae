#if Datasets
  import EntityStore
  import Foundation
  import Synchronization
  import Testing

  @testable import LodestoreReplicas

  /// Runs the code of the articles, from the first write to the restore after a takeover.
  @Suite("The articles about replicas")
  struct ReplicaArticlesTests {
    @Test func `the code of the articles does what they say`() async throws {
      let fixture = try ReplicaFixture()
      let (bucket, copy) = (fixture.bucket, fixture.path("copy"))
      let first = try fixture.store()
      let writer = try await ReplicatingAStoreArticle.wait(first, bucket)
      try ReplicaFixture.write(2...5, to: first)
      try await writer.flush()
      // A task of its own renews the lease.
      while try await bucket.client.object(.lease) == nil {
        try await Task.sleep(for: .milliseconds(10))
      }
      let summary = try await ReplicatingAStoreArticle.see(writer, bucket)
      #expect(summary.lastWrite == 5)
      #expect(summary.bases.count == 1)
      #expect(summary.leaseHolder == "machine 1")

      let follower = try await FollowingAReplicaArticle.choose(copy, bucket)
      let notes = try await FollowingAReplicaArticle.read(follower)
      #expect(notes.map(\.number).sorted() == [4, 5])
      #expect(follower.status.lag() != nil)
      FollowingAReplicaArticle.age(follower)
      await FollowingAReplicaArticle.stop(follower)
      await #expect(throws: ReplicaError.self) { try await follower.catchUp() }

      let taken = try await TakingOverAndRestoringArticle.takeOverAtOnce(
        bucket, fixture.path("second.lodestore"))
      #expect(taken.epoch == 2)
      try ReplicaFixture.write(6...6, to: first)
      let error = await #expect(throws: ReplicaError.self) { try await writer.flush() }
      #expect(error?.code == .fenced)
      #expect(error?.divergedWrites == 6...6)

      let second = try Store(at: taken.path, entities: [Note.self], options: Note.options)
      let successor = try await Replica.writer(
        second, to: bucket, options: ReplicatingAStoreArticle.choose())
      try ReplicaFixture.write(16...17, to: second)
      try await ReplicatingAStoreArticle.stop(successor)
      // A writer that stops releases the lease.
      let third = try await TakingOverAndRestoringArticle.takeOver(
        bucket, fixture.path("third.lodestore"), Note.options)
      #expect(third.status.epoch == 3)

      let folder = fixture.path("restores")
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true)
      let restored = try await TakingOverAndRestoringArticle.test(bucket, folder)
      #expect(try ReplicaFixture.notes(of: restored) == ReplicaFixture.notes(of: second))
      try await TakingOverAndRestoringArticle.list(bucket, since: .distantPast)
      let report = try await TakingOverAndRestoringArticle.restore(
        bucket, to: Date(), fixture.path("now.lodestore"))
      #expect(report.lastWrite == 7)
      try await ReplicatingAStoreArticle.stop(third)
    }

    @Test func `a meter adds the increases of counters`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store)
      try ReplicaFixture.write(1...3, to: store)
      try await writer.flush()
      let values = Mutex<[String: Double]>([:])
      var meter = MeasuringReplicasArticle.ReplicaMeter(
        set: { name, value in values.withLock { $0[name] = value } },
        add: { name, increase in values.withLock { $0[name, default: 0] += increase } })
      meter.report(writer.status.metrics)
      try ReplicaFixture.write(4...6, to: store)
      try await writer.stop()
      let last = writer.status.metrics
      for _ in 1...2 { meter.report(last) }
      let expected = Dictionary(uniqueKeysWithValues: last.map { ($0.name, $0.value) })
      #expect(values.withLock { $0 } == expected)
      #expect(MeasuringReplicasArticle.text(writer) == ReplicaMetric.prometheusText(last))
    }
  }
#endif

#if Datasets
  import EntityStore
  import Foundation
  import LodestoreFormat
  import Testing

  @testable import LodestoreReplicas

  /// Followers whose copy or whose log is not as it should be, and texts of programs.
  @Suite("Copies and logs that were changed", .timeLimit(.minutes(30)))
  struct MendingTests {
    @Test func `A copy that another program has written begins again at a base`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store)
      try ReplicaFixture.write(1...6, to: store)
      try await writer.flush()
      let follower = try await fixture.follower()
      try await follower.catchUp()
      let old = follower.store
      let path = old.path
      let other = try Store(at: path, entities: [Note.self], options: Note.options)
      // The writer's next notes have these titles under other ids.
      try await other.write { tx in
        for number in 50...70 { try tx.insert(Note(title: "note \(number)", number: 0)) }
      }
      other.close()
      for number in 51...60 { try ReplicaFixture.write(number...number, to: store) }
      try await writer.flush()
      try await follower.catchUp()
      #expect(follower.status.replacements == 1 && follower.status.end == nil)
      #expect(follower.store.path != path)
      old.close()
      try await writer.stop()
      try await ReplicaFixture.end(follower, equalTo: store)
      try ReplicaFixture.end(store)
    }

    @Test func `A follower passes a damaged entry by a base beyond it`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store)
      try ReplicaFixture.write(1...3, to: store)
      try await writer.flush()
      let follower = try await fixture.follower()
      try await follower.catchUp()
      let old = follower.store
      var last: UInt64 = 0
      for number in 4...8 {
        try ReplicaFixture.write(number...number, to: store)
        try await writer.flush()
        if number == 5 { last = writer.status.slot }
      }
      let path = fixture.bucketPath + "/" + ReplicaName.entry(slot: last).text
      let file = URL(fileURLWithPath: path)
      var bytes = try Data(contentsOf: file)
      bytes[bytes.count - 1] ^= 1
      try bytes.write(to: file)
      let error = await #expect(throws: ReplicaError.self) { try await follower.catchUp() }
      #expect(error?.code == .damaged && error?.slot == last)
      try await writer.writeBase()
      // The search is repeated after a minute, and by another follower at once.
      await follower.stop()
      let again = try await fixture.follower()
      try await again.catchUp()
      #expect(again.status.replacements == 1)
      old.close()
      try await writer.stop()
      try await ReplicaFixture.end(again, equalTo: store)
      try ReplicaFixture.end(store)
    }

    @Test(arguments: ["", "a b", "../x", "é", String(repeating: "a", count: 65), ".a", "a/b"])
    func `A name that no registration can have is refused`(_ id: String) async throws {
      let fixture = try ReplicaFixture()
      let writer = try await fixture.writer(try fixture.store())
      try await writer.stop()
      let error = await #expect(throws: ReplicaError.self) {
        try await fixture.follower { $0.id = id }
      }
      #expect(error?.message.contains("ASCII letters") == true)
    }

    @Test func `Names of any length do not stop a writer or a takeover`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let name = String(repeating: "👩‍👩‍👧‍👦", count: 40) + "\u{0}"
      let writer = try await fixture.writer(store) {
        $0.name = name
        $0.leaseInterval = .seconds(30)
      }
      try ReplicaFixture.write(1...3, to: store)
      try await writer.flush()
      while try await fixture.bucket.client.object(.lease) == nil {
        try await Task.sleep(for: .milliseconds(10))
      }
      let summary = try await Replica.summary(of: fixture.bucket)
      #expect(summary.writer?.isEmpty == false && name.hasPrefix(summary.writer ?? "-"))
      // The lease can be read, so it protects the writer.
      let busy = await #expect(throws: ReplicaError.self) {
        try await Replica.takeOver(fixture.bucket, at: fixture.path("new.lodestore"))
      }
      #expect(busy?.code == .busy)
      var options = ReplicaRestoreOptions()
      options.ignoresLease = true
      options.name = name
      let report = try await Replica.takeOver(
        fixture.bucket, at: fixture.path("new.lodestore"), options: options)
      #expect(report.epoch == 2)
      await #expect(throws: ReplicaError.self) {
        try ReplicaFixture.write(4...6, to: store)
        try await writer.flush()
      }
    }

    @Test func `A mark keeps the sessions of earlier starts, whose entries may arrive late`()
      async throws
    {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      try ReplicaFixture.write(1...3, to: store)
      try await fixture.writer(store).stop()
      let first = try #require(try ReplicaMark.of(store)?.sessions.first)
      for _ in 0..<3 { try await fixture.writer(store).stop() }
      #expect(try ReplicaMark.of(store)?.sessions.contains(first) == true)
      try ReplicaFixture.end(store)
    }

    @Test func `A mark keeps all of its sessions`() throws {
      let sessions = (0..<ReplicaMark.sessionLimit).map { _ in UUIDBytes.random }
      let mark = ReplicaMark(
        role: .writer, .start(of: Entries.store), localWrite: 0, floor: .none, sessions: sessions)
      #expect(try ReplicaMark(reading: mark.bytes, of: Entries.store) == mark)
    }

    @Test func `The time of an entry is one that all objects can state`() throws {
      for time in [-1e300, -6.4e10, 2.6e11, 1e300, .infinity, .nan] {
        var head = Entries.head(1)
        head.time = time
        #expect(throws: PackError.self, "\(time)") { try LogEntry(head) }
      }
    }

    @Test func `Diverged writes are exported from any number`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store)
      try ReplicaFixture.write(1...3, to: store)
      try await writer.stop()
      for first in [0, 1, 1 << 62, .max] as [UInt64] {
        let path = fixture.path("\(first).json")
        await expectErrorInWords("\(first)") {
          try Replica.exportDiverged(store, to: path, from: first)
        }
        #expect(FileManager.default.fileExists(atPath: path) == (first < 2))
      }
    }

    @Test func `A restore of any write, slot or time ends in words`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store)
      try ReplicaFixture.write(1...3, to: store)
      try await writer.stop()
      let dates = [-1e300, 1e300, .nan, .infinity, -.infinity, 0].map {
        Date(timeIntervalSinceReferenceDate: $0)
      }
      let numbers: [UInt64] = [0, 1, 1 << 53, 1 << 62, 1 << 63, .max]
      let targets =
        dates.map(ReplicaRestoreTarget.time) + numbers.map(ReplicaRestoreTarget.write)
        + numbers.map(ReplicaRestoreTarget.slot)
      for (number, target) in targets.enumerated() {
        await expectErrorInWords("\(number)") { _ = try await fixture.restored(target) }
        await expectErrorInWords("\(number)") {
          _ = try await Replica.restorePlan(fixture.bucket, to: target)
        }
      }
    }
  }
#endif

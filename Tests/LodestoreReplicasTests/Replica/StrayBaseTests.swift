#if Datasets
  import EntityStore
  import Foundation
  import LodestoreDatasets
  import LodestoreFormat
  import Testing

  @testable import LodestoreReplicas

  /// Bases that are no part of the log, and are no damage.
  @Suite("Stray bases of replicas") struct StrayBaseTests {
    /// The heads of a replica's bases, in the order of their slots.
    private static func heads(_ fixture: ReplicaFixture) throws -> [BaseHead] {
      try FileManager.default.contentsOfDirectory(atPath: fixture.bucketPath + "/base").sorted()
        .filter { $0.hasSuffix(".json") }
        .map { name in
          let file = URL(fileURLWithPath: "\(fixture.bucketPath)/base/\(name)")
          return try BaseHead(reading: Array(Data(contentsOf: file)), named: "base/\(name)")
        }
    }

    private static func put(_ head: BaseHead, _ fixture: ReplicaFixture) throws {
      let path = "\(fixture.bucketPath)/\(head.name(of: .head).text)"
      try Data(head.bytes).write(to: URL(fileURLWithPath: path))
    }

    private static func code(
      of fixture: ReplicaFixture, _ target: ReplicaRestoreTarget
    ) async throws -> ReplicaError.Code? {
      await #expect(throws: ReplicaError.self) { try await fixture.restored(target) }?.code
    }

    @Test func `A base of a slot that another writer won is no damage`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store)
      try ReplicaFixture.write(1...3, to: store)
      try await writer.stop()
      var head = try #require(try Self.heads(fixture).first)
      let other = try #require(FileDigest(bytes: SHA256.hash([1])))
      (head.entry, head.verity, head.time) = (other, other, 0)
      try Self.put(head, fixture)
      let time = Date(timeIntervalSinceReferenceDate: 1)
      #expect(try await Self.code(of: fixture, .time(time)) == .notKept)
      #expect(try await fixture.restored() == ReplicaFixture.notes(of: store))
      try ReplicaFixture.end(store)
    }

    @Test func `A head that arrives after the collection of its slot is no damage`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store) { $0.retention = .zero }
      try ReplicaFixture.write(1...3, to: store)
      try await writer.flush()
      let first = try #require(try Self.heads(fixture).first)
      // The writer's first base may have all writes so far.
      try ReplicaFixture.write(4...4, to: store)
      try await writer.writeBase()
      try await writer.collect()
      #expect(try Self.heads(fixture).map(\.slot).contains(first.slot) == false)
      try Self.put(first, fixture)
      #expect(try await Self.code(of: fixture, .slot(first.slot)) == .notKept)
      try await writer.stop()
      #expect(try await fixture.restored() == ReplicaFixture.notes(of: store))
      try ReplicaFixture.end(store)
    }

    @Test func `A base that is written during a restore is no damage`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      try ReplicaFixture.write(1...3, to: store)
      try await fixture.writer(store).stop()
      let (base, hidden) = (fixture.bucketPath + "/base", fixture.path("hidden"))
      try FileManager.default.moveItem(atPath: base, toPath: hidden)
      let storage = WatchedStorage(try FolderStorage(path: fixture.bucketPath)) { _, name in
        // The log is listed after the bases.
        if name == "log/" { try? FileManager.default.moveItem(atPath: hidden, toPath: base) }
      }
      let error = await #expect(throws: ReplicaError.self) {
        try await Replica.restore(ReplicaStorage(storage), at: fixture.path("early.lodestore"))
      }
      #expect(error?.code == .noBase)
      #expect(try await fixture.restored() == ReplicaFixture.notes(of: store))
      try ReplicaFixture.end(store)
    }

    @Test func `A restore continues at a base that the list of bases lacks`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      try ReplicaFixture.write(1...3, to: store)
      try await fixture.writer(store).stop()
      let first = try #require(try Self.heads(fixture).first)
      try ReplicaFixture.write(4...6, to: store)
      _ = try await store.write { try $0.purgeHistory(before: .distantFuture) }
      let writer = try await fixture.writer(store)
      try ReplicaFixture.write(7...9, to: store)
      try await writer.stop()
      let new = try #require(try Self.heads(fixture).last)
      #expect(new.slot > first.slot)
      let head = "\(fixture.bucketPath)/\(new.name(of: .head).text)"
      let hidden = fixture.path("new")
      let storage = WatchedStorage(try FolderStorage(path: fixture.bucketPath)) { _, name in
        // The head is hidden from lists alone.
        let (from, to) = name == "base/" ? (head, hidden) : (hidden, head)
        try? FileManager.default.moveItem(atPath: from, toPath: to)
      }
      let plan = try await Replica.restorePlan(ReplicaStorage(storage))
      let path = fixture.path("restored.lodestore")
      let report = try await Replica.restore(ReplicaStorage(storage), at: path)
      #expect(report == plan && report.baseSlot == new.slot && report.incompleteReason == nil)
      #expect(try fixture.notes(ofFileAt: path) == ReplicaFixture.notes(of: store))
      try ReplicaFixture.end(store)
    }

    @Test func `A base whose slot is won by another one during a restore is no damage`()
      async throws
    {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      try ReplicaFixture.write(1...3, to: store)
      try await fixture.writer(store).stop()
      var head = try #require(try Self.heads(fixture).first)
      let folders = ["base", "log"].map { ("\(fixture.bucketPath)/\($0)", fixture.path($0)) }
      for (path, hidden) in folders {
        try FileManager.default.moveItem(atPath: path, toPath: hidden)
      }
      let other = try #require(FileDigest(bytes: SHA256.hash([1])))
      (head.entry, head.verity) = (other, other)
      try FileManager.default.createDirectory(
        atPath: folders[0].0, withIntermediateDirectories: true)
      try Self.put(head, fixture)
      let storage = WatchedStorage(try FolderStorage(path: fixture.bucketPath)) { _, name in
        guard name == "log/" else { return }
        for (path, hidden) in folders where FileManager.default.fileExists(atPath: hidden) {
          try? FileManager.default.removeItem(atPath: path)
          try? FileManager.default.moveItem(atPath: hidden, toPath: path)
        }
      }
      let error = await #expect(throws: ReplicaError.self) {
        try await Replica.restore(ReplicaStorage(storage), at: fixture.path("early.lodestore"))
      }
      #expect(error?.code == .noBase)
      #expect(try await fixture.restored() == ReplicaFixture.notes(of: store))
      try ReplicaFixture.end(store)
    }
  }
#endif

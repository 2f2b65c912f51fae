#if Datasets
  import EntityStore
  import Foundation
  import LodestoreFormat
  import Testing

  @testable import LodestoreReplicas

  @Suite("Replicas in a folder")
  struct ReplicaTests {
    @Test func `A follower has the writer's content, and each later write`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      try ReplicaFixture.write(1...10, to: store)
      let writer = try await fixture.writer(store)
      try await writer.flush()
      let follower = try await fixture.follower()
      #expect(try ReplicaFixture.digests(of: follower.store) == ReplicaFixture.digests(of: store))
      for number in 11...40 {
        try ReplicaFixture.write(number...number, to: store)
        if number % 4 == 0 {
          try await writer.flush()
          try await follower.catchUp()
          let digests = try ReplicaFixture.digests(of: store)
          #expect(try ReplicaFixture.digests(of: follower.store) == digests)
        }
      }
      let last = try await follower.store.read { try $0.data(for: "last", in: "settings") }
      #expect(last != nil)
      #expect(follower.status.lastWrite == writer.status.replicatedWrite)
      await #expect(throws: StoreError.self) {
        try await follower.store.write { try Note.change(1_000, &$0) }
      }
      await follower.stop()
      try await writer.stop()
    }

    @Test func `A restore has the newest state, with equal digests`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store)
      try ReplicaFixture.write(1...30, to: store)
      try await writer.stop()
      #expect(try await fixture.restored() == ReplicaFixture.notes(of: store))
    }

    @Test func `A replicated write is in the storage when it returns`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store) {
        $0.durability = .replicated
        $0.flushInterval = .seconds(60)
      }
      for number in 1...5 {
        try await writer.write { try Note.change(number, &$0) }
        #expect(try await fixture.restored() == ReplicaFixture.notes(of: store))
      }
      #expect(writer.status.lagInWrites == 0)
      try await writer.stop()
    }

    @Test func `A writer continues where it stopped, and sends the writes in between`() async throws
    {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      for round in 0..<4 {
        let writer = try await fixture.writer(store)
        try ReplicaFixture.write(round * 10 + 1...round * 10 + 5, to: store)
        try await writer.stop()
        try ReplicaFixture.write(round * 10 + 6...round * 10 + 10, to: store)
      }
      let writer = try await fixture.writer(store)
      try await writer.stop()
      #expect(try await fixture.restored() == ReplicaFixture.notes(of: store))
      let summary = try await Replica.summary(of: fixture.bucket)
      #expect(summary.bases.count == 1)
      #expect(summary.lastWrite == 40)
    }

    @Test func `Every kept write and time can be restored`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      try ReplicaFixture.write(1...3, to: store)
      var writer = try await fixture.writer(store)
      try await writer.flush()
      var states: [UInt64: [Note]] = [3: try ReplicaFixture.notes(of: store)]
      var times: [UInt64: Date] = [:]
      for number in 4...40 {
        try ReplicaFixture.write(number...number, to: store)
        states[UInt64(number)] = try ReplicaFixture.notes(of: store)
        let history = try await store.read {
          try $0.history(HistoryQuery.all.newestFirst().limit(1))
        }
        times[UInt64(number)] = try #require(history.first).time
        if number % 7 == 0 { try await writer.flush() }
        if number == 20 { try await writer.writeBase() }
        if number == 30 {
          try await writer.stop()
          writer = try await fixture.writer(store)
        }
      }
      try await writer.stop()
      for number in 3...40 as ClosedRange<UInt64> {
        #expect(try await fixture.restored(.write(number)) == states[number], "write \(number)")
        // The report has the time of the write, also where an entry has later ones.
        let plan = try await Replica.restorePlan(fixture.bucket, to: .write(number))
        #expect(number == 3 || plan.time == times[number], "time of \(number)")
      }
      for number in [5, 21, 33, 39] as [UInt64] {
        let time = try #require(times[number])
        #expect(try await fixture.restored(.time(time)) == states[number], "time of \(number)")
      }
      let early = await #expect(throws: ReplicaError.self) {
        try await fixture.restored(.write(1))
      }
      #expect(early?.code == .notKept)
      let year = Date(timeIntervalSinceReferenceDate: 0)
      let old = await #expect(throws: ReplicaError.self) {
        try await fixture.restored(.time(year))
      }
      // The time that the message names is one that can be restored.
      let text = try #require(old?.message.firstMatch(of: /of (\S+Z) in slot/)).output.1
      guard case .date(let seconds)? = Value(text: String(text), as: .date) else {
        Issue.record("'\(text)' is no time")
        return
      }
      let oldest = Date(timeIntervalSinceReferenceDate: seconds + 1e-6)
      _ = try await fixture.restored(.time(oldest))
      let late = await #expect(throws: ReplicaError.self) {
        try await fixture.restored(.write(41))
      }
      #expect(late?.code == .notKept)
    }

    @Test func `A restore never replaces a file, and leaves nothing after a failure`() async throws
    {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store)
      try ReplicaFixture.write(1...3, to: store)
      try await writer.stop()
      let error = await #expect(throws: ReplicaError.self) {
        try await Replica.restore(fixture.bucket, at: store.path)
      }
      #expect(error?.code == .unsuitablePath)
      let target = fixture.path("new.lodestore")
      await #expect(throws: ReplicaError.self) {
        try await Replica.restore(fixture.bucket, to: .write(99), at: target)
      }
      let names = try FileManager.default.contentsOfDirectory(atPath: fixture.path(""))
      #expect(!names.contains { $0.hasPrefix("new") })
    }

    @Test func `A restored file may be sealed`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store)
      try ReplicaFixture.write(1...8, to: store)
      try await writer.stop()
      let path = fixture.path("sealed.lodestore")
      var options = ReplicaRestoreOptions()
      options.seals = true
      try await Replica.restore(fixture.bucket, at: path, options: options)
      let sealed = try Store(at: path, entities: [Note.self])
      #expect(sealed.seal != nil)
      #expect(try ReplicaFixture.notes(of: sealed) == ReplicaFixture.notes(of: store))
    }

    @Test func `An older copy of the store is refused`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      var writer = try await fixture.writer(store)
      try ReplicaFixture.write(1...5, to: store)
      try await writer.stop()
      _ = try await store.backup(to: fixture.path("old.lodestore"))
      writer = try await fixture.writer(store)
      try ReplicaFixture.write(6...9, to: store)
      try await writer.stop()
      let old = try fixture.store("old.lodestore")
      let behind = await #expect(throws: ReplicaError.self) { try await fixture.writer(old) }
      #expect(behind?.code == .behind)
      // With as many writes of its own, the copy is no older one but another one.
      try ReplicaFixture.write(106...115, to: old)
      let diverged = await #expect(throws: ReplicaError.self) { try await fixture.writer(old) }
      #expect(diverged?.code == .diverged)
      #expect(try await fixture.restored() == ReplicaFixture.notes(of: store))
    }

    @Test func `A store of another replica is refused`() async throws {
      let fixture = try ReplicaFixture()
      let writer = try await fixture.writer(try fixture.store())
      try await writer.stop()
      let other = try fixture.store("other.lodestore")
      let error = await #expect(throws: ReplicaError.self) { try await fixture.writer(other) }
      #expect(error?.code == .otherStore)
    }

    @Test func `An entity without a history is refused by its name`() async throws {
      let fixture = try ReplicaFixture()
      let store = try Store(at: fixture.path("plain.lodestore"), entities: [Note.self])
      let error = await #expect(throws: ReplicaError.self) { try await fixture.writer(store) }
      #expect(error?.code == .unsuitableStore)
      #expect(error?.message.contains("Note") == true)
    }

    @Test func `A change of the schema travels as a base`() async throws {
      let fixture = try ReplicaFixture()
      var store = try fixture.store()
      var writer = try await fixture.writer(store)
      try ReplicaFixture.write(1...6, to: store)
      try await writer.flush()
      let follower = try await fixture.follower()
      try await follower.catchUp()
      let before = try ReplicaFixture.notes(of: follower.store)
      try await writer.stop()
      store.close()
      var options = Note.options
      options.access = .existing
      store = try Store(
        at: fixture.path("store.lodestore"), entities: [Note.self, Tag.self], options: options)
      _ = try await store.write { try $0.insert(Tag(name: "new")) }
      writer = try await fixture.writer(store)
      try await writer.stop()
      try await follower.catchUp()
      #expect(follower.status.replacements == 1)
      #expect(try ReplicaFixture.notes(of: follower.store) == before)
      await follower.stop()
      let later = try await fixture.follower("copy", [Note.self, Tag.self])
      #expect(try await later.store.read { try $0.count(Tag.all) } == 1)
      await later.stop()
      #expect(try await fixture.restored() == before)
    }

    @Test func `Merged slots save requests of a restore`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store) { $0.durability = .replicated }
      for number in 1...70 { try await writer.write { try Note.change(number, &$0) } }
      let merged = fixture.bucketPath + "/merged/1"
      for _ in 0..<3_000 where (try? Self.names(merged).count) ?? 0 < 3 {
        try await Task.sleep(for: .milliseconds(20))
      }
      #expect(try Self.names(merged).count == 3)
      try await writer.stop()
      // The first range has the entry of a base, so it is not merged.
      let path = fixture.path("merged.lodestore")
      let report = try await Replica.restore(fixture.bucket, at: path)
      let singles = 16 - report.baseSlot + writer.status.slot - 64
      #expect(report.entryCount == Int(singles) + 3)
      let restored = try Store(at: path, entities: [Note.self], options: .readOnly)
      #expect(try ReplicaFixture.notes(of: restored) == ReplicaFixture.notes(of: store))
    }

    private static func names(_ path: String) throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".lsc") }
    }

    @Test func `A follower that was asleep past the collection begins again at a base`()
      async throws
    {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store) { $0.retention = .zero }
      try ReplicaFixture.write(1...5, to: store)
      try await writer.flush()
      var follower = try await fixture.follower()
      await follower.stop()
      for round in 1...3 {
        try ReplicaFixture.write(round * 10...round * 10 + 5, to: store)
        try await writer.flush()
        try await writer.writeBase()
      }
      try await writer.collect()
      let log = try FileManager.default.contentsOfDirectory(atPath: fixture.bucketPath + "/log")
      #expect(log.count < 4)
      follower = try await fixture.follower()
      try await follower.catchUp()
      #expect(follower.status.replacements == 1)
      #expect(try ReplicaFixture.digests(of: follower.store) == ReplicaFixture.digests(of: store))
      await follower.stop()
      try await writer.stop()
    }

    @Test func `A registered follower keeps the log that it has not applied`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store) { $0.retention = .zero }
      try ReplicaFixture.write(1...5, to: store)
      try await writer.flush()
      var follower = try await fixture.follower { $0.id = "laptop" }
      try await follower.catchUp()
      await follower.stop()
      try ReplicaFixture.write(10...15, to: store)
      try await writer.flush()
      try await writer.writeBase()
      try await writer.collect()
      follower = try await fixture.follower()
      try await follower.catchUp()
      #expect(follower.status.replacements == 0)
      #expect(try ReplicaFixture.digests(of: follower.store) == ReplicaFixture.digests(of: store))
      await follower.stop()
      try await writer.stop()
    }

    @Test func `A follower may follow some entities only`() async throws {
      let fixture = try ReplicaFixture()
      let store = try Store(
        at: fixture.path("store.lodestore"), entities: [Note.self, Tag.self], options: Note.options)
      _ = try await store.write { try $0.insert(Tag(name: "first")) }
      try ReplicaFixture.write(1...4, to: store)
      let writer = try await fixture.writer(store)
      try await writer.flush()
      let follower = try await fixture.follower("copy", [Note.self]) {
        $0.followedEntities = ["Note"]
      }
      func tagCount() throws -> Int {
        var count = 0
        try DynamicStore(follower.store).read { snapshot in
          let tag = try #require(snapshot.entity(named: "Tag"))
          try snapshot.forEachRecord(of: tag) { _ in
            count += 1
            return true
          }
        }
        return count
      }
      #expect(try tagCount() == 0)
      _ = try await store.write { try $0.insert(Tag(name: "second")) }
      try ReplicaFixture.write(5...8, to: store)
      try await writer.flush()
      try await follower.catchUp()
      #expect(try tagCount() == 0)
      #expect(try ReplicaFixture.notes(of: follower.store) == ReplicaFixture.notes(of: store))
      await follower.stop()
      let other = await #expect(throws: ReplicaError.self) {
        try await fixture.follower("copy", [Note.self])
      }
      #expect(other?.code == .unsuitableStore)
      try await writer.stop()
    }

    @Test func `Live results follow commits and replacements`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store) { $0.retention = .zero }
      try ReplicaFixture.write(1...2, to: store)
      try await writer.flush()
      let follower = try await fixture.follower()
      try await follower.catchUp()
      var updates = follower.updates(of: Note.all.sorted(by: \.number)).makeAsyncIterator()
      #expect(try await updates.next()?.items.count == 2)
      _ = try await store.write { try $0.insert(Note(title: "third", number: 100)) }
      try await writer.flush()
      try await follower.catchUp()
      #expect(try await updates.next()?.items.map(\.title).last == "third")
      await follower.stop()
      try await writer.stop()
    }
  }

  private struct Tag: Entity, Hashable {
    var id = RecordID<Tag>()
    var name: String

    struct Attributes: Sendable {
      var id: Attribute<Tag, RecordID<Tag>> { .recordID }
      var name: Attribute<Tag, String> { .init(0) }
    }

    static var attributes: Attributes { Attributes() }
    static let schema = EntitySchema<Tag>("Tag", attributes: [.init("name", \.name)])

    init(name: String) { self.name = name }
    func encode(into writer: inout RecordWriter) { writer.write(name) }
    init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }
  }
#endif

#if Datasets
  import EntityStore
  import Foundation
  import Testing

  @testable import LodestoreReplicas

  /// Processes that are killed at each step, and continue.
  @Suite("Killed writers and followers of replicas", .timeLimit(.minutes(30)))
  struct KillTests {
    private static let writerSteps =
      WriterStep.allCases.map(\.rawValue) + [
        "after-put-replica", "before-put-log", "after-put-log", "before-put-base",
        "after-put-base", "after-put-merged", "before-put-floor", "after-put-floor",
        "before-delete-log", "after-delete-log", "after-delete-base",
      ]

    @Test(
      .enabled(if: ReplicaProcess.program != nil),
      arguments: ReplicaProcess.kills(at: writerSteps, [1, 2, 5]))
    func `A writer killed at any step continues, and nothing is lost`(
      step: String, count: Int
    ) async throws {
      let fixture = try ReplicaFixture()
      let path = fixture.path("store.lodestore")
      let died = try await ReplicaProcess.outcome(
        of: ["write", path, fixture.bucketPath, "1", "24", step, "\(count)"])
      if let line = died.line { #expect(died.place != nil, "\(line)") }
      try await fixture.expectReplicated(atLeast: died.acknowledged)
      let again = try await ReplicaProcess.outcome(
        of: ["write", path, fixture.bucketPath, "\(died.acknowledged + 1)", "30"])
      #expect(again.place?.write == 30, "\(again.line ?? "killed")")
      let writer = try fixture.store()
      #expect(try await fixture.restored() == ReplicaFixture.notes(of: writer))
      let follower = try await fixture.follower()
      try await follower.catchUp()
      try await ReplicaFixture.end(follower, equalTo: writer)
      try ReplicaFixture.end(writer)
    }

    private static let followerSteps =
      FollowerStep.allCases.map(\.rawValue) + [
        "after-get-replica", "before-get-base", "after-get-base", "after-get-log",
        "after-get-floor", "after-put-followers",
      ]

    @Test(
      .enabled(if: ReplicaProcess.program != nil),
      arguments: ReplicaProcess.kills(at: followerSteps, [1, 2, 4]))
    func `A follower killed at any step applies each change once`(
      step: String, count: Int
    ) async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store) { $0.durability = .replicated }
      for number in 1...20 { try await writer.write { try Note.change(number, &$0) } }
      let words = ["follow", fixture.path("copy"), fixture.bucketPath]
      let died = try await ReplicaProcess.outcome(of: words + [step, "\(count)"])
      if let line = died.line { #expect(died.place != nil, "\(line)") }
      for number in 21...25 { try await writer.write { try Note.change(number, &$0) } }
      let again = try await ReplicaProcess.outcome(of: words)
      #expect(again.place?.write == 25, "\(again.line ?? "killed")")
      try await writer.stop()
      let follower = try await fixture.follower("copy")
      try await ReplicaFixture.end(follower, equalTo: store)
      try ReplicaFixture.end(store)
    }

    @Test(
      .enabled(if: ReplicaProcess.program != nil),
      arguments: [
        "after-get-log", "after-get-base", "downloaded", "copied", "swapped", "after-get-floor",
      ])
    func `A follower killed while a base replaces its file continues`(step: String) async throws {
      let fixture = try ReplicaFixture()
      var store = try fixture.store()
      var writer = try await fixture.writer(store)
      try ReplicaFixture.write(1...6, to: store)
      try await writer.flush()
      let words = ["follow", fixture.path("copy"), fixture.bucketPath]
      #expect(try await ReplicaProcess.outcome(of: words).place?.write == 6)
      try ReplicaFixture.write(7...9, to: store)
      try await writer.stop()
      store.close()
      store = try fixture.storeWithLabels()
      _ = try await store.write { try $0.insert(Label(name: "new")) }
      writer = try await fixture.writer(store)
      try ReplicaFixture.write(10...12, to: store)
      try await writer.stop()
      let died = try await ReplicaProcess.outcome(of: words + [step, "1"])
      #expect(died.line == nil, "the process made no such step")
      let again = try await ReplicaProcess.outcome(of: words)
      #expect(again.place?.write == 13, "\(again.line ?? "killed")")
      let follower = try await fixture.follower("copy", [Note.self, Label.self])
      #expect(try await follower.store.read { try $0.count(Label.all) } == 1)
      try await ReplicaFixture.end(follower, equalTo: store)
      let files = try FileManager.default.contentsOfDirectory(atPath: fixture.path("copy"))
      #expect(files.count { $0.hasSuffix(".lodestore") } == 1, "\(files)")
      let incoming = fixture.path("copy/incoming")
      #expect(try FileManager.default.contentsOfDirectory(atPath: incoming) == [])
      try ReplicaFixture.end(store)
    }

    @Test(.enabled(if: ReplicaProcess.program != nil))
    func `Commits of other processes are sent, too`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store)
      try await writer.flush()
      #expect(try await ReplicaProcess.run(["plain", store.path, "1", "5"]) == "done")
      for _ in 0..<3_000 where writer.status.replicatedWrite < 5 {
        try await Task.sleep(for: .milliseconds(20))
      }
      #expect(writer.status.replicatedWrite == 5)
      #expect(try await fixture.restored() == ReplicaFixture.notes(of: store))
    }
  }

  extension ReplicaFixture {
    /// Opens the store with an entity more, which changes its schema.
    func storeWithLabels() throws -> Store {
      var options = Note.options
      options.access = .existing
      return try Store(
        at: path("store.lodestore"), entities: [Note.self, Label.self], options: options)
    }

    /// Restores the newest state, which is that after one of the writes, and no earlier write than
    /// the given one.
    ///
    /// Without a replicated write the replica may have no base yet.
    func expectReplicated(atLeast number: Int, at location: SourceLocation = #_sourceLocation)
      async throws
    {
      do {
        let (write, notes) = try await restoredState()
        #expect(write >= UInt64(number), sourceLocation: location)
        #expect(notes == (try Self.state(after: Int(write))), sourceLocation: location)
      } catch let error as ReplicaError {
        #expect(number == 0 && error.code == .noBase, "\(error)", sourceLocation: location)
      }
    }

    /// The notes after the writes 1 to `number` of an empty store.
    static func state(after number: Int) throws -> [Note] {
      let states = try allStates.get()
      return try #require(states.indices.contains(number) ? states[number] : nil)
    }

    private static let allStates = Result { () throws -> [[Note]] in
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      defer { store.close() }
      var states: [[Note]] = [[]]
      for number in 1...60 {
        try write(number...number, to: store)
        states.append(try notes(of: store))
      }
      return states
    }
  }

  /// An entity that a later version of the schema has.
  struct Label: Entity, Hashable {
    var id = RecordID<Label>()
    var name: String

    struct Attributes: Sendable {
      var id: Attribute<Label, RecordID<Label>> { .recordID }
      var name: Attribute<Label, String> { .init(0) }
    }

    static var attributes: Attributes { Attributes() }
    static let schema = EntitySchema<Label>("Label", attributes: [.init("name", \.name)])

    init(name: String) { self.name = name }
    func encode(into writer: inout RecordWriter) { writer.write(name) }
    init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }
  }
#endif

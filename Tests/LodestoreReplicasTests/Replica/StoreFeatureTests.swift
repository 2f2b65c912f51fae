#if Datasets
  import EntityStore
  import Foundation
  import Synchronization
  import Testing

  @testable import LodestoreReplicas

  /// Expiry, imports and attached stores with a running writer and a follower.
  @Suite("Features of replicated stores", .timeLimit(.minutes(30)))
  struct StoreFeatureTests {
    /// A clock that a test moves.
    private final class Clock: Sendable {
      private let time: Mutex<Date>
      init(_ date: Date) { time = Mutex(date) }
      var now: Date { time.withLock { $0 } }
      func advance(by seconds: Double) { time.withLock { $0 += seconds } }

      var options: StoreOptions {
        var options = Note.options
        options.now = { self.now }
        options.evictionInterval = nil
        return options
      }
    }

    @Test func `Expired records leave the copies with the writer's, whatever clock a copy has`()
      async throws
    {
      let fixture = try ReplicaFixture()
      // The copies apply changes by the system's clock, which is ahead.
      let start = Date() - 1_000
      let (clock, ahead) = (Clock(start), Clock(start + 100))
      let path = fixture.path("store.lodestore")
      let store = try Store(at: path, entities: [Ticket.self], options: clock.options)
      let writer = try await fixture.writer(store)
      try await store.write { tx in
        for number in 0..<20 {
          try tx.insert(Ticket(code: "\(number)", until: number % 2 == 0 ? start + 10 : nil))
        }
      }
      try await writer.flush()
      let follower = try await fixture.follower("copy", [Ticket.self]) {
        $0.storeOptions = ahead.options
      }
      func expectEqual(records: Int) async throws {
        try await writer.flush()
        try await follower.catchUp()
        let (own, copy) = (
          try ReplicaFixture.digests(of: store), try ReplicaFixture.digests(of: follower.store)
        )
        #expect(own == copy)
        #expect(try await follower.store.read { try $0.count(Ticket.all) } == records)
      }
      try await expectEqual(records: 10)
      // Records that only the copy takes for expired are changed.
      try await store.write { tx in
        for code in ["0", "2"] {
          var ticket = try #require(try tx.fetch(Ticket.where { $0.code == code }).first)
          ticket.until = code == "0" ? nil : start + 11
          try tx.update(ticket)
        }
      }
      try await expectEqual(records: 11)
      // A base has records that have expired, and that nobody has evicted.
      clock.advance(by: 20)
      try await writer.writeBase()
      let restored = fixture.path("restored.lodestore")
      try await Replica.restore(fixture.bucket, at: restored)
      try ReplicaFixture.expectSound(restored)
      let copy = try Store(at: restored, entities: [], options: .readOnly)
      #expect(try ReplicaFixture.digests(of: copy) == ReplicaFixture.digests(of: store))
      copy.close()
      #expect(try await store.evict().evictedCount == 9)
      try await expectEqual(records: 11)
      try await writer.stop()
      try await ReplicaFixture.end(follower, equalTo: store)
      try ReplicaFixture.end(store)
    }

    @Test func `A successor evicts the records that its former writer left`() async throws {
      let fixture = try ReplicaFixture()
      let clock = Clock(Date() - 1_000)
      let path = fixture.path("store.lodestore")
      let store = try Store(at: path, entities: [Ticket.self], options: clock.options)
      let writer = try await fixture.writer(store)
      try await store.write { tx in
        for number in 0..<6 {
          try tx.insert(Ticket(code: "\(number)", until: clock.now + Double(number)))
        }
      }
      try await writer.stop()
      let follower = try await fixture.follower("copy", [Ticket.self])
      try await follower.catchUp()
      await follower.stop()
      follower.store.close()
      let report = try await Replica.takeOver(fixture.bucket, at: fixture.path("copy"))
      clock.advance(by: 3.5)
      let taken = try Store(at: report.path, entities: [Ticket.self], options: clock.options)
      let successor = try await fixture.writer(taken)
      try await taken.write { _ = try $0.insert(Ticket(code: "new", until: nil)) }
      try await successor.stop()
      #expect(try await taken.read { try $0.count(Ticket.all) } == 3)
      let restored = fixture.path("restored.lodestore")
      try await Replica.restore(fixture.bucket, at: restored)
      let copy = try Store(at: restored, entities: [], options: .readOnly)
      #expect(try ReplicaFixture.digests(of: copy) == ReplicaFixture.digests(of: taken))
      copy.close()
      try ReplicaFixture.end(taken)
      store.close()
    }

    @Test func `Mirrors of a source arrive in the copy, and a store beside the copy refers to it`()
      async throws
    {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store)
      var options = ImportOptions()
      options.groupRecordLimit = 20
      let importer = Importer(
        into: store, Note.self, matching: .unique(\.title), strategy: .mirror, options: options)
      func run(_ numbers: Range<Int>, _ factor: Int) async throws {
        let pages = AsyncStream<Data> { continuation in
          for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 10) {
            let records = (start..<min(start + 10, numbers.upperBound)).map {
              #"{"title":"n\#($0)","number":\#($0 * factor)}"#
            }
            continuation.yield(Data(#"{"result":[\#(records.joined(separator: ","))]}"#.utf8))
          }
          continuation.finish()
        }
        _ = try await importer.run(pages, records: "result", renaming: [:])
      }
      try await run(0..<100, 1)
      try await writer.flush()
      let follower = try await fixture.follower { $0.pollInterval = .milliseconds(5) }
      let marks = try Store(at: fixture.path("marks.lodestore"), entities: [NoteMark.self])
      try await marks.write { tx in
        for number in 0..<200 {
          try tx.insert(NoteMark(note: try Reference(Note.key(title: "n\(number)"))))
        }
      }
      let attached = marks.attach(follower.store)
      try await follower.catchUp()
      func marked() async throws -> Int {
        let query = NoteMark.all.leading(by: \.note, to: Note.all)
        return try await attached.read { try $0.count(query) }
      }
      #expect(try await marked() == 100)
      for (index, numbers) in [50..<150, 0..<120, 90..<200].enumerated() {
        try await run(numbers, index + 2)
        try await writer.flush()
        try await follower.catchUp()
        let (own, copy) = (
          try ReplicaFixture.digests(of: store), try ReplicaFixture.digests(of: follower.store)
        )
        #expect(own == copy)
        #expect(try await marked() == numbers.count)
      }
      marks.close()
      try await writer.stop()
      #expect(try await fixture.restored() == ReplicaFixture.notes(of: store))
      try await ReplicaFixture.end(follower, equalTo: store)
      try ReplicaFixture.end(store)
    }
  }

  /// A record that expires.
  private struct Ticket: Entity {
    var id = RecordID<Ticket>()
    var code: String
    var until: Date?

    struct Attributes: Sendable {
      var id: Attribute<Ticket, RecordID<Ticket>> { .recordID }
      var code: Attribute<Ticket, String> { .init(0) }
      var until: Attribute<Ticket, Date?> { .init(1) }
    }

    static var attributes: Attributes { Attributes() }
    static let schema = EntitySchema<Ticket>(
      "Ticket", attributes: [.init("code", \.code), .init("until", \.until)], unique: [[\.code]],
      expires: [\.until])

    init(code: String, until: Date?) { (self.code, self.until) = (code, until) }

    func encode(into writer: inout RecordWriter) {
      writer.write(code)
      writer.write(until)
    }

    init(from reader: inout RecordReader) throws(StoreError) {
      code = try reader.read()
      until = try reader.read()
    }
  }

  /// A record that refers to a record of a copy.
  private struct NoteMark: Entity {
    var id = RecordID<NoteMark>()
    var note: Reference<Note>

    struct Attributes: Sendable {
      var id: Attribute<NoteMark, RecordID<NoteMark>> { .recordID }
      var note: Attribute<NoteMark, Reference<Note>> { .init(0) }
    }

    static var attributes: Attributes { Attributes() }
    static let schema = EntitySchema<NoteMark>(
      "NoteMark", attributes: [.init("note", \.note)], indexes: [[\.note]])

    init(note: Reference<Note>) { self.note = note }

    func encode(into writer: inout RecordWriter) { writer.write(note) }

    init(from reader: inout RecordReader) throws(StoreError) { note = try reader.read() }
  }

  extension Note {
    fileprivate static func key(title: String) -> EntityKey<Note> {
      Note.index(\.title).key(title)
    }
  }
#endif

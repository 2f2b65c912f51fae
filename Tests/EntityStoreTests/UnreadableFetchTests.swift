import Foundation
import LodestoreFormat
import Testing

@testable import EntityStore

/// The error of an unreadable record names the attribute, and other records can still be read.
@Suite struct `Records that cannot be read` {
  @Test func `an unreadable record is an error that names attribute, value and cases`() throws {
    try withNotes { store throws in
      func message(_ number: UInt64) throws -> String {
        try storeError(.undecodableValue) {
          try store.fetch(RecordID<Scrap>(rawValue: number))
        }.message
      }
      let end = "; add the case, or give the record another value, as with 'kvdump update'"
      #expect(
        try message(2)
          == "cannot read Note 2: attribute 'mood' is \"grim\", no case of Mood (calm, wild)\(end)")
      #expect(
        try message(3) == "cannot read Note 3: attribute 'grade' is 9, no case of Level\(end)")
      #expect(
        try message(4)
          == "cannot read Note 4: attribute 'spare' is \"odd\", no case of Mood (calm, wild)\(end)")
      #expect(
        try message(5).hasPrefix(
          "cannot read Note 5: attribute 'place': it does not decode as Spot: cannot decode town: it is "
            + "absent, and required"))
      let error = try storeError(.undecodableValue) {
        try store.fetch(RecordID<Scrap>(rawValue: 3))
      }
      #expect(error.attribute == "grade" && error.entity == "Note" && error.recordID == 3)
    }
  }

  @Test func `views and columns also report unreadable records`() throws {
    try withNotes { store throws in
      try store.read { snapshot throws in
        let viewed = try storeError(.undecodableValue) {
          try snapshot.withView(RecordID<Scrap>(rawValue: 2)) { try $0.mood }
        }
        #expect(viewed.message.contains("attribute 'mood' is \"grim\""))
        let column = try storeError(.undecodableValue) {
          try snapshot.values(Scrap.where { $0.text == "4" }, \.spare)
        }
        #expect(column.message.contains("attribute 'spare' is \"odd\""))
      }
    }
  }

  @Test func `every fetch reports unreadable records and reads the others`() throws {
    try withNotes { store throws in
      let good = ["1", "6"]
      let bad: [UInt64] = [2, 3, 4, 5]
      let ids = (1...6).map { RecordID<Scrap>(rawValue: $0) }
      var found: [(String, [Scrap], [UInt64])] = []
      func take(_ name: String, _ fetch: ((UnreadableRecord<Scrap>) -> Void) throws -> [Scrap])
        rethrows
      {
        var unreadable: [UInt64] = []
        let notes = try fetch { unreadable.append($0.id.rawValue) }
        found.append((name, notes, unreadable))
      }
      try take("store") { try store.fetch(Scrap.all, onUnreadable: $0) }
      try take("ids") { try store.fetch(ids, onUnreadable: $0) }
      try take("page") { try store.page(Scrap.all.limit(6), onUnreadable: $0).items }
      try take("results") { try store.results(Scrap.all).values(onUnreadable: $0) }
      let pinned = try store.snapshot()
      try take("pinned") { try pinned.fetch(Scrap.all, onUnreadable: $0) }
      pinned.end()
      try take("visit") { report in
        try store.read { snapshot throws in
          var notes: [Scrap] = []
          try snapshot.forEach(Scrap.all, onUnreadable: report) { notes.append($0) }
          return notes
        }
      }
      try take("write") { report in
        try store.write { try $0.fetch(Scrap.all, onUnreadable: report) }
      }
      for (name, notes, unreadable) in found {
        #expect(notes.map(\.text) == good, "\(name)")
        #expect(unreadable == bad, "\(name)")
      }
    }
  }

  @Test func `asynchronous fetches and batches report unreadable records`() async throws {
    try await withNotes { store in
      let unreadable = Collected()
      let notes = try await store.fetch(
        Scrap.all.sorted(by: \.text.descending), onUnreadable: { unreadable.add($0) })
      #expect(notes.map(\.text) == ["6", "1"])
      #expect(unreadable.taken == [5, 4, 3, 2])
      var batches: [[String]] = []
      for try await batch in store.batches(of: 2, Scrap.all, onUnreadable: { unreadable.add($0) }) {
        batches.append(batch.map(\.text))
      }
      #expect(batches == [["1"], [], ["6"]])
      #expect(unreadable.taken == [2, 3, 4, 5])
      await #expect(throws: StoreError.self) {
        for try await _ in store.batches(of: 2, Scrap.all) {}
      }
    }
  }

  @Test func `a printed unreadable record describes its fault`() throws {
    try withNotes { store throws in
      var printed: [String] = []
      _ = try store.fetch(Scrap.where { $0.text == "2" }, onUnreadable: { printed.append("\($0)") })
      #expect(printed.count == 1 && printed[0].hasPrefix("cannot read Note 2: attribute 'mood'"))
    }
  }

  @Test func `unreadable records with damaged bytes are reported, too`() throws {
    let store = try Store.inMemory(entities: [Scrap.self])
    let notes = try store.insert((1...3).map { Scrap(text: "\($0)") }, returning: .ids)
    try store.core.write { core in
      let entity = try core.entity(named: "Note")
      let id = notes.ids[1].rawValue
      let bytes = Array(try #require(try core.record(id, of: entity))).dropLast()
      try core.writing.put(littleEndianBytes(id), Array(bytes), in: entity.records)
    }
    var codes: [StoreError.Code] = []
    let found = try store.fetch(Scrap.all, onUnreadable: { codes.append($0.error.code) })
    #expect(found.map(\.text) == ["1", "3"] && codes == [.damaged])
    #expect(throws: StoreError.self) { try store.fetch(Scrap.all) }
    store.close()
  }

  // MARK: Six notes, of which four cannot be read

  private func withNotes(_ body: (Store) throws -> Void) throws {
    try withTemporaryPath { path in
      try fill(path)
      let store = try Store(at: path, entities: [Scrap.self])
      defer { store.close() }
      try body(store)
    }
  }

  private func withNotes(_ body: (Store) async throws -> Void) async throws {
    let folder = try TemporaryFolder()
    try fill(folder.storePath)
    let store = try Store(at: folder.storePath, entities: [Scrap.self])
    try await body(store)
    store.close()
    try expectSound(folder.storePath)
  }

  private func fill(_ path: String) throws {
    let store = try Store(at: path, entities: [PlainScrap.self])
    try store.insert([
      PlainScrap(text: "1"), PlainScrap(text: "2", mood: "grim"), PlainScrap(text: "3", grade: 9),
      PlainScrap(text: "4", spare: "odd"), PlainScrap(text: "5", place: Spot(town: "")),
      PlainScrap(text: "6", spare: "calm"),
    ])
    store.close()
  }
}

private final class Collected: @unchecked Sendable {
  private let lock = NSLock()
  private var ids: [UInt64] = []

  func add(_ record: UnreadableRecord<Scrap>) { lock.withLock { ids.append(record.id.rawValue) } }

  /// The ids added since the last call.
  var taken: [UInt64] {
    lock.withLock {
      defer { ids = [] }
      return ids
    }
  }
}

private enum Mood: String, CaseIterable, Codable { case calm, wild }
private enum Level: Int16, Codable { case low = 1, high = 2 }

/// A document without a town is encoded, but does not decode.
private struct Spot: Codable, Hashable {
  var town: String

  enum CodingKeys: CodingKey { case town }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    if !town.isEmpty { try container.encode(town, forKey: .town) }
  }
}

/// The entity as the program has it.
private struct Scrap: Entity {
  var id = RecordID<Scrap>()
  var text = ""
  var grade = Level.low
  var mood = Mood.calm
  var spare: Mood?
  var place = Spot(town: "Zug")

  init(text: String) { self.text = text }

  struct Attributes: Sendable {
    var id: Attribute<Scrap, RecordID<Scrap>> { .recordID }
    var text: Attribute<Scrap, String> { .init(0) }
    var grade: Attribute<Scrap, Level> { .init(1) }
    var mood: Attribute<Scrap, Mood> { .init(2) }
    var spare: Attribute<Scrap, Mood?> { .init(3) }
    var place: Attribute<Scrap, Spot> { .init(4) }
  }
  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Scrap>(
    "Note",
    attributes: [
      .init("text", \.text), .init("grade", \.grade), .init("mood", \.mood),
      .init("spare", \.spare),
      .init("place", \.place),
    ])

  init(from reader: inout RecordReader) throws(StoreError) {
    text = try reader.read()
    grade = try reader.read()
    mood = try reader.read()
    spare = try reader.read()
    place = try reader.read()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(text)
    writer.write(grade)
    writer.write(mood)
    writer.write(spare)
    writer.write(place)
  }
}

/// The stored entity of the type above without enumerations, as a program of another version
/// declares it.
private struct PlainScrap: Entity {
  var id = RecordID<PlainScrap>()
  var text: String
  var grade: Int16 = 1
  var mood = "calm"
  var spare: String?
  var place = Spot(town: "Zug")

  init(
    text: String, grade: Int16 = 1, mood: String = "calm", spare: String? = nil,
    place: Spot = Spot(town: "Zug")
  ) {
    self.text = text
    self.grade = grade
    self.mood = mood
    self.spare = spare
    self.place = place
  }

  static let schema = EntitySchema<PlainScrap>(
    "Note",
    attributes: [
      .init("text", \.text), .init("grade", \.grade), .init("mood", \.mood),
      .init("spare", \.spare),
      .init("place", \.place),
    ])

  init(from reader: inout RecordReader) throws(StoreError) {
    text = try reader.read()
    grade = try reader.read()
    mood = try reader.read()
    spare = try reader.read()
    place = try reader.read()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(text)
    writer.write(grade)
    writer.write(mood)
    writer.write(spare)
    writer.write(place)
  }
}

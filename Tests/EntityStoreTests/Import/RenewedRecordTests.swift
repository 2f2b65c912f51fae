import EntityStore
import Foundation
import Testing

/// The strategy `replaceMatching` removes a stored record and inserts a new one in its place.
///
/// A new record is refused before the stored one is removed.
@Suite struct `A record that an import renews` {
  private func pages(_ pages: [String]) -> AsyncStream<Data> {
    AsyncStream { continuation in
      for page in pages { continuation.yield(Data(page.utf8)) }
      continuation.finish()
    }
  }

  @Test(arguments: [#"{"code":1,"title":"B"}"#, #"{"code":1,"title":"loud"}"#])
  func `a renewed record is refused with its derived values, and the stored one stays`(
    record: String
  ) async throws {
    try await withTemporaryStore([Song.self, Label.self]) { store in
      try await store.insert([Song(code: 1, title: "a"), Song(code: 2, title: "b")])
      let importer = Importer(
        into: store, Song.self, matching: .unique(\.code), strategy: .replaceMatching)
      // The record comes twice in its page and is written alone, comes once, or comes with another
      // record.
      for page in ["[\(record),\(record)]", "[\(record)]", #"[\#(record),{"code":3,"title":"c"}]"#]
      {
        let report = try await importer.run(pages([page, page]), renaming: [:])
        #expect(report.rejected > 0 && report.updated == 0, "\(report)")
        let songs = try await store.fetch(Song.all.sorted(by: \.code)).prefix(2)
        #expect(songs.map(\.title) == ["a", "b"] && songs.map(\.slug) == ["a", "b"])
      }
    }
  }

  @Test func `a renewed record has derived values of its own, alone and among others`() async throws
  {
    try await withTemporaryStore([Song.self, Label.self]) { store in
      let label = try await store.insert(Label(name: "Blue"))
      try await store.insert(
        (1...4).map { Song(code: $0, title: "t\($0)", label: label.id) })
      let before = try await store.fetch(Song.all)
      #expect(before.allSatisfy { $0.labelName == "Blue" })
      let importer = Importer(
        into: store, Song.self, matching: .unique(\.code), strategy: .replaceMatching)
      let blue = label.id.rawValue
      // Code 4 occurs twice in the import, so its records are written alone.
      let report = try await importer.run(
        pages([
          #"[{"code":1,"title":"t1","label":null},{"code":2,"title":"new","label":\#(blue)}]"#,
          #"[{"code":4,"title":"t4","label":null},{"code":3,"title":"t3","label":\#(blue)}]"#,
          #"[{"code":4,"title":"last","label":null}]"#,
        ]), renaming: [:])
      #expect(report.rejected == 0, "\(report)")
      let after = try await store.fetch(Song.all.sorted(by: \.code))
      #expect(after.map(\.title) == ["t1", "new", "t3", "last"])
      #expect(after.map(\.labelName) == [nil, "Blue", "Blue", nil])
      // A kept record keeps its time of insertion. A replaced record has the time of its write.
      #expect(after.map { $0.insertedAt > before[0].insertedAt } == [true, true, false, true])
      #expect(after[2].id == before[2].id)
    }
  }

  @Test func `a renewed record is refused by a rule that names the id of the record`() async throws
  {
    try await withTemporaryStore([Node.self]) { store in
      let first = try await store.insert(Node(name: "first"))
      #expect(first.id.rawValue == 1)
      let own = #expect(throws: StoreError.self) {
        try store.insert(Node(name: "own", parent: Node.ID(rawValue: 2)))
      }
      #expect(own?.code == .invalidValue)
      let several = #expect(throws: StoreError.self) {
        try store.insert([Node(name: "good"), Node(name: "own", parent: Node.ID(rawValue: 3))])
      }
      #expect(several?.code == .invalidValue && several?.violations.count == 1)
      let report = try await Importer(into: store, Node.self, matching: .unique(\.name))
        .run(
          pages([#"[{"name":"a","parent":1},{"name":"own","parent":3},{"name":"c","parent":2}]"#]),
          renaming: [:])
      #expect(report.inserted == 2 && report.rejected == 1, "\(report)")
      #expect(try await store.fetch(Node.all).map(\.name) == ["first", "a", "c"])
    }
  }

  @Test(arguments: [false, true])
  func `is refused by a rule on the id that it would get, alone and among others`(
    isAlone: Bool
  ) async throws {
    try await withTemporaryStore([Seat.self]) { store in
      try await store.insert(["a", "b", "c"].enumerated().map { Seat(name: $1, place: $0) })
      let importer = Importer(
        into: store, Seat.self, matching: .unique(\.name), strategy: .replaceMatching)
      let records = ["a", "b", "c"].enumerated().map {
        #"{"name":"\#($1)","place":\#($0),"note":"new"}"#
      }
      let report = try await importer.run(
        pages(
          isAlone ? records.map { "[\($0)]" } : ["[\(records.joined(separator: ","))]"]),
        renaming: [:])
      #expect(report.updated == 1 && report.rejected == 2, "\(report)")
      let seats = try await store.fetch(Seat.all)
      #expect(seats.map(\.id.rawValue) == [2, 3, 4])
      #expect(seats.map(\.name) == ["b", "c", "a"] && seats.map(\.note) == ["", "", "new"])
    }
  }

  @Test(arguments: [2, 3])
  func `takes the key of another one, unless a rule refuses one of their new ids`(
    count: Int
  ) async throws {
    try await withTemporaryStore([Seat.self]) { store in
      let names = ["a", "b", "c"].prefix(count)
      try await store.insert(names.enumerated().map { Seat(name: $1, place: $0) })
      let importer = Importer(
        into: store, Seat.self, matching: .unique(\.name), strategy: .replaceMatching)
      let report = try await importer.run(
        pages([#"[{"name":"a","place":1,"note":"new"},{"name":"b","place":0,"note":"new"}]"#]),
        renaming: [:])
      let isExchanged = count == 2
      #expect(report.updated == (isExchanged ? 2 : 0), "\(report)")
      #expect(report.rejected == (isExchanged ? 0 : 2), "\(report)")
      let seats = try await store.fetch(Seat.all)
      #expect(seats.map(\.id.rawValue) == (isExchanged ? [3, 4] : [1, 2, 3]))
      #expect(seats.map(\.place) == (isExchanged ? [1, 0] : [0, 1, 2]))
    }
  }
}

/// A record with two unique keys and a rule on its id.
private struct Seat: Entity {
  var id = RecordID<Seat>()
  var name: String
  var place: Int
  var note = ""

  static let schema = EntitySchema<Seat>(
    "Seat",
    attributes: [.init("name", \.name), .init("place", \.place), .init("note", \.note)],
    unique: [[\.name], [\.place]],
    rules: [RecordRule("there are four seats", format: "_id <= 4")])

  init(name: String, place: Int) {
    self.name = name
    self.place = place
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    place = try reader.read()
    note = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(place)
    writer.write(note)
  }
}

private struct Label: Entity {
  var id = RecordID<Label>()
  var name: String

  struct Attributes: Sendable {
    var name: Attribute<Label, String> { .init(0) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Label>("Label", attributes: [.init("name", \.name)])

  init(name: String) { self.name = name }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

/// A record with a unique key and a rule over derived attributes.
private struct Song: Entity {
  var id = RecordID<Song>()
  var code: Int
  var title: String
  var label: Label.ID?
  private(set) var slug = ""
  private(set) var labelName: String?
  private(set) var insertedAt = Date.distantPast

  struct Attributes: Sendable {
    var code: Attribute<Song, Int> { .init(0) }
    var title: Attribute<Song, String> { .init(1) }
    var slug: Attribute<Song, String> {
      get { .init(3) }
      set {}
    }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Song>(
    "Song",
    attributes: [
      .init("code", \.code), .init("title", \.title), .toOne("label", \.label),
      .derived("slug", \.slug, .lowercase(\.title)),
      .derived("labelName", \.labelName, .copy(\.label, \.name)),
      .derived("insertedAt", \.insertedAt, .insertedAt),
    ], unique: [[\.code], [\.slug]],
    rules: [RecordRule("nothing is loud", format: "slug != 'loud'")])

  init(code: Int, title: String, label: Label.ID? = nil) {
    self.code = code
    self.title = title
    self.label = label
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    code = try reader.read()
    title = try reader.read()
    label = try reader.read()
    slug = try reader.read()
    labelName = try reader.read()
    insertedAt = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(code)
    writer.write(title)
    writer.write(label)
  }
}

/// A record that may not lead to itself.
private struct Node: Entity {
  var id = RecordID<Node>()
  var name: String
  var parent: Node.ID?

  static let children = ToMany<Node, Node>(inverse: \.parent)

  static let schema = EntitySchema<Node>(
    "Node", attributes: [.init("name", \.name), .toOne("parent", \.parent)],
    unique: [[\.name]], relationships: [.init("children", children)],
    rules: [RecordRule("nobody is their own parent", format: "parent == nil OR parent != _id")])

  init(name: String, parent: Node.ID? = nil) {
    self.name = name
    self.parent = parent
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    parent = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(parent)
  }
}

import Foundation
import Testing

@testable import EntityStore

@Suite struct `What opening a store would change` {
  @Test func `a preview reports each change of an opening with its cost, and changes nothing`()
    throws
  {
    try withTemporaryPath { path throws in
      try Movies.make(at: path, count: 50)
      let before = try Data(contentsOf: URL(filePath: path))
      let same = try Store.schemaChanges(at: path, opening: Movies.old)
      #expect(same.isEmpty, "\(same)")
      let unknown = try Store.schemaChanges(at: path, opening: [Film.self])
      #expect(unknown.map(\.description) == ["Film: new entity (free)"])
      let other = try Store.schemaChanges(at: path, opening: [OtherMovie.self, OldStudio.self])
      #expect(
        other.map(\.description) == [
          "Movie: 'year' is renamed to 'made' (free)",
          "Movie: 'made' becomes required, and 8 records have no value; give them one, as the step "
            + "'require' of a stage does (refused)",
          "Movie: attribute 'rating' goes, with its values (free)",
          "Movie: 'director' has other constraints, for records written from now on (free)",
          "Movie: new attribute 'length', optional int64 (free)",
          "Movie: new unique index on name (pass)",
        ], "\(other)")
      let refused = try Store.schemaChanges(at: path, opening: [WrongMovie.self])
      #expect(refused.map(\.cost) == [.refused] && refused[0].text.contains("Movie.name"))
      let stages = try Store.schemaChanges(at: path, opening: Movies.new, migrating: Movies.stages)
      #expect(!stages.contains { $0.cost == .refused }, "\(stages)")
      #expect(stages.first?.description == "stage 1: rename entity Movie to Film (free)")
      #expect(stages.contains { $0.text == "'movieCount' is derived again" && $0.cost == .pass })
      let broken = [MigrationStage(to: 1, .convert("name", of: "Movie", to: Int.self))]
      let failing = try Store.schemaChanges(at: path, opening: [], migrating: broken)
      #expect(failing.last?.cost == .refused && failing.last?.entity == "Movie")
      #expect(try Data(contentsOf: URL(filePath: path)) == before)
      _ = try storeError(.noSuchStore) { try Store.schemaChanges(at: path + "x", opening: []) }
    }
  }

  @Test func `a preview names the pairs of records that a unique index would refuse`() throws {
    try withTemporaryPath { path throws in
      let store = try Store(at: path, entities: Movies.old)
      try store.insert((0..<30).map { OldMovie("N\($0 / 2)", episode: $0) })
      store.close()
      let error = try storeError(.incompatibleSchema) {
        try Store(at: path, entities: [OtherMovie.Unique.self])
      }
      #expect(error.message.contains("the records 1 and 2, 3 and 4, 21 and 22, "), "\(error)")
      #expect(error.violations.count == 10 && error.violations[0].recordID == 2)
      #expect(error.violations[0].rule.contains("as record 1"))
    }
  }
}

private struct OtherMovie: Entity {
  var id = RecordID<OtherMovie>()
  var name: String
  var made: Int
  var director: String
  var length: Int?

  static let schema = EntitySchema<OtherMovie>(
    "Movie",
    attributes: [
      .init("name", \.name), .init("made", \.made, originalName: "year"),
      .init("director", \.director, constraints: [.length(1...)]), .init("length", \.length),
    ],
    unique: [[\.name]], removed: ["rating"])

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    made = try reader.read()
    director = try reader.read()
    length = try reader.read()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(made)
    writer.write(director)
    writer.write(length)
  }

  struct Unique: Entity {
    var id = RecordID<Unique>()
    var name: String

    static let schema = EntitySchema<Unique>(
      "Movie", attributes: [.init("name", \.name)], unique: [[\.name]])

    init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }

    func encode(into writer: inout RecordWriter) { writer.write(name) }
  }
}

private struct WrongMovie: Entity {
  var id = RecordID<WrongMovie>()
  var name: Int

  static let schema = EntitySchema<WrongMovie>("Movie", attributes: [.init("name", \.name)])

  init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }

  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

import LodestoreFormat
import Testing

@testable import EntityStore

/// An entity whose default for stars is that of `Default`.
private struct Rated<Default: StarDefault>: Entity {
  var id = RecordID<Rated>()
  var name: String
  var stars: Int
  var note: String?

  static var schema: EntitySchema<Rated> {
    EntitySchema(
      "Rated",
      attributes: [
        .init("name", \.name),
        .init("stars", \.stars, initial: Default.stars),
        .init("note", \.note),
      ], unique: [[\.name]])
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    stars = try reader.read()
    note = try reader.read()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(stars)
    writer.write(note)
  }
}

private protocol StarDefault: Sendable {
  static var stars: Int? { get }
}

private enum One: StarDefault { static let stars: Int? = 1 }
private enum Seven: StarDefault { static let stars: Int? = 7 }
private enum None: StarDefault { static let stars: Int? = nil }

/// The entity before it had stars.
private struct Unrated: Entity {
  var id = RecordID<Unrated>()
  var name: String

  static let schema = EntitySchema<Unrated>(
    "Rated", attributes: [.init("name", \.name)], unique: [[\.name]])

  init(_ name: String) { self.name = name }
  init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }
  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

@Suite struct `A default value that changes` {
  private func open<Default: StarDefault, R>(
    _ path: String, _: Default.Type, _ body: (Store) throws -> R
  ) throws -> R {
    let store = try Store(at: path, entities: [Rated<Default>.self])
    defer { store.close() }
    return try body(store)
  }

  private func insert<Default: StarDefault>(
    _ path: String, _: Default.Type, _ name: String
  ) throws -> [Int] {
    try open(path, Default.self) { store in
      let entity = Rated<Default>.self
      _ = try store.write { tx in try tx.insert(entity, dictionaries: [["name": name]]) }
      return try store.fetch(Rated<Default>.all).map(\.stars)
    }
  }

  private func changes<Default: StarDefault>(_ path: String, _: Default.Type) throws -> [String] {
    try Store.changes(at: path, opening: [Rated<Default>.self]).map(\.description)
  }

  @Test func `holds for new records, and the stored ones stay as they are`() throws {
    try withTemporaryPath { path throws in
      let store = try Store(at: path, entities: [Unrated.self])
      try store.insert(Unrated("old"))
      store.close()
      #expect(try insert(path, One.self, "a") == [1, 1])
      #expect(
        try changes(path, Seven.self) == [
          "Rated: 'stars' has the default 7 for new records, and had the default 1 (free)"
        ])
      #expect(try insert(path, Seven.self, "b") == [1, 1, 7])
      #expect(try changes(path, Seven.self) == [])
      try open(path, Seven.self) { store in
        let attribute = store.core.schema.entity(named: "Rated")?.description
          .attribute(named: "stars")
        #expect(attribute?.initial == .integer(1) && attribute?.defaultValue == .integer(7))
      }
      #expect(try insert(path, One.self, "c") == [1, 1, 7, 1])
      try open(path, One.self) { store in
        let attribute = store.core.schema.entity(named: "Rated")?.description
          .attribute(named: "stars")
        #expect(attribute?.changedDefault == nil)
      }
    }
  }

  @Test func `may be none, and then a value must be given`() throws {
    try withTemporaryPath { path throws in
      _ = try insert(path, One.self, "a")
      #expect(
        try changes(path, None.self) == [
          "Rated: 'stars' has no default for new records, and had the default 1 (free)"
        ])
      let error = try storeError(.unstorableValue) { try insert(path, None.self, "b") }
      #expect(error.attribute == "stars")
      #expect(try insert(path, Seven.self, "c") == [1, 7])
    }
  }

  @Test func `is not that of the step require`() throws {
    try withTemporaryPath { path throws in
      _ = try insert(path, One.self, "a")
      let stage = MigrationStage(to: 1, .require("note", of: "Rated", default: "none"))
      let store = try Store(at: path, entities: [Noted.self], migrating: [stage])
      defer { store.close() }
      #expect(try store.fetch(Noted.all).map(\.note) == ["none"])
      _ = try storeError(.unstorableValue) {
        try store.write { tx in _ = try tx.insert(Noted.self, dictionaries: [["name": "b"]]) }
      }
    }
  }
}

private struct Noted: Entity {
  var id = RecordID<Noted>()
  var name: String
  var note: String

  static let schema = EntitySchema<Noted>(
    "Rated", attributes: [.init("name", \.name), .init("note", \.note)], unique: [[\.name]])

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    note = try reader.read()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(note)
  }
}

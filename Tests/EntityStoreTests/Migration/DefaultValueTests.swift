import Foundation
import LodestoreFormat
import Testing

@testable import EntityStore
@testable import KVDumpCommands

/// An entity whose default for stars is the default of the version `Default`.
private struct Rated<Default: StarDefault>: Entity {
  var id = RecordID<Rated>()
  var name: String
  var stars: Int
  var note: String?
  var like: RecordID<Rated>?

  struct Attributes: Sendable {
    var name: Attribute<Rated, String> { .init(0) }
    var like: Attribute<Rated, RecordID<Rated>?> { .init(3) }
  }

  static var attributes: Attributes { Attributes() }

  static var schema: EntitySchema<Rated> {
    EntitySchema(
      "Rated",
      attributes: [
        .init("name", \.name),
        .init("stars", \.stars, initial: Default.stars),
        .init("note", \.note), .toOne("like", \.like),
      ], unique: [[\.name]])
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    stars = try reader.read()
    note = try reader.read()
    like = try reader.read()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(stars)
    writer.write(note)
    writer.write(like)
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
    try Store.schemaChanges(at: path, opening: [Rated<Default>.self]).map(\.description)
  }

  @Test func `a changed default holds for new records, and stored records stay unchanged`() throws {
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

  /// The ways in which a record without its own value gets into a store.
  enum Source: CaseIterable {
    case dictionary, members, links, tool
  }

  private func load<Default: StarDefault>(
    _ path: String, _: Default.Type, _ name: String, by source: Source
  ) async throws {
    let store = try Store(at: path, entities: [Rated<Default>.self])
    defer { store.close() }
    switch source {
    case .dictionary:
      try await store.write { tx in
        try tx.insert(Rated<Default>.self, dictionaries: [["name": name]])
      }
    case .members, .links:
      var importer = Importer(
        into: store, Rated<Default>.self, matching: .unique(\.name), onConflict: .patch())
      // The link creates the missing record. The record that has the link exists already.
      importer.links = [.init("like", \.like, by: \.name, makesMissing: true)]
      let page =
        source == .members ? #"[{"name": "\#(name)"}]"# : #"[{"name": "0", "like": "\#(name)"}]"#
      let report = try await importer.run(
        AsyncStream { continuation in
          continuation.yield(Data(page.utf8))
          continuation.finish()
        }, renaming: [:])
      #expect(report.rejected == 0, "\(report)")
    case .tool:
      let messages = MemorySink()
      let file = path + ".json"
      try Data(#"[{"name": "\#(name)"}]"#.utf8).write(to: URL(filePath: file))
      defer { try? FileManager.default.removeItem(atPath: file) }
      let status = await KVDump.execute(
        ["import", path, file, "--entity", "Rated"],
        on: Console(output: MemorySink(), errors: messages))
      #expect(status == .success, "\(messages.text)")
    }
  }

  private func stars(_ path: String) throws -> [Int] {
    try open(path, One.self) { store in try store.fetch(Rated<One>.all).map(\.stars) }
  }

  @Test(arguments: Source.allCases)
  func `a changed default holds for records from every source`(source: Source) async throws {
    let folder = try TemporaryFolder()
    let path = folder.storePath
    try await load(path, One.self, "0", by: .dictionary)
    try await load(path, One.self, "a", by: source)
    // Opening with another default changes the default in the file, which the tool then uses too.
    try open(path, Seven.self) { _ in }
    try await load(path, Seven.self, "b", by: source)
    let store = try Store(at: path, entities: [])
    let found = try store.core.read { core in
      let entity = try core.entity(named: "Rated")
      let attribute = entity.description.attribute(named: "stars")
      #expect(attribute?.defaultValue == .integer(7))
      return try core.count(of: entity)
    }
    store.close()
    #expect(found == 3)
    #expect(try stars(path) == [1, 1, 7])
    try expectSound(path)
  }

  @Test func `a removed default makes a value necessary`() throws {
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

  @Test func `the default of the step 'require' does not hold for new records`() throws {
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

  @Test func `the default of the step 'require' does not hold for imported records`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.storePath
    try await load(path, One.self, "a", by: .dictionary)
    let stage = MigrationStage(to: 1, .require("note", of: "Rated", default: "none"))
    let store = try Store(at: path, entities: [Noted.self], migrating: [stage])
    let report = try await Importer(into: store, Noted.self, matching: .unique(\.name)).run(
      AsyncStream { continuation in
        continuation.yield(Data(#"[{"name": "b"}, {"name": "c", "note": "c"}]"#.utf8))
        continuation.finish()
      }, renaming: [:])
    #expect(report.inserted == 1 && report.rejected == 1, "\(report)")
    #expect(report.rejects.first?.reason.contains("note") == true, "\(report)")
    store.close()
    let file = path + ".json"
    try Data(#"[{"name": "d"}, {"name": "e", "note": "e"}]"#.utf8).write(to: URL(filePath: file))
    let output = MemorySink()
    let status = await KVDump.execute(
      ["import", path, file, "--entity", "Rated"],
      on: Console(output: output, errors: MemorySink()))
    #expect(status == .success)
    #expect(output.text.contains(#""rejected":1"#), "\(output.text)")
    let again = try Store(at: path, entities: [Noted.self], migrating: [stage])
    #expect(try await again.fetch(Noted.all).map(\.note) == ["none", "c", "e"])
    again.close()
    try expectSound(path)
  }
}

private struct Noted: Entity {
  var id = RecordID<Noted>()
  var name: String
  var note: String

  struct Attributes: Sendable {
    var name: Attribute<Noted, String> { .init(0) }
  }

  static var attributes: Attributes { Attributes() }

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

import Foundation
import LodestoreFormat
import Testing

@testable import EntityStore

/// A version of a program, given by its declaration of an attribute of ``Language``.
private protocol LanguageVersion: Sendable {
  static var sharp: AttributeDefinition<Language<Self>> { get }
}

private struct Language<Version: LanguageVersion>: Entity {
  var id = RecordID<Language>()
  var name: String
  var sharp: Int?

  static var schema: EntitySchema<Language> {
    EntitySchema(
      "Language", attributes: [.init("name", \.name), Version.sharp], unique: [[\.name]])
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    sharp = try reader.read()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(sharp)
  }
}

private enum Stated: LanguageVersion {
  static var sharp: AttributeDefinition<Language<Self>> { .init("sharp", \.sharp).member("C#") }
}

private enum Silent: LanguageVersion {
  static var sharp: AttributeDefinition<Language<Self>> { .init("sharp", \.sharp) }
}

private enum Underscored: LanguageVersion {
  static var sharp: AttributeDefinition<Language<Self>> { .init("c_sharp", \.sharp) }
}

private enum RenamedSharp: LanguageVersion {
  static var sharp: AttributeDefinition<Language<Self>> {
    .init("cSharp", \.sharp, originalName: "sharp")
  }
}

private enum TakenBack: LanguageVersion {
  static var sharp: AttributeDefinition<Language<Self>> { .init("sharp", \.sharp).member("sharp") }
}

private enum Doubled: LanguageVersion {
  static var sharp: AttributeDefinition<Language<Self>> { .init("sharp", \.sharp).member("name") }
}

@Suite struct `Attributes that are filled from members of other names` {
  private func importing<V: LanguageVersion>(
    _: V.Type, _ path: String, _ text: String, renaming names: [String: String] = [:]
  ) async throws -> (report: ImportReport, values: [Int?]) {
    let store = try Store(at: path, entities: [Language<V>.self])
    defer { store.close() }
    let importer = Importer(into: store, Language<V>.self, matching: .unique(\.name))
    let pages = AsyncStream { continuation in
      continuation.yield(Data(text.utf8))
      continuation.finish()
    }
    let report = try await importer.run(pages, renaming: names)
    return (report, try await store.read { try $0.fetch(Language<V>.all).map(\.sharp) })
  }

  private func source(_ path: String) throws -> (source: String?, needs: UInt32) {
    let core = try StoreCore(path: path, options: .readOnly)
    defer { core.close() }
    return try core.read { core in
      let entity = try core.entity(named: "Language").description
      let needs = FormatRequirement(of: entity.features).lowestWriter
      return (entity.declaredAttributes[1].source, needs)
    }
  }

  @Test func `the file stores an attribute's member through undeclared use and a renaming`()
    async throws
  {
    let folder = try TemporaryFolder()
    let path = folder.storePath
    let first = try await importing(Stated.self, path, #"[{"name":"a","C#":1,"C+":2}]"#)
    #expect(first.report.inserted == 1 && first.values == [1])
    #expect(first.report.unknownMembers == ["C+": 1])
    #expect(try source(path) == ("C#", 6))
    let silent = try await importing(Silent.self, path, #"[{"name":"a","C#":2}]"#)
    #expect(silent.values == [2] && silent.report.unknownMembers.isEmpty)
    #expect(try source(path) == ("C#", 6))
    let renamed = try await importing(RenamedSharp.self, path, #"[{"name":"a","C#":3,"cSharp":9}]"#)
    #expect(renamed.values == [3] && renamed.report.unknownMembers == ["cSharp": 1])
    #expect(try source(path) == ("C#", 6))
    try expectSound(path)
  }

  @Test func `renaming precedes an attribute's member, and its own name comes last`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.storePath
    let text =
      #"[{"name":"a","sharp":1,"C#":2,"see":3},{"name":"b","C#":4},{"name":"c","sharp":5}]"#
    let found = try await importing(Stated.self, path, text, renaming: ["see": "sharp"])
    #expect(found.values == [3, 4, 5])
    #expect(found.report.unknownMembers == ["C#": 1, "sharp": 1])
    try expectSound(path)
  }

  @Test func `attributes take no member of a similar name`() async throws {
    let folder = try TemporaryFolder()
    let found = try await importing(
      Underscored.self, folder.storePath, #"[{"name":"a","c-sharp":1,"c sharp":2}]"#)
    #expect(found.values == [nil])
    #expect(found.report.unknownMembers == ["c-sharp": 1, "c sharp": 1])
    #expect(try source(folder.storePath) == (nil, 1))
    try expectSound(folder.storePath)
  }

  @Test func `attributes drop a member for their own name, and never share a member`() async throws
  {
    let folder = try TemporaryFolder()
    let path = folder.storePath
    _ = try await importing(Silent.self, path, #"[{"name":"a","sharp":1}]"#)
    let changes = try Store.schemaChanges(at: path, opening: [Language<Stated>.self])
    #expect(changes.map(\.text) == ["'sharp' is imported from the member 'C#'"])
    #expect(changes.map(\.cost) == [.free])
    _ = try await importing(Stated.self, path, #"[{"name":"a","C#":2}]"#)
    let back = try await importing(TakenBack.self, path, #"[{"name":"a","C#":3}]"#)
    #expect(back.values == [nil] && back.report.unknownMembers == ["C#": 1])
    #expect(try source(path).source == nil)
    // A declared source name has priority over the attribute with the member's name, which then
    // gets no value.
    let doubled = try await importing(
      Doubled.self, path, #"[{"name":7}]"#, renaming: [:])
    #expect(doubled.report.rejected == 1)
    try expectSound(path)
  }

  @Test func `two attributes cannot have the same member`() throws {
    func attribute(_ name: String, _ source: String?) -> DeclaredEntity.Attribute {
      DeclaredEntity.Attribute(
        name: name, source: source, storage: AttributeStorage(type: .int64, isOptional: true))
    }
    #expect(throws: StoreError.self) {
      try DeclaredEntity(
        name: "E", attributes: [attribute("a", "x"), attribute("b", "x")], indexes: [])
    }
    #expect(throws: StoreError.self) {
      try DeclaredEntity(
        name: "E", attributes: [attribute("a", String(repeating: "x", count: 1_025))], indexes: [])
    }
    let folder = try TemporaryFolder()
    let store = try DynamicStore(path: folder.storePath, options: StoreOptions())
    defer { store.close() }
    func declare(_ attributes: DeclaredEntity.Attribute...) throws {
      try store.declare([
        try DeclaredEntity(name: "E", attributes: attributes, indexes: [], isPartial: true)
      ])
    }
    try declare(attribute("a", "x"), attribute("b", "y"))
    let error = #expect(throws: StoreError.self) { try declare(attribute("c", "x")) }
    #expect(error?.message.contains("'a' and 'c' have the same member 'x'") == true)
    // Two attributes may exchange their source names.
    try declare(attribute("a", "y"), attribute("b", "x"))
    #expect(store.entities[0].description.declaredAttributes.map(\.source) == ["y", "x"])
  }
}

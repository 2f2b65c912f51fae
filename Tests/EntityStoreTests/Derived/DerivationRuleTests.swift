import EntityStore
import Testing

private protocol TagVersion: Sendable {
  static var number: UInt32 { get }
  static func key(of name: String) -> String
}

/// A tag with a key that a function derives, and a rule over the key.
private struct Tag<Version: TagVersion>: Entity {
  var id = RecordID<Tag>()
  var name: String
  private(set) var key = ""

  init(_ name: String) { self.name = name }

  static var schema: EntitySchema<Tag> {
    EntitySchema(
      "Tag",
      attributes: [
        .init("name", \.name),
        .derived(
          "key", \.key, .function(version: Version.number) { Version.key(of: $0.name) }),
      ], rules: [RecordRule("a tag has a key", format: "key != ''")])
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    key = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

private enum WholeName: TagVersion {
  static let number: UInt32 = 1
  static func key(of name: String) -> String { name }
}

private enum WithoutFirst: TagVersion {
  static let number: UInt32 = 2
  static func key(of name: String) -> String { String(name.dropFirst()) }
}

private enum Doubled: TagVersion {
  static let number: UInt32 = 3
  static func key(of name: String) -> String { name + name }
}

@Suite struct `Rules over a derived attribute` {
  private func keys<Version: TagVersion>(_ path: String, _: Version.Type) throws -> [String] {
    let store = try Store(at: path, entities: [Tag<Version>.self])
    defer { store.close() }
    return try store.fetch(Tag<Version>.all).map(\.key)
  }

  @Test func `rules refuse a function version that breaks them, and the file stays unchanged`()
    throws
  {
    try withTemporaryPath { path throws in
      let store = try Store(at: path, entities: [Tag<WholeName>.self])
      try store.insert([Tag<WholeName>("ab"), Tag<WholeName>("b"), Tag<WholeName>("c")])
      store.close()
      let error = try storeError(.incompatibleSchema) { try keys(path, WithoutFirst.self) }
      #expect(error.entity == "Tag" && error.recordID == 2)
      #expect(error.violations.map(\.rule) == ["a tag has a key", "a tag has a key"])
      #expect(error.violations.map(\.recordID) == [2, 3])
      #expect(error.message.contains("a tag has a key"))
      try expectSound(path)
      #expect(try keys(path, WholeName.self) == ["ab", "b", "c"])
      #expect(try keys(path, Doubled.self) == ["abab", "bb", "cc"])
      try expectSound(path)
    }
  }
}

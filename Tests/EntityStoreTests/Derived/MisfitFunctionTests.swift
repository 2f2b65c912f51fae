import EntityStore
import Testing

private struct Other: Entity {
  var id = RecordID<Other>()
  var name: String
  init(_ name: String) { self.name = name }
  static let schema = EntitySchema<Other>("Other", attributes: [.init("name", \.name)])
  init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }
  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

private struct Held: Entity {
  var id = RecordID<Held>()
  var name: String
  var other: RecordID<Other>?
  private(set) var key = ""
  init(_ name: String, _ other: RecordID<Other>?) {
    self.name = name
    self.other = other
  }
  static let schema = EntitySchema<Held>(
    "Held",
    attributes: [
      .init("name", \.name), .toOne("other", \.other),
      .derived("key", \.key, .function(version: 1) { String($0.name.prefix(1)) }),
    ])
  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    other = try reader.read()
    key = try reader.read()
  }
  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(other)
  }
}

private struct HeldLess: Entity {
  var id = RecordID<HeldLess>()
  var other: RecordID<Other>?
  private(set) var key = ""
  static let schema = EntitySchema<HeldLess>(
    "Held",
    attributes: [
      .toOne("other", \.other), .derived("key", \.key, .function(version: 1) { _ in "k" }),
    ], removed: ["name"])
  init(from reader: inout RecordReader) throws(StoreError) {
    other = try reader.read()
    key = try reader.read()
  }
  func encode(into writer: inout RecordWriter) { writer.write(other) }
}

/// A derivation function reads values through the type that declares it.
@Test func `A function is not called on records that its type does not fit any more`() throws {
  try withTemporaryPath { path throws in
    let store = try Store(at: path, entities: [Other.self, Held.self])
    defer { store.close() }
    let other = try store.write { tx throws in
      let other = try tx.insert(Other("o")).id
      try tx.insert(Held("h", other))
      return other
    }
    // Meanwhile another program removes an attribute that the function reads.
    let changed = try Store(at: path, entities: [Other.self, HeldLess.self])
    defer { changed.close() }
    let error = try storeError(.incompatibleSchema) {
      try store.write { tx in try tx.delete(other) }
    }
    #expect(error.entity == "Held" && error.attribute == "key", "\(error)")
    #expect(try changed.fetch(HeldLess.all).map(\.other?.rawValue) == [1])
  }
}

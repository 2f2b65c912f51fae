import LodestoreFormat
import Testing

@testable import EntityStore

// Entities with a name from which a function derives a value, in several versions.

private struct First: Entity {
  var id = RecordID<First>()
  var name: String
  private(set) var key = ""
  init(_ name: String) { self.name = name }
  static let schema = EntitySchema<First>(
    "First",
    attributes: [
      .init("name", \.name),
      .derived("key", \.key, .function(version: 1) { String($0.name.prefix(1)) }),
    ])
  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    key = try reader.read()
  }
  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

/// The entity with another version of the function.
private struct FirstAnew: Entity {
  var id = RecordID<FirstAnew>()
  var name: String
  private(set) var key = ""
  static let schema = EntitySchema<FirstAnew>(
    "First",
    attributes: [
      .init("name", \.name),
      .derived("key", \.key, .function(version: 2) { "2" + $0.name.prefix(1) }),
    ])
  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    key = try reader.read()
  }
  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

private struct FirstMore: Entity {
  var id = RecordID<FirstMore>()
  var name: String
  var extra = ""
  private(set) var key = ""
  static let schema = EntitySchema<FirstMore>(
    "First",
    attributes: [
      .init("name", \.name), .init("extra", \.extra, initial: ""),
      .derived("key", \.key, .function(version: 1) { String($0.name.prefix(1)) }),
    ])
  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    extra = try reader.read()
    key = try reader.read()
  }
  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(extra)
  }
}

// Entities with a name from which the store derives a value.

private struct Lower: Entity {
  var id = RecordID<Lower>()
  var name: String
  private(set) var key = ""
  init(_ name: String) { self.name = name }
  static let schema = EntitySchema<Lower>(
    "Lower",
    attributes: [.init("name", \.name), .derived("key", \.key, .lowercase(\.name))],
    indexes: [[\.key]])
  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    key = try reader.read()
  }
  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

// Entities whose records refer to other records.

private struct Other: Entity {
  var id = RecordID<Other>()
  var name: String
  init(_ name: String) { self.name = name }
  static let schema = EntitySchema<Other>("Other", attributes: [.init("name", \.name)])
  init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }
  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

private struct Bound: Entity {
  var id = RecordID<Bound>()
  var name: String
  var other: RecordID<Other>?
  init(_ name: String, _ other: RecordID<Other>?) {
    self.name = name
    self.other = other
  }
  static let schema = EntitySchema<Bound>(
    "Bound", attributes: [.init("name", \.name), .toOne("other", \.other)],
    rules: [RecordRule("bound", format: "name == 'free' OR other != nil")])
  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    other = try reader.read()
  }
  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(other)
  }
}

// Numbers with a rule, before and after one of them is renamed.

private struct Ruled: Entity {
  var id = RecordID<Ruled>()
  var low: Int
  var high: Int
  struct Attributes: Sendable {
    var low: Attribute<Ruled, Int> { .init(0) }
    var high: Attribute<Ruled, Int> { .init(1) }
  }
  static var attributes: Attributes { Attributes() }
  init(_ low: Int, _ high: Int) {
    self.low = low
    self.high = high
  }
  static let schema = EntitySchema<Ruled>(
    "Ruled", attributes: [.init("low", \.low), .init("high", \.high)],
    rules: [RecordRule("ordered", format: "low <= high")])
  init(from reader: inout RecordReader) throws(StoreError) {
    low = try reader.read()
    high = try reader.read()
  }
  func encode(into writer: inout RecordWriter) {
    writer.write(low)
    writer.write(high)
  }
}

private struct RuledNew: Entity {
  var id = RecordID<RuledNew>()
  var first: Int
  var high: Int
  static let schema = EntitySchema<RuledNew>(
    "Ruled", attributes: [.init("first", \.first), .init("high", \.high)],
    rules: [RecordRule("ordered", format: "first <= high")])
  init(from reader: inout RecordReader) throws(StoreError) {
    first = try reader.read()
    high = try reader.read()
  }
  func encode(into writer: inout RecordWriter) {
    writer.write(first)
    writer.write(high)
  }
}

@Suite struct `Steps of a stage` {
  private static let change = MigrationStage(
    to: 1, .custom("change") { tx in try tx.update("First", 1) { $0["name"] = "x" } })

  private func make<E: Entity>(_ path: String, _ records: [E]) throws {
    let store = try Store(at: path, entities: [E.self])
    try store.insert(records)
    store.close()
  }

  /// The function once received records of the previous layout, and now gets those of the new type.
  @Test func `a stage derives attributes by a function of the new type at its end`() throws {
    try withTemporaryPath { path throws in
      try make(path, [First("a")])
      let store = try Store(at: path, entities: [FirstMore.self], migrating: [Self.change])
      defer { store.close() }
      #expect(try store.fetch(FirstMore.all).map(\.key) == ["x"])
    }
  }

  @Test func `a stage derives attributes by a function of a new version at its end`() throws {
    try withTemporaryPath { path throws in
      try make(path, [First("a")])
      let store = try Store(at: path, entities: [FirstAnew.self], migrating: [Self.change])
      defer { store.close() }
      #expect(try store.fetch(FirstAnew.all).map(\.key) == ["2x"])
    }
  }

  @Test func `steps run next to an entity whose function the program lacks`() throws {
    try withTemporaryPath { path throws in
      try make(path, [First("a")])
      try make(path, [Other("o")])
      let stage = MigrationStage(
        to: 1, .custom("one more") { tx in _ = try tx.insert("Other") { $0["name"] = "x" } })
      let store = try Store(at: path, entities: [Other.self], migrating: [stage])
      defer { store.close() }
      #expect(try store.count(Other.all) == 2)
    }
  }

  @Test func `steps convert the attribute from which a text is derived`() throws {
    try withTemporaryPath { path throws in
      try make(path, [Lower("A"), Lower("B")])
      let stage = MigrationStage(
        to: 1, .convert("name", of: "Lower") { (name: String) in name + "X" })
      let store = try Store(at: path, entities: [Lower.self], migrating: [stage])
      defer { store.close() }
      #expect(try store.fetch(Lower.all).map(\.key) == ["ax", "bx"])
      #expect(try store.count(Lower.where(format: "key == 'bx'").requiringIndex()) == 1)
    }
  }

  @Test func `steps that rename an attribute rename it in rules`() throws {
    try withTemporaryPath { path throws in
      try make(path, [Ruled(1, 2)])
      let stage = MigrationStage(
        to: 1, .rename("low", of: "Ruled", to: "first"),
        .custom("change") { tx in try tx.update("Ruled", 1) { $0["first"] = 2 } })
      let store = try Store(at: path, entities: [RuledNew.self], migrating: [stage])
      defer { store.close() }
      #expect(try store.fetch(RuledNew.all).map(\.first) == [2])
      #expect(throws: StoreError.self) {
        try store.modify(RecordID<RuledNew>(rawValue: 1)) { $0.first = 3 }
      }
    }
  }

  /// The delete has changed two records when it reaches a damaged one.
  @Test func `a stage is refused if a change failed halfway and its step continued`() throws {
    let folder = try TemporaryFolder()
    let types: [any Entity.Type] = [Other.self, Bound.self]
    let store = try Store(at: folder.storePath, entities: types)
    try store.write { tx throws in
      let other = try tx.insert(Other("o")).id
      try tx.insert((0..<3).map { _ in Bound("free", other) })
    }
    try store.core.write { core in
      let entity = try core.entity(named: "Bound")
      let bytes = Array(try #require(try core.record(3, of: entity)))
      try core.writing.put(
        littleEndianBytes(UInt64(3)), try RecordDamage.otherChecksum.apply(to: bytes, of: entity),
        in: entity.records)
    }
    store.close()
    let error = try storeError(.incompatibleSchema) {
      try Store(at: folder.storePath, entities: types, migrating: [Self.deletion])
    }
    #expect(error.message.contains("delete what can be"), "\(error.message)")
    let same = try Store(at: folder.storePath, entities: types)
    defer { same.close() }
    #expect(try same.fetch(Bound.all).allSatisfy { $0.other?.rawValue == 1 })
    #expect(try same.count(Other.all) == 1)
  }

  @Test(arguments: [1, 20_000])
  func `a stage that empties an attribute that a rule requires is refused at its end`(count: Int)
    throws
  {
    try withTemporaryPath { path throws in
      let types: [any Entity.Type] = [Other.self, Bound.self]
      let store = try Store(at: path, entities: types)
      try store.write { tx throws in
        let other = try tx.insert(Other("o")).id
        try tx.insert((0..<count).map { _ in Bound("free", other) } + [Bound("bound", other)])
      }
      store.close()
      let error = try storeError(.incompatibleSchema) {
        try Store(at: path, entities: types, migrating: [Self.deletion])
      }
      #expect(error.violations.map(\.rule) == ["bound"])
      #expect(error.recordID == UInt64(count) + 1)
      let same = try Store(at: path, entities: types)
      defer { same.close() }
      #expect(try same.fetch(Bound.all).allSatisfy { $0.other?.rawValue == 1 })
      #expect(try same.count(Other.all) == 1)
    }
  }

  private static let deletion = MigrationStage(
    to: 1,
    .custom("delete what can be") { tx in do { try tx.delete("Other", 1) } catch {} })
}

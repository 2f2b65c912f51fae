import EntityStore
import Testing

// Wings have racks, and racks have tomes. Later programs count a tome as thick from 300 pages on.
// Other programs declare only tomes, and have another name for the pages, or no pages.

private struct Wing: Entity {
  var id = RecordID<Wing>()
  var name: String
  private(set) var full = 0
  private(set) var mostThick: Int?

  static let shelves = ToMany<Wing, Rack>(inverse: \.room)
  static let schema = EntitySchema<Wing>(
    "Wing",
    attributes: [
      .init("name", \.name), .derived("full", \.full, .count(shelves, where: "thick > 0")),
      .derived("mostThick", \.mostThick, .maximum(shelves, \.number, where: "thick > 0")),
    ], relationships: [.init("shelves", shelves)])

  init(_ name: String) { self.name = name }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    full = try reader.read()
    mostThick = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

private struct Rack: Entity {
  var id = RecordID<Rack>()
  var number: Int
  var room: Wing.ID?
  private(set) var thick = 0

  static let books = ToMany<Rack, Tome>(
    inverse: \.shelf, onDelete: .cascade, deniesDeleteWhere: { $0.pages > 100 })
  static let schema = EntitySchema<Rack>(
    "Rack",
    attributes: [
      .init("number", \.number), .toOne("room", \.room),
      .derived("thick", \.thick, .count(books, where: "pages > 100")),
    ], relationships: [.init("books", books)])

  init(_ number: Int, _ room: Wing.ID) {
    self.number = number
    self.room = room
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    number = try reader.read()
    room = try reader.read()
    thick = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(number)
    writer.write(room)
  }
}

private struct Tome: Entity {
  var id = RecordID<Tome>()
  var pages: Int
  var shelf: Rack.ID
  private(set) var room: RecordID<Wing>?

  struct Attributes: Sendable {
    var pages: Attribute<Tome, Int> { .init(0) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Tome>(
    "Tome",
    attributes: [
      .init("pages", \.pages), .toOne("shelf", \.shelf),
      // The derived attribute is optional, although it copies by a required id.
      .derived("room", \.room, .copy(\.shelf, \.room)),
    ],
    rules: [RecordRule("a book has pages") { $0.pages > 0 }])

  init(_ pages: Int, _ shelf: Rack.ID) {
    self.pages = pages
    self.shelf = shelf
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    pages = try reader.read()
    shelf = try reader.read()
    room = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(pages)
    writer.write(shelf)
  }
}

/// A rack as a program declares it that has another condition for thick tomes.
private struct WideRack: Entity {
  var id = RecordID<WideRack>()
  var number: Int
  var room: RecordID<WideWing>?
  private(set) var thick = 0

  static let books = ToMany<WideRack, WideTome>(inverse: \.shelf, onDelete: .cascade)
  static let schema = EntitySchema<WideRack>(
    "Rack",
    attributes: [
      .init("number", \.number), .toOne("room", \.room),
      .derived("thick", \.thick, .count(books, where: "pages > 300")),
    ], relationships: [.init("books", books)])

  init(from reader: inout RecordReader) throws(StoreError) {
    number = try reader.read()
    room = try reader.read()
    thick = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(number)
    writer.write(room)
  }
}

private struct WideWing: Entity {
  var id = RecordID<WideWing>()
  var name: String
  private(set) var full = 0
  private(set) var mostThick: Int?

  static let shelves = ToMany<WideWing, WideRack>(inverse: \.room)
  static let schema = EntitySchema<WideWing>(
    "Wing",
    attributes: [
      .init("name", \.name), .derived("full", \.full, .count(shelves, where: "thick > 0")),
      .derived("mostThick", \.mostThick, .maximum(shelves, \.number, where: "thick > 0")),
    ], relationships: [.init("shelves", shelves)])

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    full = try reader.read()
    mostThick = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

private struct WideTome: Entity {
  var id = RecordID<WideTome>()
  var pages: Int
  var shelf: RecordID<WideRack>

  static let schema = EntitySchema<WideTome>(
    "Tome", attributes: [.init("pages", \.pages), .toOne("shelf", \.shelf)])

  init(from reader: inout RecordReader) throws(StoreError) {
    pages = try reader.read()
    shelf = try reader.read()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(pages)
    writer.write(shelf)
  }
}

/// A tome as a program declares it that knows no racks, and calls the pages `sheets`.
private struct RenamedTome: Entity {
  var id = RecordID<RenamedTome>()
  var sheets: Int

  static let schema = EntitySchema<RenamedTome>(
    "Tome", attributes: [.init("sheets", \.sheets, originalName: "pages")])

  init(from reader: inout RecordReader) throws(StoreError) {
    sheets = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) { writer.write(sheets) }
}

/// A program that knows tomes alone, by the name that their pages have.
private struct WholeTome: Entity {
  var id = RecordID<WholeTome>()
  var pages: Int

  struct Attributes: Sendable {
    var pages: Attribute<WholeTome, Int> { .init(0) }
  }

  static var attributes: Attributes { Attributes() }
  static let schema = EntitySchema<WholeTome>("Tome", attributes: [.init("pages", \.pages)])

  init(from reader: inout RecordReader) throws(StoreError) {
    pages = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) { writer.write(pages) }
}

/// A program that knows tomes alone, without their pages.
private struct BareTome: Entity {
  var id = RecordID<BareTome>()
  var title: String?

  static let schema = EntitySchema<BareTome>(
    "Tome", attributes: [.init("title", \.title)], removed: ["pages"])

  init(from reader: inout RecordReader) throws(StoreError) { title = try reader.read() }
  func encode(into writer: inout RecordWriter) { writer.write(title) }
}

@Suite struct `Conditions of a file whose schema changes` {
  private static let types: [any Entity.Type] = [Wing.self, Rack.self, Tome.self]

  /// Makes a room with shelf 1, with tomes of 200 and 50 pages, and shelf 2, with a tome of 400
  /// pages.
  private func make(_ path: String) throws {
    let store = try Store(at: path, entities: Self.types)
    defer { store.close() }
    try store.write { tx throws in
      let room = try tx.insert(Wing("a")).id
      let shelves = try [tx.insert(Rack(1, room)).id, tx.insert(Rack(2, room)).id]
      _ = try tx.insert([Tome(200, shelves[0]), Tome(50, shelves[0]), Tome(400, shelves[1])])
    }
    #expect(try store.fetch(Wing.all).map(\.full) == [2])
    #expect(try store.fetch(Tome.all).map(\.room?.rawValue) == [1, 1, 1])
  }

  @Test func `attributes follow a change of the derived attribute that their condition reads`()
    throws
  {
    try withTemporaryPath { path throws in
      try make(path)
      let store = try Store(at: path, entities: [WideWing.self, WideRack.self, WideTome.self])
      defer { store.close() }
      #expect(try store.fetch(WideRack.all).map(\.thick) == [0, 1])
      let room = try #require(try store.fetch(WideWing.all).first)
      #expect(room.full == 1 && room.mostThick == 2)
      try expectSound(store)
    }
  }

  @Test
  func `a renamed attribute is renamed in all conditions, by a program that knows one entity`()
    throws
  {
    try withTemporaryPath { path throws in
      try make(path)
      let changes = try Store.schemaChanges(at: path, opening: [RenamedTome.self])
      #expect(
        changes.map(\.description) == ["Tome: 'pages' is renamed to 'sheets' (free)"], "\(changes)")
      try Store(at: path, entities: [RenamedTome.self]).close()
      try expectKept(path)
    }
  }

  @Test func `a stage without types renames an attribute in all conditions`() throws {
    try withTemporaryPath { path throws in
      try make(path)
      // The stage renames the attribute twice, a derived attribute there and back, and the entity
      // there and back.
      let stage = MigrationStage(
        to: 1, .rename("pages", of: "Tome", to: "leaves"),
        .rename("thick", of: "Rack", to: "fat"), .rename(entity: "Rack", to: "Case"),
        .rename("leaves", of: "Tome", to: "sheets"), .rename(entity: "Case", to: "Rack"),
        .rename("fat", of: "Rack", to: "thick"))
      try Store(at: path, entities: [], migrating: [stage]).close()
      try expectKept(path)
    }
  }

  @Test func `a stage renames a derived attribute that the condition of another one reads`() throws
  {
    try withTemporaryPath { path throws in
      try make(path)
      let stage = MigrationStage(to: 1, .rename("thick", of: "Rack", to: "fat"))
      let store = try Store(at: path, entities: [NumberedRack.self], migrating: [stage])
      func racks(_ format: String) throws -> [Int] {
        try store.fetch(NumberedRack.where(format: format)).map(\.number)
      }
      #expect(try racks("fat == 1") == [1, 2] && racks("room.full == 2") == [1, 2])
      _ = try storeError(.invalidQuery) { try racks("thick == 1") }
      store.close()
      // A program that declares only tomes changes them, and with them derived attributes of their
      // racks.
      let other = try Store(at: path, entities: [WholeTome.self])
      try other.update(WholeTome.where { $0.pages == 400 }) { $0.pages = 40 }
      other.close()
      let again = try Store(at: path, entities: [NumberedRack.self])
      defer { again.close() }
      #expect(try again.fetch(NumberedRack.where(format: "fat == 0")).map(\.number) == [2])
      #expect(try again.count(NumberedRack.where(format: "room.full == 1")) == 2)
      try expectSound(again)
    }
  }

  /// Expects the file's conditions to hold for writes of a program that declares only tomes.
  private func expectKept(_ path: String) throws {
    let store = try Store(at: path, entities: [RenamedTome.self, NumberedRack.self])
    defer { store.close() }
    let books = try store.fetch(RenamedTome.all)
    try store.modify(books[1].id) { $0.sheets = 150 }
    try store.modify(books[2].id) { $0.sheets = 20 }
    #expect(try store.fetch(NumberedRack.where(format: "thick == 2")).map(\.number) == [1])
    #expect(try store.fetch(NumberedRack.where(format: "thick == 0")).map(\.number) == [2])
    let error = try storeError(.deleteDenied) {
      try store.delete(NumberedRack.ID(rawValue: 1))
    }
    #expect(error.message.contains("'sheets > 100'"), "\(error)")
    #expect(try store.delete(NumberedRack.ID(rawValue: 2)))
    let rule = try storeError(.invalidValue) { try store.modify(books[0].id) { $0.sheets = 0 } }
    #expect(rule.message.contains("a book has pages"), "\(rule)")
    try expectSound(store)
  }

  @Test func `the removal of an attribute that a condition names is refused, and listed`()
    throws
  {
    try withTemporaryPath { path throws in
      try make(path)
      let text =
        "'pages' is no attribute of Tome, and the derived attribute 'thick' names it: "
        + "'pages > 100'; declare the type of Rack with another condition"
      let changes = try Store.schemaChanges(at: path, opening: [BareTome.self])
      #expect(changes.contains { $0.entity == "Rack" && $0.text == text && $0.cost == .refused })
      _ = try storeError(.badSchema) { try Store(at: path, entities: [BareTome.self]) }
      let stage = MigrationStage(to: 1, .remove("pages", of: "Tome"))
      let error = try storeError(.badSchema) {
        try Store(at: path, entities: [], migrating: [stage])
      }
      #expect(error.message.hasSuffix(text), "\(error)")
      let store = try Store(at: path, entities: Self.types)
      #expect(try store.fetch(Wing.all).map(\.full) == [2])
      store.close()
    }
  }
}

/// A rack as a program declares it that does not declare its tomes.
private struct NumberedRack: Entity {
  var id = RecordID<NumberedRack>()
  var number: Int

  static let schema = EntitySchema<NumberedRack>("Rack", attributes: [.init("number", \.number)])

  init(from reader: inout RecordReader) throws(StoreError) {
    number = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) { writer.write(number) }
}

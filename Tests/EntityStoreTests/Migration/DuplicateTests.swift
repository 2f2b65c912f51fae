import EntityStore
import Testing

// Clubs with members, a seat each, and ordered badges, which several clubs may have.

private struct Club: Entity {
  var id = RecordID<Club>()
  var name: String
  var note: String?
  var parent: RecordID<Club>?

  static let members = ToMany<Club, Member>(inverse: \.club, ordered: true, onDelete: .cascade)
  static let badges = ToMany<Club, Badge>(ordered: true)
  static let clubs = ToMany<Club, Club>(inverse: \.parent)
  static let schema = EntitySchema<Club>(
    "Club",
    attributes: [.init("name", \.name), .init("note", \.note), .toOne("parent", \.parent)],
    relationships: [.init("members", members), .init("badges", badges), .init("clubs", clubs)])

  init(_ name: String, note: String? = nil, parent: RecordID<Club>? = nil) {
    self.name = name
    self.note = note
    self.parent = parent
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    note = try reader.read()
    parent = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(note)
    writer.write(parent)
  }
}

private struct Member: Entity {
  var id = RecordID<Member>()
  var name: String
  var club: RecordID<Club>?

  static let schema = EntitySchema<Member>(
    "Member", attributes: [.init("name", \.name), .toOne("club", \.club)])

  init(_ name: String, _ club: RecordID<Club>) {
    self.name = name
    self.club = club
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    club = try reader.read()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(club)
  }
}

private struct Badge: Entity {
  var id = RecordID<Badge>()
  var name: String

  static let schema = EntitySchema<Badge>("Badge", attributes: [.init("name", \.name)])

  init(_ name: String) { self.name = name }
  init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }
  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

private struct Cell: Entity {
  var id = RecordID<Cell>()
  var name: String
  var note: String?
  var whole: RecordID<Cell>?

  static let parts = ToMany<Cell, Cell>(inverse: \.whole, onDelete: .cascade)
  static let schema = EntitySchema<Cell>(
    "Cell",
    attributes: [.init("name", \.name), .init("note", \.note), .toOne("whole", \.whole)],
    relationships: [.init("parts", parts)])

  init(_ name: String, note: String? = nil, whole: RecordID<Cell>? = nil) {
    self.name = name
    self.note = note
    self.whole = whole
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    note = try reader.read()
    whole = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(note)
    writer.write(whole)
  }
}

private struct Coded: Entity {
  var id = RecordID<Coded>()
  var code: String

  static let schema = EntitySchema<Coded>(
    "Coded", attributes: [.init("code", \.code)], unique: [[\.code]])

  init(_ code: String) { self.code = code }
  init(from reader: inout RecordReader) throws(StoreError) { code = try reader.read() }
  func encode(into writer: inout RecordWriter) { writer.write(code) }
}

private struct Numbered: Entity {
  var id = RecordID<Numbered>()
  var code: Int

  static let schema = EntitySchema<Numbered>(
    "Coded", attributes: [.init("code", \.code)], unique: [[\.code]])

  init(from reader: inout RecordReader) throws(StoreError) {
    code = try reader.read()
    id = reader.id()
  }
  func encode(into writer: inout RecordWriter) { writer.write(code) }
}

@Suite struct `Duplicates that a stage merges` {
  private static let types: [any Entity.Type] = [Club.self, Member.self, Badge.self]

  /// Clubs x, x and y: the second x has members, badges, a note and a club below it.
  private func make(_ path: String) throws {
    let store = try Store(at: path, entities: Self.types)
    defer { store.close() }
    try store.write { tx throws in
      let first = try tx.insert(Club("x")).id
      let second = try tx.insert(Club("x", note: "n", parent: first)).id
      let other = try tx.insert(Club("y", parent: second)).id
      try tx.insert([
        Member("1", first), Member("2", second), Member("3", other), Member("4", second),
      ])
      let badges = try tx.insert([Badge("a"), Badge("b"), Badge("c")]).ids
      try tx.add([badges[1], badges[0]], to: Club.badges, of: first)
      try tx.add([badges[2], badges[0]], to: Club.badges, of: second)
      try tx.add([badges[0]], to: Club.badges, of: other)
    }
  }

  private func members(_ store: Store, _ club: UInt64) throws -> [String] {
    try store.read { try $0.related(Club.members, of: .init(rawValue: club)).map(\.name) }
  }

  private func badges(_ store: Store, _ club: UInt64) throws -> [String] {
    try store.read { try $0.related(Club.badges, of: .init(rawValue: club)).map(\.name) }
  }

  @Test func `a stage that merges duplicates moves their links to the remaining record`() throws {
    try withTemporaryPath { path throws in
      try make(path)
      let stage = MigrationStage(to: 1, .deduplicate("Club", by: "name", merging: .fillingMissing))
      let rehearsed = try Store.schemaChanges(at: path, opening: Self.types, migrating: [stage])
      let store = try Store(at: path, entities: Self.types, migrating: [stage])
      defer { store.close() }
      let clubs = try store.fetch(Club.all)
      #expect(clubs.map(\.id.rawValue) == [1, 3] && clubs.map(\.note) == ["n", nil])
      #expect(clubs.map(\.parent?.rawValue) == [nil, 1])
      #expect(try members(store, 1) == ["1", "2", "4"] && members(store, 3) == ["3"])
      #expect(try badges(store, 1) == ["b", "a", "c"] && badges(store, 3) == ["a"])
      let text = try #require(store.migrationSteps.first?.text)
      #expect(
        text
          == "deduplicate Club by name: 1 records are merged into 1, with 1 links and 3 ids that led to "
          + "them, and 1 changed values", "\(text)")
      #expect(rehearsed == store.migrationSteps)
    }
  }

  @Test func `a stage that merges duplicates obeys the rules of relationships if asked`() throws {
    try withTemporaryPath { path throws in
      try make(path)
      let stage = MigrationStage(
        to: 1, .deduplicate("Club", by: "name", links: .delete) { _, _ in .second })
      let store = try Store(at: path, entities: Self.types, migrating: [stage])
      defer { store.close() }
      #expect(try store.fetch(Club.all).map(\.id.rawValue) == [2, 3])
      #expect(try store.fetch(Member.all).map(\.name) == ["2", "3", "4"])
      #expect(try badges(store, 2) == ["c", "a"])
    }
  }

  @Test func `one delete removes all duplicates, and refuses to remove a remaining record`() throws
  {
    try withTemporaryPath { path throws in
      let store = try Store(at: path, entities: [Cell.self])
      try store.write { tx throws in
        // The second y and the z belong to the second x.
        let x = try tx.insert(Cell("x")).id
        let other = try tx.insert(Cell("x", note: "n")).id
        _ = try tx.insert([
          Cell("y", whole: x), Cell("y", note: "m", whole: other), Cell("z", whole: other),
        ])
      }
      store.close()
      func stage(_ survivor: MigrationStep.Survivor) -> MigrationStage {
        MigrationStage(
          to: 1,
          .deduplicate("Cell", by: "name", merging: .fillingMissing, links: .delete) { first, _ in
            first["name"] == "y" ? survivor : .first
          })
      }
      let error = try storeError(.incompatibleSchema) {
        try Store(at: path, entities: [Cell.self], migrating: [stage(.second)])
      }
      #expect(
        error.message.contains("Cell 4 is to stay in place of 3, and would be deleted"), "\(error)")
      let after = try Store(at: path, entities: [Cell.self], migrating: [stage(.first)])
      defer { after.close() }
      let cells = try after.fetch(Cell.all)
      #expect(cells.map(\.id.rawValue) == [1, 3] && cells.map(\.note) == ["n", "m"])
      #expect(cells.map(\.whole?.rawValue) == [nil, 1])
      let text = try #require(after.migrationSteps.first?.text)
      #expect(
        text.hasSuffix(
          "2 records go, for 2 that stay; 1 others go with them by the rules of relationships"),
        "\(text)")
    }
  }

  @Test func `a closure merges duplicates, and an error of the closure changes nothing`() throws {
    struct Refused: Error {}
    try withTemporaryPath { path throws in
      try make(path)
      let refused = MigrationStage(
        to: 1, .deduplicate("Club", by: "name", merging: .custom { _, _ in throw Refused() }))
      let error = try storeError(.incompatibleSchema) {
        try Store(at: path, entities: Self.types, migrating: [refused])
      }
      #expect(error.cause is Refused)
      let stage = MigrationStage(
        to: 1,
        .deduplicate(
          "Club", by: "name",
          merging: .custom { kept, other in
            kept["note"] = "\(kept.id) and \(other.id): \(other["note"] ?? "")"
          }
        ) { _, _ in .second })
      let store = try Store(at: path, entities: Self.types, migrating: [stage])
      defer { store.close() }
      #expect(try store.fetch(Club.all).map(\.note) == ["2 and 1: ", nil])
      #expect(try members(store, 2) == ["2", "4", "1"])
    }
  }

  @Test func `earlier steps of a stage may make the duplicates that a later step merges`() throws {
    try withTemporaryPath { path throws in
      let store = try Store(at: path, entities: [Coded.self])
      try store.insert(["1", "01", "2", "002", "3"].map(Coded.init))
      store.close()
      let convert = MigrationStep.convert("code", of: "Coded", to: Int.self)
      let error = try storeError(.incompatibleSchema) {
        try Store(at: path, entities: [Numbered.self], migrating: [MigrationStage(to: 1, convert)])
      }
      #expect(error.message.contains("the records 1 and 2, 3 and 4 "), "\(error.message)")
      let map = MigrationStep.map("Coded") { $0["code"] = ($0["code", as: Int.self] ?? 0) % 3 }
      let stage = MigrationStage(
        to: 1, convert, .deduplicate("Coded", by: "code"), map,
        .rename("code", of: "Coded", to: "number"), .rename("number", of: "Coded", to: "code"))
      let after = try Store(at: path, entities: [Numbered.self], migrating: [stage])
      defer { after.close() }
      let found = try after.fetch(Numbered.all)
      #expect(found.map(\.code) == [1, 2, 0] && found.map(\.id.rawValue) == [1, 3, 5])
      let error2 = try storeError(.uniqueViolation) {
        try after.modify(found[0].id) { $0.code = 2 }
      }
      #expect(error2.recordID == 3)
    }
  }

  @Test func `duplicates that a new unique index would refuse are counted`() throws {
    try withTemporaryPath { path throws in
      let store = try Store(at: path, entities: Movies.old)
      try store.insert((0..<30).map { OldMovie("N\($0 / 2)", episode: $0) })
      store.close()
      let changes = try Store.schemaChanges(at: path, opening: [UniquelyNamed.self])
      #expect(
        changes.last?.description
          == "Movie: new unique index on name, and 15 records have the values of others, such as 1 and 2; "
          + "take the step 'deduplicate' of a stage (refused)", "\(changes)")
    }
  }
}

private struct UniquelyNamed: Entity {
  var id = RecordID<UniquelyNamed>()
  var name: String

  static let schema = EntitySchema<UniquelyNamed>(
    "Movie", attributes: [.init("name", \.name)], unique: [[\.name]])

  init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }
  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

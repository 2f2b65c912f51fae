import EntityStore
import Testing

// Owners with ordered pets; a stage then lets pets have several owners.

private struct Owner: Entity {
  var id = RecordID<Owner>()
  var name: String
  static let pets = ToMany<Owner, Pet>(inverse: \.owner, ordered: true)
  static let schema = EntitySchema<Owner>(
    "Owner", attributes: [.init("name", \.name)], relationships: [.init("pets", pets)])
  init(_ name: String) { self.name = name }
  init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }
  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

private struct Pet: Entity {
  var id = RecordID<Pet>()
  var name: String
  var owner: RecordID<Owner>?
  static let schema = EntitySchema<Pet>(
    "Pet", attributes: [.init("name", \.name), .toOne("owner", \.owner)])
  init(_ name: String, _ owner: RecordID<Owner>?) {
    self.name = name
    self.owner = owner
  }
  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    owner = try reader.read()
  }
  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(owner)
  }
}

private struct FreeOwner: Entity {
  var id = RecordID<FreeOwner>()
  var name: String
  static let pets = ToMany<FreeOwner, SharedPet>(inverse: SharedPet.owners, ordered: true)
  static let schema = EntitySchema<FreeOwner>(
    "Owner", attributes: [.init("name", \.name)], relationships: [.init("pets", pets)])
  init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }
  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

private struct SharedPet: Entity {
  var id = RecordID<SharedPet>()
  var name: String
  static let owners = ToMany<SharedPet, FreeOwner>()
  static let schema = EntitySchema<SharedPet>(
    "Pet", attributes: [.init("name", \.name)], relationships: [.init("owners", owners)])
  init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }
  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

@Suite struct `Links that toMany makes` {
  private static let toMany = MigrationStage(to: 1, .toMany("owner", of: "Pet", as: "owners"))
  private static let types: [any Entity.Type] = [FreeOwner.self, SharedPet.self]

  private func make(_ path: String, _ names: [String]) throws {
    let store = try Store(at: path, entities: [Owner.self, Pet.self])
    defer { store.close() }
    try store.write { tx throws in
      let owner = try tx.insert(Owner("A")).id
      let pets = try tx.insert(names.map { Pet($0, owner) }).ids
      try tx.move(pets[pets.count - 1], in: Owner.pets, of: owner, to: .first)
    }
  }

  private func pets(_ store: Store) throws -> [String] {
    try store.read { try $0.related(FreeOwner.pets, of: .init(rawValue: 1)).map(\.name) }
  }

  @Test func `are in the order that the other side had`() throws {
    try withTemporaryPath { path throws in
      try make(path, ["1", "2", "3"])
      let store = try Store(at: path, entities: Self.types, migrating: [Self.toMany])
      defer { store.close() }
      #expect(try pets(store) == ["3", "1", "2"])
    }
  }

  /// Taken one by one they always could be.
  @Test func `are of records that a later stage leaves`() throws {
    let stages = [
      Self.toMany, MigrationStage(to: 2, .deduplicate("Pet", by: "name") { _, _ in .first }),
    ]
    for isOneByOne in [false, true] {
      try withTemporaryPath { path throws in
        try make(path, ["x", "x", "y"])
        if isOneByOne {
          try Store(at: path, entities: Self.types, migrating: [stages[0]]).close()
        }
        let store = try Store(at: path, entities: Self.types, migrating: stages)
        defer { store.close() }
        #expect(try pets(store) == ["y", "x"])
        #expect(try store.fetch(SharedPet.all).map(\.id.rawValue) == [1, 3])
      }
    }
  }

  @Test func `are none where a later stage removes what they lead to`() throws {
    try withTemporaryPath { path throws in
      try make(path, ["x", "y"])
      let stages = [Self.toMany, MigrationStage(to: 2, .remove(entity: "Owner"))]
      let store = try Store(at: path, entities: [LonePet.self], migrating: stages)
      defer { store.close() }
      #expect(try store.fetch(LonePet.all).map(\.name) == ["x", "y"])
    }
  }
}

private struct LonePet: Entity {
  var id = RecordID<LonePet>()
  var name: String
  static let schema = EntitySchema<LonePet>("Pet", attributes: [.init("name", \.name)])
  init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }
  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

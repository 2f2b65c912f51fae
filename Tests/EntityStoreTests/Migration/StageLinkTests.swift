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

  @Test func `links of the step 'toMany' are in the order of the other side`() throws {
    try withTemporaryPath { path throws in
      try make(path, ["1", "2", "3"])
      let store = try Store(at: path, entities: Self.types, migrating: [Self.toMany])
      defer { store.close() }
      #expect(try pets(store) == ["3", "1", "2"])
    }
  }

  /// The two stages run in one opening, or each in its own opening, which always worked.
  @Test func `links of the step 'toMany' belong to records that a later stage keeps`() throws {
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

  @Test func `the step 'toMany' makes one link if two attributes led to one record`() throws {
    try withTemporaryPath { path throws in
      let store = try Store(at: path, entities: [HostOwner.self, HostedPet.self])
      try store.write { tx throws in
        let owner = try tx.insert(HostOwner("A")).id
        let other = try tx.insert(HostOwner("B")).id
        try tx.insert([
          HostedPet("1", owner, owner), HostedPet("2", owner, other), HostedPet("3", nil, owner),
        ])
        try tx.move(.init(rawValue: 2), in: HostOwner.pets, of: owner, to: .first)
      }
      store.close()
      let stage = MigrationStage(
        to: 1, .toMany("owner", of: "Pet", as: "owners"), .toMany("host", of: "Pet", as: "owners"))
      let after = try Store(at: path, entities: Self.types, migrating: [stage])
      defer { after.close() }
      #expect(try pets(after) == ["2", "1", "3"])
      let owners = try after.read {
        try $0.related(SharedPet.owners, of: .init(rawValue: 2)).map(\.name)
      }
      #expect(owners == ["A", "B"])
    }
  }

  @Test func `the step 'toMany' makes no link if a later stage removes the target`() throws {
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

/// An owner with its own pets, and with the pets whose host it is.
private struct HostOwner: Entity {
  var id = RecordID<HostOwner>()
  var name: String
  static let pets = ToMany<HostOwner, HostedPet>(inverse: \.owner, ordered: true)
  static let guests = ToMany<HostOwner, HostedPet>(inverse: \.host, ordered: true)
  static let schema = EntitySchema<HostOwner>(
    "Owner", attributes: [.init("name", \.name)],
    relationships: [.init("pets", pets), .init("guests", guests)])
  init(_ name: String) { self.name = name }
  init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }
  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

private struct HostedPet: Entity {
  var id = RecordID<HostedPet>()
  var name: String
  var owner: RecordID<HostOwner>?
  var host: RecordID<HostOwner>?
  static let schema = EntitySchema<HostedPet>(
    "Pet",
    attributes: [.init("name", \.name), .toOne("owner", \.owner), .toOne("host", \.host)])
  init(_ name: String, _ owner: RecordID<HostOwner>?, _ host: RecordID<HostOwner>?) {
    self.name = name
    self.owner = owner
    self.host = host
  }
  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    owner = try reader.read()
    host = try reader.read()
  }
  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(owner)
    writer.write(host)
  }
}

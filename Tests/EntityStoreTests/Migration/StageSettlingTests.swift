import EntityStore
import Testing

// Owners and pets; a stage then lets pets have several owners.

private struct Owner: Entity {
  var id = RecordID<Owner>()
  var name: String

  static let pets = ToMany<Owner, Pet>(inverse: \.owner, ordered: true)
  static let schema = EntitySchema<Owner>(
    "Owner", attributes: [.init("name", \.name)], relationships: [.init("pets", pets)])

  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

extension Owner {
  init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }
}

private struct Pet: Entity {
  var id = RecordID<Pet>()
  var name: String
  var owner: RecordID<Owner>?
  var labels: JSONValue
  var size: Vector?
  var latitude: Double
  var longitude: Double

  struct Attributes: Sendable {
    var size: Attribute<Pet, Vector?> { .init(3) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Pet>(
    "Pet",
    attributes: [
      .init("name", \.name), .toOne("owner", \.owner), .init("labels", \.labels),
      .init("size", \.size), .init("latitude", \.latitude), .init("longitude", \.longitude),
    ],
    elementIndexes: [.init(\.labels)], searchIndexes: [SearchIndex(.init(\.labels))],
    placeIndexes: [PlaceIndex(.init(\.latitude), .init(\.longitude))],
    vectorIndexes: [VectorIndex(\.size, dimensions: 2)])

  /// A pet whose size, latitude and longitude are its number.
  init(_ number: Int, owner: RecordID<Owner>?) {
    name = "\(number)"
    self.owner = owner
    labels = ["all", .string(name)]
    size = [Float(number), 1]
    latitude = Double(number)
    longitude = Double(number)
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(owner)
    writer.write(labels)
    writer.write(size)
    writer.write(latitude)
    writer.write(longitude)
  }
}

extension Pet {
  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    owner = try reader.read()
    labels = try reader.read()
    size = try reader.read()
    latitude = try reader.read()
    longitude = try reader.read()
  }
}

private struct FreeOwner: Entity {
  var id = RecordID<FreeOwner>()
  var name: String

  static let schema = EntitySchema<FreeOwner>(
    "Owner", attributes: [.init("name", \.name)], removed: ["pets"])

  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

extension FreeOwner {
  init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }
}

private struct SharedPet: Entity {
  var id = RecordID<SharedPet>()
  var name: String

  static let owners = ToMany<SharedPet, FreeOwner>(ordered: true)
  static let schema = EntitySchema<SharedPet>(
    "Pet", attributes: [.init("name", \.name)], relationships: [.init("owners", owners)])

  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

extension SharedPet {
  init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }
}

/// Steps of a stage write only records.
///
/// The store updates derived attributes, orders and indexes when the stages end.
@Suite struct `What follows from a stage` {
  /// Two owners, and six pets of the first one, each with the labels `all` and its own name.
  private func migrate(_ stage: MigrationStage, body: (Store) throws -> Void) throws {
    try withTemporaryPath { path throws in
      try make(path)
      let store = try Store(
        at: path, entities: [Owner.self, Pet.self], migrating: [stage])
      defer { store.close() }
      try body(store)
    }
  }

  private func make(_ path: String) throws {
    let store = try Store(at: path, entities: [Owner.self, Pet.self])
    defer { store.close() }
    try store.write { tx throws in
      let owners = try tx.insert([Owner(name: "A"), Owner(name: "B")]).ids
      try tx.insert(
        (1...6).map { Pet($0, owner: owners[0]) })
      try tx.move(.init(rawValue: 6), in: Owner.pets, of: owners[0], to: .first)
    }
  }

  private func pets(_ store: Store, of owner: UInt64) throws -> String {
    try store.read { try $0.related(Owner.pets, of: .init(rawValue: owner)).map(\.name).joined() }
  }

  /// The names of the pets with a size or a place from 8 on, and of all with a size, by their
  /// indexes.
  private func measured(_ store: Store) throws -> [String] {
    let size: Vector = [10, 1]
    let places = BoundingBox(south: 8, west: 8, north: 90, east: 180)
    return try store.read { snapshot in
      let inside = try snapshot.fetch(Pet.where(.within(places))).map(\.name).joined()
      let sizes = Pet.where { $0.size.isNear(size, by: .euclidean) }.sortedByDistance().limit(10)
      return [inside, try snapshot.fetch(sizes).map(\.name).joined()]
    }
  }

  private func count(_ store: Store, label: String) throws -> Int {
    let count = try store.count(Pet.where(format: "ANY labels == '\(label)'"))
    #expect(try store.count(Pet.where(format: "SELF SEARCH '\(label)'")) == count)
    return count
  }

  @Test func `a step updates the orders and computed indexes of the records that it changes`()
    throws
  {
    let stage = MigrationStage(
      to: 1,
      .map("Pet") { pet in
        guard pet["name", as: String.self] != "6", pet["name", as: String.self] != "2" else {
          return
        }
        pet[id: "owner"] = 2
        pet["labels"] = ["new"] as JSONValue
        pet["latitude"] = 9.0
        pet["longitude"] = 9.0
        pet["size"] = pet["name", as: String.self] == "4" ? [11, 1] as Vector : nil
      })
    try migrate(stage) { store throws in
      #expect(try measured(store) == ["1345", "462"])
      #expect(try pets(store, of: 1) == "62")
      #expect(try pets(store, of: 2) == "1345")
      let counts = try ["new", "all", "3", "6"].map { try count(store, label: $0) }
      #expect(counts == [4, 2, 0, 1])
    }
  }

  @Test func `a step updates the orders and computed indexes of deleted and inserted records`()
    throws
  {
    let stage = MigrationStage(
      to: 1,
      .deduplicate("Pet", by: "owner") { _, _ in .second },
      .custom("insert one") { tx in
        _ = try tx.insert("Pet") { pet in
          pet["name"] = "7"
          pet[id: "owner"] = 1
          pet["labels"] = ["all"] as JSONValue
          pet["latitude"] = 8.0
          pet["longitude"] = 8.0
          pet["size"] = [8, 1] as Vector
        }
      })
    try migrate(stage) { store throws in
      #expect(try measured(store) == ["7", "76"])
      #expect(try pets(store, of: 1) == "67")
      #expect(try count(store, label: "all") == 2)
    }
  }

  @Test func `a stage that leaves a dangling link is an error`() throws {
    try withTemporaryPath { path throws in
      try make(path)
      let stage = MigrationStage(to: 1, .map("Pet") { $0[id: "owner"] = 99 })
      let error = try storeError(.incompatibleSchema) {
        try Store(at: path, entities: [Owner.self, Pet.self], migrating: [stage])
      }
      #expect(error.message.contains("Owner 99") && error.entity == "Pet", "\(error.message)")
      let changes = try Store.schemaChanges(
        at: path, opening: [Owner.self, Pet.self], migrating: [stage])
      #expect(changes.last?.cost == .refused, "\(changes)")
      let denied = MigrationStage(
        to: 1, .custom("delete what is not there") { try $0.update("Pet", 77) { _ in } })
      let refused = try Store.schemaChanges(
        at: path, opening: [Owner.self, Pet.self], migrating: [denied])
      #expect(refused.last?.cost == .refused, "\(refused)")
    }
  }

  @Test func `the order of links of the step 'toMany' replaces the former order`() throws {
    try withTemporaryPath { path throws in
      try make(path)
      let stage = MigrationStage(
        to: 1, .toMany("owner", of: "Pet", as: "owners"), .remove("labels", of: "Pet"),
        .remove("size", of: "Pet"), .remove("latitude", of: "Pet"),
        .remove("longitude", of: "Pet"))
      let store = try Store(
        at: path, entities: [FreeOwner.self, SharedPet.self], migrating: [stage])
      defer { store.close() }
      let owners = try store.read {
        try $0.related(SharedPet.owners, of: .init(rawValue: 3)).map(\.name)
      }
      #expect(owners == ["A"])
    }
  }
}

import Foundation
import LMDB
import LodestoreFormat
import Testing

@testable import EntityStore

/// A spot with a place of some type: the same entity for each.
private struct Spot<Value: Codable & Sendable>: Entity {
  var id = RecordID<Spot>()
  var name: String
  var place: Value

  static var schema: EntitySchema<Spot> {
    EntitySchema(
      "Spot", attributes: [.init("name", \.name), .init("place", \.place)], unique: [[\.name]])
  }

  init(_ name: String, _ place: Value) {
    self.name = name
    self.place = place
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    place = try reader.read()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(place)
  }
}

private struct Venue: Codable, Equatable {
  var town: String
  var floor: Int8
  var seen: Date
}

private struct RenamedVenue: Codable, Equatable {
  var town: String
  var floor: Int8
  var seen: Date
}

private struct WiderVenue: Codable, Equatable {
  var town: String
  var floor: Int
  var zip: String?
}

private struct StricterVenue: Codable, Equatable {
  var town: String
  var floor: Int8
  var seen: Date
  var zip: String
}

private struct LenientVenue: Codable, Equatable {
  var town: String
  var zip: String

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    town = try container.decode(String.self, forKey: .town)
    zip = (try? container.decode(String.self, forKey: .zip)) ?? "none"
  }
}

private struct CityVenue: Codable, Equatable {
  var city: String
  var floor: Int8
  var seen: Date
}

private struct TextedVenue: Codable, Equatable {
  var town: String
  var floor: String
}

private enum Kind: String, Codable { case flat, house }

private struct AllOfVenue: Codable {
  var after: Int?
  var kind: Kind
  var tags: [String]
  var counts: [String: UInt8]
  var inner: [AllOfVenue]?
  var link: RecordID<Spot<Venue>>
  var price: Double
}

/// A type whose own decoding takes elements without checking their count.
private struct Position: Codable {
  var latitude: Double
  var label: String

  enum CodingKeys: CodingKey { case coordinates, label }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    latitude = try container.decode([Double].self, forKey: .coordinates)[1]
    label = try container.decode(String.self, forKey: .label)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode([0, latitude], forKey: .coordinates)
    try container.encode(label, forKey: .label)
  }
}

private enum Choice: Codable { case one(Int), two }

private struct Chosen: Codable {
  var choice: Choice
  var unknown: Int
}

@Suite struct `Nested documents of another shape` {
  private static let seen = Date(timeIntervalSinceReferenceDate: 1_234.567_891_2)
  private static let venues = ["a", "b", "c"].enumerated().map { index, town in
    Venue(town: town, floor: Int8(index), seen: seen)
  }

  /// A file with three spots.
  private func make(_ path: String) throws {
    let store = try Store(at: path, entities: [Spot<Venue>.self])
    defer { store.close() }
    try store.insert(Self.venues.map { Spot("at \($0.town)", $0) })
  }

  private func members(_ store: Store) throws -> DocumentOutline? {
    store.core.schema.entity(named: "Spot")?.description.attribute(named: "place")?.members
  }

  private func changes<T: Codable & Sendable>(_ path: String, _: T.Type) throws -> [String] {
    try Store.schemaChanges(at: path, opening: [Spot<T>.self]).map(\.description)
  }

  private func places<T: Codable & Sendable>(
    _ path: String, _: T.Type, _ stages: [MigrationStage] = []
  ) throws -> [T] {
    let store = try Store(at: path, entities: [Spot<T>.self], migrating: stages)
    defer { store.close() }
    return try store.fetch(Spot<T>.all).map(\.place)
  }

  @Test func `nested documents are described as far as their type states`() throws {
    func member(_ name: String, _ type: String, _ more: [String: Document] = [:]) -> Document {
      .object(
        ["name": .string(name), "type": .string(type)].merging(more) { first, _ in first })
    }
    #expect(
      DocumentOutline(of: AllOfVenue.self).document
        == .object([
          "type": .string("object"),
          "members": .array([
            member("after", "int64", ["optional": .bool(true)]),
            member("counts", "map", ["element": .object(["type": .string("uint8")])]),
            member(
              "inner", "array",
              ["element": .object(["type": .string("any")]), "optional": .bool(true)]),
            member("kind", "string"), member("link", "uint64", ["optional": .bool(true)]),
            member("price", "double"),
            member("tags", "array", ["element": .object(["type": .string("string")])]),
          ]),
        ]))
    let position = DocumentOutline(of: Position.self)
    guard case .object(let parts, isOpen: false) = position.kind else {
      Issue.record("\(position.document)")
      return
    }
    #expect(parts.map(\.name) == ["coordinates", "label"])
    let chosen = DocumentOutline(of: Chosen.self)
    guard case .object(let members, isOpen: true) = chosen.kind else {
      Issue.record("\(chosen.document)")
      return
    }
    #expect(members.map(\.name) == ["choice"])
    #expect(try DocumentOutline(chosen.document) == chosen)
  }

  @Test func `another shape of nested documents is accepted if all documents still fit`() throws {
    try withTemporaryPath { path throws in
      try make(path)
      #expect(try changes(path, Venue.self) == [])
      #expect(
        try changes(path, WiderVenue.self) == [
          "Spot: 'place': member 'floor' is int64, and was int8 (free)",
          "Spot: 'place': new optional member 'zip', string (free)",
          "Spot: 'place': member 'seen' goes (free)",
        ])
      #expect(try places(path, WiderVenue.self).map(\.town) == ["a", "b", "c"])
      #expect(try changes(path, WiderVenue.self) == [])
      // The documents still have the member that the wider type does not declare.
      #expect(try changes(path, Venue.self).contains { $0.contains("new required member 'seen'") })
      #expect(try places(path, Venue.self) == Self.venues)
    }
  }

  @Test func `another name of the type keeps nested documents`() throws {
    try withTemporaryPath { path throws in
      try make(path)
      #expect(try changes(path, RenamedVenue.self) == [])
      #expect(try places(path, RenamedVenue.self).map(\.seen) == [Self.seen, Self.seen, Self.seen])
    }
  }

  @Test func `a nested document that does not fit is refused with a message`() throws {
    try withTemporaryPath { path throws in
      try make(path)
      func refuse<T: Codable & Sendable>(_: T.Type, _ words: String...) throws {
        let error = try storeError(.incompatibleSchema) {
          try Store(at: path, entities: [Spot<T>.self])
        }
        for word in words + ["'Spot.place' of record 1", ".convert(\"place\", of: \"Spot\")"] {
          #expect(error.message.contains(word), "\(word) in \(error.message)")
        }
        #expect(error.attribute == "place" && error.recordID == 1 && error.entity == "Spot")
        let changes = try Store.schemaChanges(at: path, opening: [Spot<T>.self])
        #expect(changes.last?.cost == .refused && changes.last?.text == error.message)
      }
      try refuse(
        StricterVenue.self, "'zip' is absent, and required", "new required member 'zip', string")
      try refuse(CityVenue.self, "'city' is absent", "new required member 'city', string")
      try refuse(
        TextedVenue.self, "floor", "found an integer", "member 'floor' is string, and was int8")
      #expect(try places(path, Venue.self) == Self.venues)
    }
  }

  @Test func `another shape of nested documents is accepted if the type reads the old form`() throws
  {
    try withTemporaryPath { path throws in
      try make(path)
      #expect(
        try changes(path, LenientVenue.self).contains(
          "Spot: 'place': new required member 'zip', string (pass)"))
      #expect(try places(path, LenientVenue.self).map(\.zip) == ["none", "none", "none"])
    }
  }

  @Test func `any type of nested documents is accepted if no records exist`() throws {
    try withTemporaryPath { path throws in
      try Store(at: path, entities: [Spot<Venue>.self]).close()
      #expect(try places(path, StricterVenue.self) == [])
    }
  }

  @Test func `a stage converts nested documents`() throws {
    try withTemporaryPath { path throws in
      try make(path)
      let stage = MigrationStage(
        to: 1,
        .convert("place", of: "Spot") { (old: Venue) in
          StricterVenue(town: old.town, floor: old.floor, seen: old.seen, zip: "z\(old.floor)")
        })
      #expect(try places(path, StricterVenue.self, [stage]).map(\.zip) == ["z0", "z1", "z2"])
      #expect(try changes(path, StricterVenue.self) == [])
    }
  }

  @Test func `a stage converts nested documents without the former type`() throws {
    try withTemporaryPath { path throws in
      try make(path)
      let stage = MigrationStage(
        to: 1,
        .convert("place", of: "Spot", to: CityVenue.self) { place in
          place.rename("town", to: "city")
          if place["floor", as: Int8.self] == 2 { place["city"] = "top" }
        })
      let cities = try places(path, CityVenue.self, [stage])
      #expect(cities.map(\.city) == ["a", "b", "top"])
      // A date keeps its full precision through the change.
      #expect(cities.map(\.seen) == [Self.seen, Self.seen, Self.seen])
    }
  }

  @Test func `a stage that leaves a nested document unreadable is refused`() throws {
    try withTemporaryPath { path throws in
      try make(path)
      let stage = MigrationStage(
        to: 1,
        .convert("place", of: "Spot", to: CityVenue.self) { $0["city"] = $0["town", as: Int.self] })
      let error = try storeError(.incompatibleSchema) {
        try Store(at: path, entities: [Spot<CityVenue>.self], migrating: [stage])
      }
      #expect(error.message.contains("records 1, 2, 3"), "\(error.message)")
      #expect(try places(path, Venue.self) == Self.venues)
    }
  }

  @Test func `nested documents become values, and values become nested documents`() throws {
    try withTemporaryPath { path throws in
      try make(path)
      let stages = [
        MigrationStage(to: 1, .convert("place", of: "Spot") { (old: Venue) in old.town }),
        MigrationStage(
          to: 2,
          .convert("place", of: "Spot") { (town: String) in
            Venue(town: town, floor: 7, seen: Self.seen)
          },
          .add("last", to: "Spot", Venue?.self),
          .map("Spot") { spot in
            var place = spot[document: "place", as: Venue.self]
            place?.floor = 8
            spot[document: "last"] = place
          }),
      ]
      let store = try Store(at: path, entities: [Spot<Venue>.self], migrating: stages)
      defer { store.close() }
      #expect(try store.fetch(Spot<Venue>.all).map(\.place.floor) == [7, 7, 7])
      let last = store.core.schema.entity(named: "Spot")?.description.attribute(named: "last")
      #expect(last?.isOptional == true && last?.members == DocumentOutline(of: Venue.self))
    }
  }

  @Test func `nested documents without descriptions are described when a file is opened`() throws {
    try withTemporaryPath { path throws in
      try make(path)
      try forget(path)
      #expect(
        try changes(path, Venue.self) == ["Spot: 'place': its members are described (free)"])
      // A read-only program does not need the description of the members.
      var options = StoreOptions()
      options.access = .readOnly
      let reader = try Store(at: path, entities: [Spot<Venue>.self], options: options)
      #expect(try reader.fetch(Spot<Venue>.all).map(\.place) == Self.venues)
      #expect(try members(reader) == nil)
      reader.close()
      let store = try Store(at: path, entities: [Spot<Venue>.self])
      #expect(try members(store) == DocumentOutline(of: Venue.self))
      store.close()
      try forget(path)
      // Without a stored description, a type with another name may be another type, so the
      // documents are checked.
      #expect(try places(path, RenamedVenue.self).count == 3)
      try forget(path)
      _ = try storeError(.incompatibleSchema) {
        try Store(at: path, entities: [Spot<StricterVenue>.self])
      }
    }
  }

  /// Removes the descriptions from the file, since earlier versions did not write them.
  private func forget(_ path: String) throws {
    let core = try StoreCore(path: path, options: StoreOptions())
    defer { core.close() }
    try core.write { core throws in
      for entity in core.schema.entities {
        var description = entity.description
        for index in description.attributes.indices { description.attributes[index].members = nil }
        try core.store.trees.put(description, in: core.writing)
      }
      try core.store.trees.raiseSchemaNumber(in: core.writing)
    }
  }
}

import Foundation
import Testing

@testable import EntityStore

/// Ways into documents are checked where the type of the values is known.
@Suite struct `Members of documents` {
  struct Refusal: CustomTestStringConvertible, Sendable {
    let format: String
    let message: String

    var testDescription: String { format }
  }

  static let refusals = [
    Refusal(
      format: "serial > 1 AND home.strete == 'x'",
      message:
        "line 1, column 16: 'home.strete' does not exist: Home has no member 'strete'; did you "
        + "mean 'street'?"),
    Refusal(
      format: "home.zzzzzz == NULL",
      message: "'home.zzzzzz' does not exist: Home has no member 'zzzzzz'; it has street, "
        + "zip_code, kind, geo, old, rooms, byName, source, link"),
    Refusal(format: "home.zipCode == 'x'", message: "did you mean 'zip_code'?"),
    Refusal(
      format: "home.street.name == 'x'", message: "'home.street.name' does not exist: String has"),
    Refusal(format: "home.geo.lan > 1", message: "'home.geo.lan' does not exist: Geo has"),
    Refusal(format: "home.old.lta > 1", message: "'home.old.lta' does not exist: Geo has no"),
    Refusal(format: "ANY home.rooms.aera > 1", message: "did you mean 'area'?"),
    Refusal(format: "home.rooms[0].aera > 1", message: "'home.rooms[0].aera' does not exist"),
    Refusal(format: "home.rooms.@sum.aera > 1", message: "did you mean 'area'?"),
    Refusal(format: "home.byName.any.aera > 1", message: "did you mean 'area'?"),
    Refusal(
      format: "SUBQUERY(home.rooms, $r, $r.aera > 1).@count > 0",
      message: "'$r.aera' does not exist: Room has no member 'aera'; did you mean 'area'?"),
    Refusal(format: "second.strete == 'x'", message: "'second.strete' does not exist: Home has"),
    Refusal(format: "rooms.aera > 1", message: "'rooms.aera' does not exist: Room has"),
  ]

  @Test(arguments: refusals)
  func `a member that the type lacks is refused before a record is read`(
    refusal: Refusal
  ) throws {
    try withTemporaryStore([House.self]) { store in
      let error = try storeError(.invalidQuery) {
        try store.fetch(House.where(format: refusal.format))
      }
      #expect(error.message.contains(refusal.message), "\(error.message)")
      #expect(error.entity == "House")
    }
  }

  @Test func `lines, orders and dictionaries are refused alike for an unknown member`() throws {
    try withTemporaryStore([House.self]) { store in
      try store.read { snapshot throws in
        let message =
          "'home.strete' does not exist: Home has no member 'strete'; did you mean 'street'?"
        let line = try storeError(.invalidQuery) {
          try snapshot.fetch(House.where { $0.home["strete"] == "x" })
        }
        #expect(line.message == "cannot use the query: " + message)
        let order = try storeError(.invalidQuery) {
          try snapshot.fetch(House.all.sorted { [$0.home["strete"].ascending] })
        }
        #expect(order.message.contains(message))
        let columns = try storeError(.invalidQuery) {
          try snapshot.dictionaries(House.all, attributes: ["home.strete"])
        }
        #expect(columns.message.contains(message))
      }
    }
  }

  @Test(arguments: [
    "home.street == 'a'", "home.zip_code == '1'", "home.kind == 'flat'", "home.geo.lat == 1",
    "home.old == NULL", "ANY home.rooms.area > 1", "home.rooms[0].area > 1",
    "home.rooms[FIRST].area > 1",
    "home.rooms.@count == 1", "home.rooms[SIZE] == 1", "home.byName.hall.area > 1",
    "home.byName.nosuch.area == NULL", "home.source.any.thing == NULL", "home.link.rel == 'x'",
    "SUBQUERY(home.rooms, $r, $r.area > 1).@count > 0", "second == NULL", "second.old.lat == NULL",
    "rooms.@sum.area == 2", "shape.circle != NULL", "shape.square == NULL",
    "flexible.whatever == NULL",
    "free.anything.at.all == NULL",
  ])
  func `a member that a value may have is searched`(format: String) throws {
    try withTemporaryStore([House.self]) { store in
      try store.insert(House())
      #expect(try store.count(House.where(format: format)) == 1)
    }
  }

  @Test func `coding keys describe a type that cannot be decoded from an empty object`() throws {
    try withTemporaryStore([House.self]) { store in
      // Decoding a `Shape` throws at once, but its coding keys still show that it has no such case.
      let error = try storeError(.invalidQuery) {
        try store.fetch(House.where { $0.shape["triangle"] != nil })
      }
      #expect(
        error.message.hasSuffix("'shape.triangle' does not exist: Shape has no member 'triangle'"))
    }
  }
}

private struct Home: Codable, Hashable, Sendable {
  enum Kind: String, Codable, CaseIterable { case flat, house }

  enum CodingKeys: String, CodingKey {
    case street, zipCode = "zip_code", kind, geo, old, rooms, byName, source, link
  }

  var street = "a"
  var zipCode = "1"
  var kind = Kind.flat
  var geo = Geo()
  var old: Geo?
  var rooms = [Room()]
  var byName = ["hall": Room()]
  var source: JSONValue = .null
  var link = ["rel": "x"]
}

private struct Geo: Codable, Hashable, Sendable {
  var lat = 1.0
  var lon = 2.0
}

private struct Room: Codable, Hashable, Sendable {
  var area = 2
}

private enum Shape: Codable, Hashable, Sendable {
  case circle(radius: Int)
  case square(side: Int)
}

/// Decodes from more than one form.
private struct Flexible: Codable, Hashable, Sendable {
  var text = ""

  init() {}

  init(from decoder: any Decoder) throws {
    text = try decoder.singleValueContainer().decode(String.self)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

private struct House {
  var id = RecordID<House>()
  var serial = 0
  var home = Home()
  var second: Home?
  var rooms = [Room()]
  var shape = Shape.circle(radius: 1)
  var flexible = Flexible()
  var free: JSONValue = .null
}

extension House: Entity {
  struct Attributes: Sendable {
    var id: Attribute<House, RecordID<House>> { .recordID }
    var serial: Attribute<House, Int> { .init(0) }
    var home: Attribute<House, Home> { .init(1) }
    var second: Attribute<House, Home?> { .init(2) }
    var rooms: Attribute<House, [Room]> { .init(3) }
    var shape: Attribute<House, Shape> { .init(4) }
    var flexible: Attribute<House, Flexible> { .init(5) }
    var free: Attribute<House, JSONValue> { .init(6) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<House>(
    "House",
    attributes: [
      .init("serial", \.serial), .init("home", \.home), .init("second", \.second),
      .init("rooms", \.rooms), .init("shape", \.shape), .init("flexible", \.flexible),
      .init("free", \.free),
    ])

  func encode(into writer: inout RecordWriter) {
    writer.write(serial)
    writer.write(home)
    writer.write(second)
    writer.write(rooms)
    writer.write(shape)
    writer.write(flexible)
    writer.write(free)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    serial = try reader.read()
    home = try reader.read()
    second = try reader.read()
    rooms = try reader.read()
    shape = try reader.read()
    flexible = try reader.read()
    free = try reader.read()
  }
}

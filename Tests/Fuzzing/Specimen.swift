import Foundation

@testable import EntityStore

/// An entity with attributes of many types, for conditions and for views.
struct Specimen {
  var id = RecordID<Specimen>()
  var isLive = true
  var small = Int16(0)
  var number = 0
  var weight = 0.0
  var text = ""
  var note: String?
  var seen = Date(timeIntervalSinceReferenceDate: 0)
  var price = Decimal(0)
  var mark: UUID?
  var data = Data()
  var tags: [String] = []
  var json = JSONValue.null
  var parent: RecordID<Specimen>?
  var latitude = 0.0
  var longitude = 0.0
  var direction: Vector?
}

extension Specimen: Entity {
  struct Attributes: Sendable {
    var id: Attribute<Specimen, RecordID<Specimen>> { .recordID }
    var isLive: Attribute<Specimen, Bool> { .init(0) }
    var small: Attribute<Specimen, Int16> { .init(1) }
    var number: Attribute<Specimen, Int> { .init(2) }
    var weight: Attribute<Specimen, Double> { .init(3) }
    var text: Attribute<Specimen, String> { .init(4) }
    var note: Attribute<Specimen, String?> { .init(5) }
    var seen: Attribute<Specimen, Date> { .init(6) }
    var price: Attribute<Specimen, Decimal> { .init(7) }
    var mark: Attribute<Specimen, UUID?> { .init(8) }
    var data: Attribute<Specimen, Data> { .init(9) }
    var tags: Attribute<Specimen, [String]> { .init(10) }
    var json: Attribute<Specimen, JSONValue> { .init(11) }
    var parent: Attribute<Specimen, RecordID<Specimen>?> { .init(12) }
    var latitude: Attribute<Specimen, Double> { .init(13) }
    var longitude: Attribute<Specimen, Double> { .init(14) }
    var direction: Attribute<Specimen, Vector?> { .init(15) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Specimen>(
    "Specimen",
    attributes: [
      .init("isLive", \.isLive), .init("small", \.small), .init("number", \.number),
      .init("weight", \.weight), .init("text", \.text), .init("note", \.note),
      .init("seen", \.seen), .init("price", \.price), .init("mark", \.mark),
      .init("data", \.data), .init("tags", \.tags), .init("json", \.json),
      .init("parent", \.parent), .init("latitude", \.latitude), .init("longitude", \.longitude),
      .init("direction", \.direction),
    ],
    indexes: [[\.number], [\.text], [\.note, \.small], [\.weight], [\.seen], [\.price]],
    searchIndexes: [SearchIndex(.init(\.text, weight: 2), .init(\.note), .init(\.tags))],
    placeIndexes: [PlaceIndex(.init(\.latitude), .init(\.longitude), invalid: .leftOut)],
    vectorIndexes: [VectorIndex(\.direction, dimensions: 3)])

  func encode(into writer: inout RecordWriter) {
    writer.write(isLive)
    writer.write(small)
    writer.write(number)
    writer.write(weight)
    writer.write(text)
    writer.write(note)
    writer.write(seen)
    writer.write(price)
    writer.write(mark)
    writer.write(data)
    writer.write(tags)
    writer.write(json)
    writer.write(parent)
    writer.write(latitude)
    writer.write(longitude)
    writer.write(direction)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    isLive = try reader.read()
    small = try reader.read()
    number = try reader.read()
    weight = try reader.read()
    text = try reader.read()
    note = try reader.read()
    seen = try reader.read()
    price = try reader.read()
    mark = try reader.read()
    data = try reader.read()
    tags = try reader.read()
    json = try reader.read()
    parent = try reader.read()
    latitude = try reader.read()
    longitude = try reader.read()
    direction = try reader.read()
  }
}

extension Specimen {
  static let samples: [Specimen] = [
    Specimen(),
    Specimen(
      isLive: false, small: .min, number: .max, weight: .nan, text: "Ångström\r\n", note: "a*b?",
      seen: Date(timeIntervalSinceReferenceDate: -1e9), price: Decimal(string: "-0.25") ?? 0,
      mark: UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)),
      data: Data([0, 255]),
      tags: ["x", "y"], json: ["a": [1, 2.5, nil], "b": "é"], latitude: 90, longitude: -180,
      direction: [0, 0, 0]),
    Specimen(
      small: 7, number: 42, weight: -0.0, text: "abc", note: "", price: 1_000_000,
      tags: [String](repeating: "z", count: 40), json: [[1], ["k": true], "s"],
      latitude: -3.5, longitude: 179.9, direction: [1, -2, 0.5]),
    Specimen(
      number: -1, weight: .infinity, text: String(repeating: "e\u{301}", count: 300),
      latitude: .nan, longitude: 400, direction: [1e30, 0, -0.0]),
  ]

  /// A store in memory with the samples.
  static func makeStore() -> Store {
    do {
      let store = try Store.inMemory(entities: [Specimen.self])
      try store.write { _ = try $0.insert(samples) }
      return store
    } catch {
      fatalError("cannot make a store: \(error)")
    }
  }
}

import EntityStore
import Foundation

/// A ``Specimen`` with a vector and a place.
///
/// Records that were written as ``OldSpecimen`` have neither.
struct PlacedSpecimen: Sendable {
  var id = RecordID<PlacedSpecimen>()
  var specimen: Specimen
  var hue: Vector?
  var latitude: Double?
  var longitude: Double?

  /// Makes a record with one of few vectors and places, or without them.
  init(_ specimen: Specimen, _ random: inout SeededNumbers) {
    func number() -> Float { [0, -0.0, 1, -2, 0.5, 1e20][random.below(6)] }
    func degrees(_ most: Double) -> Double? {
      [nil, .nan, 400, most, -most, -0.0, 1.5, Double(random.below(90))][random.below(8)]
    }
    self.specimen = specimen
    hue = random.oneIn(5) ? nil : [number(), number(), number()]
    latitude = degrees(90)
    longitude = degrees(180)
  }

  /// The place, unless its numbers are those of none.
  var coordinate: Coordinate? {
    guard let latitude, let longitude, abs(latitude) <= 90, abs(longitude) <= 180 else {
      return nil
    }
    return Coordinate(latitude: latitude, longitude: longitude)
  }
}

extension PlacedSpecimen: Entity {
  struct Attributes: Sendable {
    var hue: Attribute<PlacedSpecimen, Vector?> { .init(22) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<PlacedSpecimen>(
    "Specimen",
    attributes: [
      .init("mark", \.specimen.mark, initial: "m\u{e9}"), .init("serial", \.specimen.serial),
      .init("int", \.specimen.int), .init("small", \.specimen.small), .init("big", \.specimen.big),
      .init("ratio", \.specimen.ratio), .init("single", \.specimen.single),
      .init("flag", \.specimen.flag), .init("level", \.specimen.level, initial: 3),
      .init("name", \.specimen.name), .init("label", \.specimen.label),
      .init("date", \.specimen.date), .init("amount", \.specimen.amount),
      .init("token", \.specimen.token), .init("blob", \.specimen.blob),
      .init("url", \.specimen.url), .init("group", \.specimen.group),
      .init("code", \.specimen.code), .init("owner", \.specimen.owner),
      .init("json", \.specimen.json), .init("place", \.specimen.place),
      .init("extra", \.specimen.extra), .init("hue", \.hue), .init("latitude", \.latitude),
      .init("longitude", \.longitude),
    ],
    unique: [[\.specimen.serial]],
    indexes: [[\.specimen.int], [\.specimen.name], [\.specimen.level, \.specimen.label]],
    placeIndexes: [PlaceIndex(.init(\.latitude), .init(\.longitude), invalid: .leftOut)],
    vectorIndexes: [VectorIndex(\.hue, dimensions: 3)])

  func encode(into writer: inout RecordWriter) {
    specimen.encode(into: &writer)
    writer.write(hue)
    writer.write(latitude)
    writer.write(longitude)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    specimen = try Specimen(from: &reader)
    hue = try reader.read()
    latitude = try reader.read()
    longitude = try reader.read()
    id = reader.id()
  }
}

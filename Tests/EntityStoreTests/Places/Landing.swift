import EntityStore

/// A place with a number, and a second place in a nested struct.
struct Landing: Entity, Equatable {
  struct Site: Codable, Hashable, Sendable {
    var lat: Double?
    var lon: Double?
  }

  var id = RecordID<Landing>()
  var latitude: Double?
  var longitude: Double?
  var group = 0
  var site: Site?

  struct Attributes: Sendable {
    var id: Attribute<Landing, Landing.ID> { .recordID }
    var latitude: Attribute<Landing, Double?> { .init(0) }
    var longitude: Attribute<Landing, Double?> { .init(1) }
    var group: Attribute<Landing, Int> { .init(2) }
    var site: Attribute<Landing, Site?> { .init(3) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Landing>(
    "Landing",
    attributes: [
      .init("latitude", \.latitude), .init("longitude", \.longitude), .init("group", \.group),
      .init("site", \.site),
    ],
    indexes: [[\.group]],
    placeIndexes: [
      PlaceIndex(.init(\.latitude), .init(\.longitude)),
      PlaceIndex(.init(\.site, "lat"), .init(\.site, "lon"), invalid: .leftOut),
    ])

  init(_ latitude: Double?, _ longitude: Double?, group: Int = 0, site: Site? = nil) {
    self.latitude = latitude
    self.longitude = longitude
    self.group = group
    self.site = site
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    latitude = try reader.read()
    longitude = try reader.read()
    group = try reader.read()
    site = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(latitude)
    writer.write(longitude)
    writer.write(group)
    writer.write(site)
  }

  var place: Coordinate? {
    guard let latitude, let longitude else { return nil }
    return Coordinate(latitude: latitude, longitude: longitude)
  }
}

/// ``Landing`` in a program from before the place indexes.
struct PlainLanding: Entity {
  var id = RecordID<PlainLanding>()
  var latitude: Double?
  var longitude: Double?
  var group = 0
  var site: Landing.Site?

  static let attributes: Void = ()

  static let schema = EntitySchema<PlainLanding>(
    "Landing",
    attributes: [
      .init("latitude", \.latitude), .init("longitude", \.longitude), .init("group", \.group),
      .init("site", \.site),
    ],
    indexes: [[\.group]])

  init(_ latitude: Double?, _ longitude: Double?) {
    self.latitude = latitude
    self.longitude = longitude
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    latitude = try reader.read()
    longitude = try reader.read()
    group = try reader.read()
    site = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(latitude)
    writer.write(longitude)
    writer.write(group)
    writer.write(site)
  }
}

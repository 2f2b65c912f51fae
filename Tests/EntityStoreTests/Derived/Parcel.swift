import EntityStore

/// Documents with attributes that are derived from their members, and indexes over their elements.
struct Parcel: Entity, Equatable {
  struct Author: Codable, Equatable, Sendable {
    var name: String
    var age: Int?
  }

  var id = RecordID<Parcel>()
  var name: String
  var properties = JSONValue.null
  var keywords: [String] = []
  var authors: [Author] = []
  var tags = JSONValue.null
  private(set) var kind: String?
  private(set) var size: Double?
  private(set) var stars: Int?
  private(set) var isOpen: Bool?

  init(
    name: String, properties: JSONValue = .null, keywords: [String] = [], authors: [Author] = [],
    tags: JSONValue = .null
  ) {
    self.name = name
    self.properties = properties
    self.keywords = keywords
    self.authors = authors
    self.tags = tags
  }

  struct Attributes: Sendable {
    var name: Attribute<Parcel, String> { .init(0) }
    var properties: Attribute<Parcel, JSONValue> { .init(1) }
    var keywords: Attribute<Parcel, [String]> { .init(2) }
    var authors: Attribute<Parcel, [Author]> { .init(3) }
    var tags: Attribute<Parcel, JSONValue> { .init(4) }
    var kind: Attribute<Parcel, String?> { .init(5) }
    var size: Attribute<Parcel, Double?> { .init(6) }
    var stars: Attribute<Parcel, Int?> { .init(7) }
    var isOpen: Attribute<Parcel, Bool?> { .init(8) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Parcel>(
    "Parcel",
    attributes: [
      .init("name", \.name), .init("properties", \.properties), .init("keywords", \.keywords),
      .init("authors", \.authors), .init("tags", \.tags),
      .derived("kind", \.kind, .member(\.properties, "type", "kind")),
      .derived("size", \.size, .member(\.properties, "size")),
      .derived("stars", \.stars, .member(\.properties, "stars")),
      .derived("isOpen", \.isOpen, .member(\.properties, "open")),
    ],
    indexes: [[\.kind, \.size], [\.size], [\.stars], [\.keywords], [\.tags]],
    elementIndexes: [.init(\.authors, "name"), .init(\.authors, "age"), .init(\.tags, "label")])

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    properties = try reader.read()
    keywords = try reader.read()
    authors = try reader.read()
    tags = try reader.read()
    kind = try reader.read()
    size = try reader.read()
    stars = try reader.read()
    isOpen = try reader.read()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(properties)
    writer.write(keywords)
    writer.write(authors)
    writer.write(tags)
  }
}

/// A parcel without derived attributes and indexes.
struct PlainParcel: Entity {
  var id = RecordID<PlainParcel>()
  var name: String
  var properties: JSONValue
  var keywords: [String]
  var authors: [Parcel.Author]
  var tags: JSONValue

  init(_ parcel: Parcel) {
    name = parcel.name
    properties = parcel.properties
    keywords = parcel.keywords
    authors = parcel.authors
    tags = parcel.tags
  }

  struct Attributes: Sendable {
    var name: Attribute<PlainParcel, String> { .init(0) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<PlainParcel>(
    "PlainParcel",
    attributes: [
      .init("name", \.name), .init("properties", \.properties), .init("keywords", \.keywords),
      .init("authors", \.authors), .init("tags", \.tags),
    ])

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    properties = try reader.read()
    keywords = try reader.read()
    authors = try reader.read()
    tags = try reader.read()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(properties)
    writer.write(keywords)
    writer.write(authors)
    writer.write(tags)
  }
}

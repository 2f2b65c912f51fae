import EntityStore

// One stored entity, "Person", as a program declares it over the years.

struct PersonV1: Equatable {
  var id = RecordID<PersonV1>()
  var name: String
  var email: String?
  var age: Int
}

extension PersonV1: Entity {
  struct Attributes: Sendable {
    var id: Attribute<PersonV1, RecordID<PersonV1>> { .recordID }
    var name: Attribute<PersonV1, String> { .init(0) }
    var email: Attribute<PersonV1, String?> { .init(1) }
    var age: Attribute<PersonV1, Int> { .init(2) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<PersonV1>(
    "Person",
    attributes: [.init("name", \.name), .init("email", \.email), .init("age", \.age)],
    indexes: [[\.name]])
  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(email)
    writer.write(age)
  }
  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    email = try reader.read()
    age = try reader.read()
  }
}

/// Adds an optional attribute and an attribute with an initial value between the old attributes,
/// and an index over the latter.
struct PersonV2: Equatable {
  var id = RecordID<PersonV2>()
  var city: String?
  var age: Int
  var level = 3
  var name: String
  var email: String?
}

extension PersonV2: Entity {
  static let byLevel = PersonV2.index(\.level)
  struct Attributes: Sendable {
    var id: Attribute<PersonV2, RecordID<PersonV2>> { .recordID }
    var city: Attribute<PersonV2, String?> { .init(0) }
    var age: Attribute<PersonV2, Int> { .init(1) }
    var level: Attribute<PersonV2, Int> { .init(2) }
    var name: Attribute<PersonV2, String> { .init(3) }
    var email: Attribute<PersonV2, String?> { .init(4) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<PersonV2>(
    "Person",
    attributes: [
      .init("city", \.city), .init("age", \.age), .init("level", \.level, initial: 3),
      .init("name", \.name), .init("email", \.email),
    ], indexes: [[\.name], [\.level]])
  func encode(into writer: inout RecordWriter) {
    writer.write(city)
    writer.write(age)
    writer.write(level)
    writer.write(name)
    writer.write(email)
  }
  init(from reader: inout RecordReader) throws(StoreError) {
    city = try reader.read()
    age = try reader.read()
    level = try reader.read()
    name = try reader.read()
    email = try reader.read()
  }
}

/// A person in which each variant changes one attribute, so that a table can list all variants.
struct PersonVariant<Change: PersonChange>: Entity {
  var id = RecordID<PersonVariant>()
  var name: String
  var email: Change.Email
  var extra: Change.Extra

  struct Attributes: Sendable {
    var id: Attribute<PersonVariant, RecordID<PersonVariant>> { .recordID }
    var name: Attribute<PersonVariant, String> { .init(0) }
    var email: Attribute<PersonVariant, Change.Email> { .init(1) }
    var extra: Attribute<PersonVariant, Change.Extra> { .init(2) }
  }

  static var attributes: Attributes { Attributes() }

  static var schema: EntitySchema<PersonVariant> { Change.schema }
  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(email)
    if Change.hasExtra { writer.write(extra) }
  }
  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    email = try reader.read()
    extra = Change.hasExtra ? try reader.read() : Change.noExtra
  }
}

protocol PersonChange: Sendable {
  associatedtype Email: AttributeValue
  associatedtype Extra: AttributeValue
  static var schema: EntitySchema<PersonVariant<Self>> { get }
  static var hasExtra: Bool { get }
  static var noExtra: Extra { get }
}

extension PersonChange where Extra == Int {
  static var noExtra: Int { 0 }
}

/// A variant in which `email` is required and `age` is removed.
enum Tightened: PersonChange {
  typealias Email = String
  typealias Extra = Int
  static let hasExtra = false
  static let schema = EntitySchema<PersonVariant<Tightened>>(
    "Person", attributes: [.init("name", \.name), .init("email", \.email)],
    indexes: [[\.name]])
}

/// `email` is an integer.
enum Retyped: PersonChange {
  typealias Email = Int?
  typealias Extra = Int
  static let hasExtra = false
  static let schema = EntitySchema<PersonVariant<Retyped>>(
    "Person", attributes: [.init("name", \.name), .init("email", \.email)])
}

/// A variant with a new required attribute without an initial value.
enum Demanding: PersonChange {
  typealias Email = String?
  typealias Extra = Int
  static let hasExtra = true
  static let schema = EntitySchema<PersonVariant<Demanding>>(
    "Person",
    attributes: [.init("name", \.name), .init("email", \.email), .init("height", \.extra)])
}

/// `years` was `age`.
enum Renamed: PersonChange {
  typealias Email = String?
  typealias Extra = Int
  static let hasExtra = true
  static let schema = EntitySchema<PersonVariant<Renamed>>(
    "Person",
    attributes: [
      .init("name", \.name), .init("email", \.email),
      .init("years", \.extra, originalName: "age"),
    ], indexes: [[\.name]])
}

/// `fullName` was `name`, and another attribute takes the former name.
enum Displaced: PersonChange {
  typealias Email = String?
  typealias Extra = Int
  static let hasExtra = true
  static let schema = EntitySchema<PersonVariant<Displaced>>(
    "Person",
    attributes: [
      .init("fullName", \.name, originalName: "name"), .init("email", \.email),
      .init("name", \.extra, initial: 5),
    ])
}

/// `age` can be null.
enum Relaxed: PersonChange {
  typealias Email = String?
  typealias Extra = Int?
  static let hasExtra = true
  static var noExtra: Int? { nil }
  static let schema = EntitySchema<PersonVariant<Relaxed>>(
    "Person",
    attributes: [.init("name", \.name), .init("email", \.email), .init("age", \.extra)],
    indexes: [[\.name], [\.extra]])
}

/// The index on `name` is unique.
enum UniqueName: PersonChange {
  typealias Email = String?
  typealias Extra = Int
  static let hasExtra = true
  static let schema = EntitySchema<PersonVariant<UniqueName>>(
    "Person",
    attributes: [.init("name", \.name), .init("email", \.email), .init("age", \.extra)],
    unique: [[\.name]])
}

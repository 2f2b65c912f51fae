import EntityStore
import Foundation

/// An entity with an attribute of each kind that conditions treat differently.
///
/// Each attribute that an index can serve is indexed.
struct Piece: Sendable {
  struct Spec: Codable, Hashable, Sendable { var swift: String }

  var id = RecordID<Piece>()
  var number: Int
  var other: Int
  var grade: Int?
  var name: String
  var isSeen: Bool
  var group: RecordID<Piece>
  var json: JSONValue
  var spec: Spec
  var tags: [String]
  var date: Date

  // Only `#Predicate` uses these computed properties.
  var fullName: String { name + "!" }
  var type: String? { json["type"]?.stringValue }

  init(_ number: Int) {
    self.number = number
    other = 999 - number
    grade = number % 100 == 0 ? nil : number
    name = "n\(1_000 + number)"
    isSeen = number % 2 == 0
    group = RecordID(rawValue: UInt64(number + 1))
    json = ["type": .string("t\(number)"), "list": [.integer(Int64(number))]]
    spec = Spec(swift: "\(number)")
    tags = ["x\(number)", "y\(number % 7)"]
    date = Date(timeIntervalSinceReferenceDate: Double(number))
  }
}

extension Piece: Entity {
  struct Attributes: Sendable {
    var id: Attribute<Piece, RecordID<Piece>> { .recordID }
    var number: Attribute<Piece, Int> { .init(0) }
    var other: Attribute<Piece, Int> { .init(1) }
    var grade: Attribute<Piece, Int?> { .init(2) }
    var name: Attribute<Piece, String> { .init(3) }
    var isSeen: Attribute<Piece, Bool> { .init(4) }
    var group: Attribute<Piece, RecordID<Piece>> { .init(5) }
    var json: Attribute<Piece, JSONValue> { .init(6) }
    var spec: Attribute<Piece, Spec> { .init(7) }
    var tags: Attribute<Piece, [String]> { .init(8) }
    var date: Attribute<Piece, Date> { .init(9) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Piece>(
    "Piece",
    attributes: [
      .init("number", \.number), .init("other", \.other), .init("grade", \.grade),
      .init("name", \.name), .init("isSeen", \.isSeen), .init("group", \.group),
      .init("json", \.json), .init("spec", \.spec), .init("tags", \.tags), .init("date", \.date),
    ],
    indexes: [[\.number], [\.other], [\.grade], [\.name], [\.group], [\.date]])

  func encode(into writer: inout RecordWriter) {
    writer.write(number)
    writer.write(other)
    writer.write(grade)
    writer.write(name)
    writer.write(isSeen)
    writer.write(group)
    writer.write(json)
    writer.write(spec)
    writer.write(tags)
    writer.write(date)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    number = try reader.read()
    other = try reader.read()
    grade = try reader.read()
    name = try reader.read()
    isSeen = try reader.read()
    group = try reader.read()
    json = try reader.read()
    spec = try reader.read()
    tags = try reader.read()
    date = try reader.read()
  }
}

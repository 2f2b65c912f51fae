import EntityStore

/// An entity with raw values, ids and a property that is no attribute.
struct Ticket: Sendable {
  enum Status: String, CaseIterable, Codable, Sendable {
    case open, closed
    /// A text that is similar to the raw value but differs from it.
    var label: String { self == .open ? "closed" : "open" }
  }

  enum Priority: Int, CaseIterable, Codable, Sendable { case low = 1, high = 9 }

  /// A struct with a raw value, equal to more than itself.
  struct Tag: RawRepresentable, Equatable, Codable, Sendable {
    var rawValue: String
    static func == (a: Tag, b: Tag) -> Bool { a.rawValue.lowercased() == b.rawValue.lowercased() }
  }

  var id = RecordID<Ticket>()
  var status = Status.open
  var priority: Priority?
  var tag = Tag(rawValue: "")
  var count = 0
  var divisor = 0
  var votes: Int8 = 0
  var rating: Int?
  var parent: RecordID<Ticket>?
  var numbers: [Int] = []
  var optionals: [Int?] = []

  var owner: RecordID<Ticket> { parent ?? id }
  var copy: Ticket { self }
}

extension Ticket: Entity {
  struct Attributes: Sendable {
    var id: Attribute<Ticket, RecordID<Ticket>> { .recordID }
    var status: Attribute<Ticket, Status> { .init(0) }
    var priority: Attribute<Ticket, Priority?> { .init(1) }
    var tag: Attribute<Ticket, Tag> { .init(2) }
    var count: Attribute<Ticket, Int> { .init(3) }
    var divisor: Attribute<Ticket, Int> { .init(4) }
    var votes: Attribute<Ticket, Int8> { .init(5) }
    var rating: Attribute<Ticket, Int?> { .init(6) }
    var parent: Attribute<Ticket, RecordID<Ticket>?> { .init(7) }
    var numbers: Attribute<Ticket, [Int]> { .init(8) }
    var optionals: Attribute<Ticket, [Int?]> { .init(9) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Ticket>(
    "Ticket",
    attributes: [
      .init("state", \.status), .init("priority", \.priority), .init("tag", \.tag),
      .init("count", \.count), .init("divisor", \.divisor), .init("votes", \.votes),
      .init("rating", \.rating), .init("parent", \.parent), .init("numbers", \.numbers),
      .init("optionals", \.optionals),
    ])

  func encode(into writer: inout RecordWriter) {
    writer.write(status)
    writer.write(priority)
    writer.write(tag)
    writer.write(count)
    writer.write(divisor)
    writer.write(votes)
    writer.write(rating)
    writer.write(parent)
    writer.write(numbers)
    writer.write(optionals)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    status = try reader.read()
    priority = try reader.read()
    tag = try reader.read()
    count = try reader.read()
    divisor = try reader.read()
    votes = try reader.read()
    rating = try reader.read()
    parent = try reader.read()
    numbers = try reader.read()
    optionals = try reader.read()
  }
}

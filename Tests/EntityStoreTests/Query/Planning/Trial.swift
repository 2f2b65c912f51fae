import EntityStore

/// An entity whose records follow from their number, for plans and fetches of known content.
struct Trial: Hashable {
  var id = RecordID<Trial>()
  var number: Int
  /// `number % 100`.
  var share: Int
  /// "a" to "j", by `number % 10`.
  var kind: String
  /// "name 00042".
  var name: String
  /// A rating, which is null in every fourth trial.
  var rating: Double?
  var note: String
  var json: JSONValue?

  init(_ number: Int) {
    self.number = number
    share = number % 100
    kind = String(UnicodeScalar(UInt8(97 + number % 10)))
    let digits = String(number)
    name = "name " + String(repeating: "0", count: max(0, 5 - digits.count)) + digits
    rating = number % 4 == 0 ? nil : Double(number % 8) / 2
    note = "note \(number % 3)"
    json = number % 2 == 0 ? ["n": .integer(Int64(number % 5)), "tags": ["t", "u"]] : nil
  }

  static func make(_ count: Int, in store: Store) throws {
    try store.write { transaction in
      _ = try transaction.insert((0..<count).map { Trial($0) })
    }
  }
}

extension Trial: Entity {
  struct Attributes: Sendable {
    var id: Attribute<Trial, RecordID<Trial>> { .recordID }
    var number: Attribute<Trial, Int> { .init(0) }
    var share: Attribute<Trial, Int> { .init(1) }
    var kind: Attribute<Trial, String> { .init(2) }
    var name: Attribute<Trial, String> { .init(3) }
    var rating: Attribute<Trial, Double?> { .init(4) }
    var note: Attribute<Trial, String> { .init(5) }
    var json: Attribute<Trial, JSONValue?> { .init(6) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Trial>(
    "Trial",
    attributes: [
      .init("number", \.number), .init("share", \.share), .init("kind", \.kind),
      .init("name", \.name), .init("rating", \.rating), .init("note", \.note),
      .init("json", \.json),
    ],
    unique: [[\.number]], indexes: [[\.share], [\.kind, \.share], [\.name], [\.rating]])

  func encode(into writer: inout RecordWriter) {
    writer.write(number)
    writer.write(share)
    writer.write(kind)
    writer.write(name)
    writer.write(rating)
    writer.write(note)
    writer.write(json)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    number = try reader.read()
    share = try reader.read()
    kind = try reader.read()
    name = try reader.read()
    rating = try reader.read()
    note = try reader.read()
    json = try reader.read()
  }
}

extension Trial {
  /// The number of trials that reads are counted on.
  static let count = 20_000

  private static let fixture = Result {
    try ReadOnlyFixture([Trial.self]) { try Trial.make(count, in: $0) }
  }

  /// Reads a store of 20,000 trials, which all tests share.
  static func read(_ body: (borrowing Snapshot) throws -> Void) throws {
    try fixture.get().store.read { try body($0) }
  }
}

import EntityStore
import Foundation

/// An entity with a constraint of every kind, on every type of attribute that has one.
struct Review: Hashable {
  var id = RecordID<Review>()
  var slug = "a"
  var stars = 0
  var count = UInt64(1)
  var ratio = Float(0)
  var score: Double?
  var price: Decimal?
  var day: Date?
  var link: URL?
  var seal: Data?
  /// A text without a constraint.
  var note = ""
}

extension Review: Entity {
  static let firstDay = Date(timeIntervalSinceReferenceDate: 0)

  struct Attributes: Sendable {
    var id: Attribute<Review, RecordID<Review>> { .recordID }
    var slug: Attribute<Review, String> { .init(0) }
    var stars: Attribute<Review, Int> { .init(1) }
    var count: Attribute<Review, UInt64> { .init(2) }
    var ratio: Attribute<Review, Float> { .init(3) }
    var score: Attribute<Review, Double?> { .init(4) }
    var price: Attribute<Review, Decimal?> { .init(5) }
    var day: Attribute<Review, Date?> { .init(6) }
    var link: Attribute<Review, URL?> { .init(7) }
    var seal: Attribute<Review, Data?> { .init(8) }
    var note: Attribute<Review, String> { .init(9) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Review>(
    "Review",
    attributes: [
      .init("slug", \.slug, constraints: [.length(1...8), .pattern("[a-zé0-9-]+")]),
      .init("stars", \.stars, constraints: [.range(0...5)]),
      .init("count", \.count, constraints: [.range(1...)]),
      .init("ratio", \.ratio, constraints: [.range(-0.5...0.1)]),
      .init("score", \.score, constraints: [.range(...9.5)]),
      .init("price", \.price, constraints: [.range(0.5...99)]),
      .init("day", \.day, constraints: [.range(firstDay...)]),
      .init("link", \.link, constraints: [.length(...12)]),
      .init("seal", \.seal, constraints: [.length(2...4)]),
      .init("note", \.note),
    ],
    unique: [[\.slug]], indexes: [[\.stars]])

  func encode(into writer: inout RecordWriter) {
    writer.write(slug)
    writer.write(stars)
    writer.write(count)
    writer.write(ratio)
    writer.write(score)
    writer.write(price)
    writer.write(day)
    writer.write(link)
    writer.write(seal)
    writer.write(note)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    slug = try reader.read()
    stars = try reader.read()
    count = try reader.read()
    ratio = try reader.read()
    score = try reader.read()
    price = try reader.read()
    day = try reader.read()
    link = try reader.read()
    seal = try reader.read()
    note = try reader.read()
  }
}

extension Review {
  /// A review with one changed value, and the constraint that the value breaks.
  struct Case: Sendable {
    var review: Review
    var attribute: String
    /// The end of the error message; `nil` if the value is allowed.
    var rule: String?

    init<V>(_ path: WritableKeyPath<Review, V>, _ value: V, _ attribute: String, _ rule: String?) {
      review = Review()
      review[keyPath: path] = value
      self.attribute = attribute
      self.rule = rule
    }
  }

  /// The values at the edges of every constraint, on both sides.
  static let cases: [Case] = [
    Case(\.slug, "b", "slug", nil), Case(\.slug, "12345678", "slug", nil),
    Case(\.slug, "éééééééé", "slug", nil),
    Case(\.slug, "", "slug", "have at least 1 Unicode scalar"),
    Case(\.slug, "123456789", "slug", "have at most 8 Unicode scalars"),
    Case(\.slug, "ééééééééé", "slug", "have at most 8 Unicode scalars"),
    Case(\.slug, "aB", "slug", "match '[a-zé0-9-]+'"),
    Case(\.slug, "ab\n", "slug", "match '[a-zé0-9-]+'"),
    Case(\.slug, "e\u{301}", "slug", "match '[a-zé0-9-]+'"),
    Case(\.stars, 0, "stars", nil), Case(\.stars, 5, "stars", nil),
    Case(\.stars, -1, "stars", "be at least 0"), Case(\.stars, 6, "stars", "be at most 5"),
    Case(\.stars, .min, "stars", "be at least 0"), Case(\.stars, .max, "stars", "be at most 5"),
    Case(\.count, 1, "count", nil), Case(\.count, .max, "count", nil),
    Case(\.count, 0, "count", "be at least 1"),
    Case(\.ratio, -0.5, "ratio", nil), Case(\.ratio, 0.1, "ratio", nil),
    Case(\.ratio, Float(0.1).nextUp, "ratio", "be at most \(Double(Float(0.1)))"),
    Case(\.ratio, Float(-0.5).nextDown, "ratio", "be at least -0.5"),
    Case(\.ratio, .nan, "ratio", "be a number"),
    Case(\.score, nil, "score", nil), Case(\.score, 9.5, "score", nil),
    Case(\.score, -.infinity, "score", nil), Case(\.score, .nan, "score", "be a number"),
    Case(\.score, 9.5.nextUp, "score", "be at most 9.5"),
    Case(\.price, nil, "price", nil), Case(\.price, Decimal(99), "price", nil),
    Case(\.price, Decimal(string: "0.5"), "price", nil),
    Case(\.price, Decimal(string: "0.49999999999999999999"), "price", "be at least 0.5"),
    Case(\.price, Decimal(string: "99.00000000000000000001"), "price", "be at most 99"),
    Case(\.price, Decimal.nan, "price", "be a number"),
    Case(\.day, nil, "day", nil), Case(\.day, firstDay, "day", nil),
    Case(\.day, .distantFuture, "day", nil),
    Case(\.day, firstDay.addingTimeInterval(-0.001), "day", "be at least 2001-01-01T00:00:00Z"),
    Case(\.link, nil, "link", nil), Case(\.link, URL(string: "http://a.b/c"), "link", nil),
    Case(\.link, URL(string: "http://a.b/cd"), "link", "have at most 12 Unicode scalars"),
    Case(\.seal, nil, "seal", nil), Case(\.seal, Data([1, 2]), "seal", nil),
    Case(\.seal, Data([1, 2, 3, 0x80]), "seal", nil),
    Case(\.seal, Data([1]), "seal", "have at least 2 bytes"),
    Case(\.seal, Data([1, 2, 3, 0x80, 0x80]), "seal", "have at most 4 bytes"),
    Case(\.note, String(repeating: "é", count: 70_000), "note", nil),
  ]

  static let allowed = cases.filter { $0.rule == nil }
  static let refused = cases.filter { $0.rule != nil }
}

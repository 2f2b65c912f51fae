import EntityStore

/// A bright meteor, identified by the second of its greatest brightness.
struct Fireball: Entity {
  var id = RecordID<Fireball>()
  var date: Date
  /// The radiated energy in 10¹⁰ joules.
  var energy: Double
  /// The impact energy in kilotons of TNT.
  var impactEnergy: Double
  /// The latitude in degrees, positive in the north.
  ///
  /// The longitude is positive in the east.
  var latitude: Double?
  var longitude: Double?
  /// The altitude in kilometres.
  var altitude: Double?
  /// The speed in kilometres per second.
  var velocity: Double?

  struct Attributes: Sendable {
    var id: Attribute<Fireball, RecordID<Fireball>> { .recordID }
    var date: Attribute<Fireball, Date> { .init(0) }
    var energy: Attribute<Fireball, Double> { .init(1) }
    var impactEnergy: Attribute<Fireball, Double> { .init(2) }
    var latitude: Attribute<Fireball, Double?> { .init(3) }
    var longitude: Attribute<Fireball, Double?> { .init(4) }
    var altitude: Attribute<Fireball, Double?> { .init(5) }
    var velocity: Attribute<Fireball, Double?> { .init(6) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Fireball>(
    "Fireball",
    attributes: [
      .init("date", \.date), .init("energy", \.energy), .init("impactEnergy", \.impactEnergy),
      .init("latitude", \.latitude), .init("longitude", \.longitude),
      .init("altitude", \.altitude), .init("velocity", \.velocity),
    ],
    unique: [[\.date]], indexes: [[\.energy]])

  func encode(into writer: inout RecordWriter) {
    writer.write(date)
    writer.write(energy)
    writer.write(impactEnergy)
    writer.write(latitude)
    writer.write(longitude)
    writer.write(altitude)
    writer.write(velocity)
  }
}

extension Fireball {
  init(from reader: inout RecordReader) throws(StoreError) {
    date = try reader.read()
    energy = try reader.read()
    impactEnergy = try reader.read()
    latitude = try reader.read()
    longitude = try reader.read()
    altitude = try reader.read()
    velocity = try reader.read()
  }

  init(_ row: FireballSnapshot.Row) throws {
    guard let date = try row.date(), let energy = try row.number("energy"),
      let impactEnergy = try row.number("impact-e")
    else { throw BadRecord("cannot use the row: date, energy and impact-e must not be null") }
    self.init(
      date: date, energy: energy, impactEnergy: impactEnergy,
      latitude: try row.coordinate("lat"), longitude: try row.coordinate("lon"),
      altitude: try row.number("alt"), velocity: try row.number("vel"))
  }
}

/// The whole data set at one date: the names of the columns, then rows of texts and nulls.
struct FireballSnapshot: Decodable {
  var fields: [String]
  var data: [[String?]]

  /// The rows, whose values are found by column name, because the service has changed the order of
  /// its columns.
  var rows: [Row] {
    let indexes = Dictionary(zip(fields, fields.indices), uniquingKeysWith: { first, _ in first })
    return data.map { Row(indexes: indexes, values: $0) }
  }

  /// A row of the answer, whose values are found by the names of their columns.
  struct Row: Sendable {
    let indexes: [String: Int]
    let values: [String?]

    subscript(column: String) -> String? {
      indexes[column].flatMap { values.indices.contains($0) ? values[$0] : nil }
    }

    func number(_ column: String) throws -> Double? {
      guard let text = self[column] else { return nil }
      guard let number = Double(text) else {
        throw BadRecord("cannot use the row: \(column) must be a number, found '\(text)'")
      }
      return number
    }

    /// Returns a coordinate from a column with degrees and a column with a direction; `nil` if the
    /// place is unknown.
    func coordinate(_ column: String) throws -> Double? {
      guard let degrees = try number(column) else { return nil }
      let direction = self[column + "-dir"]
      return direction == "S" || direction == "W" ? -degrees : degrees
    }

    /// Returns the date of the row, written as `2013-02-15 03:20:33` in universal time.
    func date() throws -> Date? {
      guard let text = self["date"] else { return nil }
      let style = Date.ISO8601FormatStyle(timeZone: .gmt).year().month().day()
        .dateTimeSeparator(.space).time(includingFractionalSeconds: false)
      return try style.parse(text)
    }
  }
}

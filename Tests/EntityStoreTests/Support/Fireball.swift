import EntityStore

/// A bolide as the fireball service reports it: a row of texts, some of them null.
struct Fireball: Hashable {
  var id = RecordID<Fireball>()
  var date: String
  var energy: Double
  var impactEnergy: Double
  var latitude: Double?
  var longitude: Double?
  var altitude: Double?
  var velocity: Double?
}

extension Fireball: Entity {
  struct Attributes: Sendable {
    var id: Attribute<Fireball, RecordID<Fireball>> { .recordID }
    var date: Attribute<Fireball, String> { .init(0) }
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
    unique: [[\.date]], indexes: [[\.energy], [\.latitude, \.longitude]])

  func encode(into writer: inout RecordWriter) {
    writer.write(date)
    writer.write(energy)
    writer.write(impactEnergy)
    writer.write(latitude)
    writer.write(longitude)
    writer.write(altitude)
    writer.write(velocity)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    date = try reader.read()
    energy = try reader.read()
    impactEnergy = try reader.read()
    latitude = try reader.read()
    longitude = try reader.read()
    altitude = try reader.read()
    velocity = try reader.read()
  }

  /// Makes the entity from a row.
  ///
  /// The columns are date, energy, impact energy, latitude and its hemisphere, longitude and its
  /// hemisphere, altitude, and velocity.
  init?(row: [String?]) {
    func number(_ column: Int) -> Double? { row[column].flatMap { Double($0) } }
    func signed(_ column: Int, negative: String) -> Double? {
      number(column).map { row[column + 1] == negative ? -$0 : $0 }
    }
    guard row.count >= 9, let date = row[0], let energy = number(1), let impact = number(2) else {
      return nil
    }
    self.init(
      date: date, energy: energy, impactEnergy: impact, latitude: signed(3, negative: "S"),
      longitude: signed(5, negative: "W"), altitude: number(7), velocity: number(8))
  }
}

import EntityStore

/// An entity that the battery queries.
protocol BatteryEntity: Entity, Sendable {
  static var subject: BatteryQuery.Subject { get }
  /// The attributes and their types, in the order of ``values``.
  static var columns: [(name: String, column: BatteryColumn<Self>)] { get }
  static func column(_ name: String) -> BatteryColumn<Self>?
  /// The attributes of each index; the first of ``Sighting`` is unique.
  static var indexed: [[String]] { get }
  /// Makes the record of a number from 0 to `count` - 1, always with the same values.
  ///
  /// The record's id is the number plus one.
  static func numbered(_ number: Int, of count: Int) -> Self
  /// The integer attribute that is read from each found record.
  static var readName: String { get }
  static func readNumber(of view: borrowing EntityView<Self>) -> UInt64
  /// The values by which the same record is put into other stores.
  var values: [BatteryLiteral] { get }
}

/// An attribute by its type.
enum BatteryColumn<E: Entity>: Sendable {
  case int(any KeyPath<E.Attributes, Attribute<E, Int>> & Sendable)
  case optionalInt(any KeyPath<E.Attributes, Attribute<E, Int?>> & Sendable)
  case double(any KeyPath<E.Attributes, Attribute<E, Double>> & Sendable)
  case optionalDouble(any KeyPath<E.Attributes, Attribute<E, Double?>> & Sendable)
  case text(any KeyPath<E.Attributes, Attribute<E, String>> & Sendable)
  case bool(any KeyPath<E.Attributes, Attribute<E, Bool>> & Sendable)
  /// A JSON value, which only conditions use.
  case json
}

/// splitmix64, by which each record is made from its number alone.
struct BatteryNumbers: RandomNumberGenerator {
  private var state: UInt64

  init(seed: Int) { state = UInt64(bitPattern: Int64(seed)) &* 0xD134_2543_DE82_EF95 &+ 1 }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }

  mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }

  /// Returns a number of at least 0 and less than 1.
  mutating func fraction() -> Double { Double(next() >> 11) / 0x1p53 }
}

import EntityStore
import Foundation

// The entities of the kept files. The declarations must stay as they are, because the files were
// written with them.

/// Every type of attribute that format version 1 has, and indexes of every kind.
struct CorpusSpecimen: Equatable {
  var id = RecordID<CorpusSpecimen>()
  var bool = false
  var int8 = Int8(0), int16 = Int16(0), int32 = Int32(0), int64 = Int64(0)
  var uint8 = UInt8(0), uint16 = UInt16(0), uint32 = UInt32(0), uint64 = UInt64(0)
  var float = Float(0), double = 0.0
  var date = Date(timeIntervalSinceReferenceDate: 0)
  var uuid = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
  var decimal = Decimal(0)
  var string = "", url = AllTypes.url("https://example.org/"), data = Data()
  var json = JSONValue.null, document: [String: [Int]] = [:]
  var optionalInt: Int?, optionalString: String?, optionalDecimal: Decimal?,
    optionalJSON: JSONValue?
}

extension CorpusSpecimen: Entity {
  struct Attributes: Sendable {
    var id: Attribute<CorpusSpecimen, RecordID<CorpusSpecimen>> { .recordID }
    var bool: Attribute<CorpusSpecimen, Bool> { .init(0) }
    var int8: Attribute<CorpusSpecimen, Int8> { .init(1) }
    var int16: Attribute<CorpusSpecimen, Int16> { .init(2) }
    var int32: Attribute<CorpusSpecimen, Int32> { .init(3) }
    var int64: Attribute<CorpusSpecimen, Int64> { .init(4) }
    var uint8: Attribute<CorpusSpecimen, UInt8> { .init(5) }
    var uint16: Attribute<CorpusSpecimen, UInt16> { .init(6) }
    var uint32: Attribute<CorpusSpecimen, UInt32> { .init(7) }
    var uint64: Attribute<CorpusSpecimen, UInt64> { .init(8) }
    var float: Attribute<CorpusSpecimen, Float> { .init(9) }
    var double: Attribute<CorpusSpecimen, Double> { .init(10) }
    var date: Attribute<CorpusSpecimen, Date> { .init(11) }
    var uuid: Attribute<CorpusSpecimen, UUID> { .init(12) }
    var decimal: Attribute<CorpusSpecimen, Decimal> { .init(13) }
    var string: Attribute<CorpusSpecimen, String> { .init(14) }
    var url: Attribute<CorpusSpecimen, URL> { .init(15) }
    var data: Attribute<CorpusSpecimen, Data> { .init(16) }
    var json: Attribute<CorpusSpecimen, JSONValue> { .init(17) }
    var document: Attribute<CorpusSpecimen, [String: [Int]]> { .init(18) }
    var optionalInt: Attribute<CorpusSpecimen, Int?> { .init(19) }
    var optionalString: Attribute<CorpusSpecimen, String?> { .init(20) }
    var optionalDecimal: Attribute<CorpusSpecimen, Decimal?> { .init(21) }
    var optionalJSON: Attribute<CorpusSpecimen, JSONValue?> { .init(22) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<CorpusSpecimen>(
    "Specimen",
    attributes: [
      .init("bool", \.bool), .init("int8", \.int8), .init("int16", \.int16),
      .init("int32", \.int32), .init("int64", \.int64, constraints: [.range((-1000)...)]),
      .init("uint8", \.uint8), .init("uint16", \.uint16), .init("uint32", \.uint32),
      .init("uint64", \.uint64), .init("float", \.float), .init("double", \.double),
      .init("date", \.date), .init("uuid", \.uuid), .init("decimal", \.decimal),
      .init("string", \.string, constraints: [.length(1...)]), .init("url", \.url),
      .init("data", \.data), .init("json", \.json), .init("document", \.document),
      .init("optionalInt", \.optionalInt), .init("optionalString", \.optionalString),
      .init("optionalDecimal", \.optionalDecimal), .init("optionalJSON", \.optionalJSON),
    ],
    unique: [[\.int32], [\.optionalString, \.uint8]],
    indexes: [
      [\.string],
      [\.bool, \.int64, \.uint64, \.double, \.date, \.uuid, \.decimal, \.url, \.data],
      [\.optionalInt],
    ])

  func encode(into writer: inout RecordWriter) {
    writer.write(bool)
    writer.write(int8)
    writer.write(int16)
    writer.write(int32)
    writer.write(int64)
    writer.write(uint8)
    writer.write(uint16)
    writer.write(uint32)
    writer.write(uint64)
    writer.write(float)
    writer.write(double)
    writer.write(date)
    writer.write(uuid)
    writer.write(decimal)
    writer.write(string)
    writer.write(url)
    writer.write(data)
    writer.write(json)
    writer.write(document)
    writer.write(optionalInt)
    writer.write(optionalString)
    writer.write(optionalDecimal)
    writer.write(optionalJSON)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    bool = try reader.read()
    int8 = try reader.read()
    int16 = try reader.read()
    int32 = try reader.read()
    int64 = try reader.read()
    uint8 = try reader.read()
    uint16 = try reader.read()
    uint32 = try reader.read()
    uint64 = try reader.read()
    float = try reader.read()
    double = try reader.read()
    date = try reader.read()
    uuid = try reader.read()
    decimal = try reader.read()
    string = try reader.read()
    url = try reader.read()
    data = try reader.read()
    json = try reader.read()
    document = try reader.read()
    optionalInt = try reader.read()
    optionalString = try reader.read()
    optionalDecimal = try reader.read()
    optionalJSON = try reader.read()
  }

  /// The specimens of the file, in the order of their ids from 1.
  static var all: [CorpusSpecimen] { (0..<6).map(CorpusSpecimen.init(number:)) }

  private init(number: Int) {
    let isOdd = number % 2 == 1
    id = RecordID(rawValue: UInt64(number + 1))
    bool = isOdd
    (int8, int16) = isOdd ? (.min, .max) : (.max, .min)
    (int32, int64) = (Int32(number) - 3, [-255, -1, 0, 1, 256, .max][number])
    (uint8, uint16) = (UInt8(number), isOdd ? .max : 0)
    (uint32, uint64) = (isOdd ? .max : 0, [0, 1, 255, 256, 1 << 63, .max][number])
    float = [0, -0.5, .infinity, 1.5, -.greatestFiniteMagnitude, 3][number]
    double = [0, -1.5, .infinity, 0.1, -.leastNonzeroMagnitude, 1e300][number]
    date = Date(timeIntervalSinceReferenceDate: Double(number - 2) * 86_400.5)
    uuid = UUID(uuid: (UInt8(number), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
    decimal = Decimal(string: ["0", "-1", "0.25", "10", "-123.456", "1e30"][number]) ?? 0
    string =
      [
        "plain", "A\u{30a}ngstro\u{308}m", "a\u{0}b", String(repeating: "long ", count: 120),
        String(repeating: "long ", count: 119) + "other", String(repeating: "overflow", count: 700),
      ][number]
    url = AllTypes.url("https://example.org/\(number)")
    data = Data([0, 0xff, UInt8(number)])
    json =
      [
        .null, .bool(true), .array([.integer(1), .double(0.5)]), .object(["a": .string("é")]),
        .unsigned(.max), .string(""),
      ][number]
    document = ["n": [number, -number], "": []]
    if isOdd {
      (optionalInt, optionalString) = (number, "text \(number)")
      (optionalDecimal, optionalJSON) = (decimal, .null)
    }
  }
}

/// An entity with ids of other records, which version 1 of the format stores as documents.
struct CorpusTrip: Equatable {
  var id = RecordID<CorpusTrip>()
  var title: String
  var leader: RecordID<PersonV2>
  var guest: RecordID<PersonV2>?
}

extension CorpusTrip: Entity {
  struct Attributes: Sendable {
    var id: Attribute<CorpusTrip, RecordID<CorpusTrip>> { .recordID }
    var title: Attribute<CorpusTrip, String> { .init(0) }
    var leader: Attribute<CorpusTrip, RecordID<PersonV2>> { .init(1) }
    var guest: Attribute<CorpusTrip, RecordID<PersonV2>?> { .init(2) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<CorpusTrip>(
    "Trip",
    attributes: [.init("title", \.title), .init("leader", \.leader), .init("guest", \.guest)],
    unique: [[\.title]])
  func encode(into writer: inout RecordWriter) {
    writer.write(title)
    writer.write(leader)
    writer.write(guest)
  }
  init(from reader: inout RecordReader) throws(StoreError) {
    title = try reader.read()
    leader = try reader.read()
    guest = try reader.read()
  }

  /// The trips of the file.
  ///
  /// One more trip was deleted.
  static var all: [CorpusTrip] {
    [
      CorpusTrip(id: .init(rawValue: 1), title: "north", leader: .init(rawValue: 1), guest: nil),
      CorpusTrip(
        id: .init(rawValue: 2), title: "south", leader: .init(rawValue: 300),
        guest: .init(rawValue: 2)),
      CorpusTrip(
        id: .init(rawValue: 3), title: "east", leader: .init(rawValue: (1 << 63) - 1),
        guest: .init(rawValue: 1)),
    ]
  }
}

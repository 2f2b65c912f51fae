import EntityStore
import Foundation

enum Stage: String, CaseIterable, Codable, Sendable, IndexableValue {
  case draft, released
  case yanked = "with\u{0}zero"
}

enum Grade: Int8, Sendable { case low = -128, middle = 0, high = 127 }

struct Place: Codable, Hashable, Sendable {
  var name: String
  var tags: [String: [Int]]
  var inner: [Place]
}

/// Every type that an attribute can have, required and optional.
struct AllTypes: Equatable {
  var id = RecordID<AllTypes>()
  var bool = false
  var int8 = Int8(0), int16 = Int16(0), int32 = Int32(0), int64 = Int64(0), int = 0
  var uint8 = UInt8(0), uint16 = UInt16(0), uint32 = UInt32(0), uint64 = UInt64(0), uint = UInt(0)
  var float = Float(0), double = 0.0
  var string = "", data = Data(), date = Date(timeIntervalSinceReferenceDate: 0)
  var uuid = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
  var url = AllTypes.url("https://example.org/"), decimal = Decimal(0)
  var stage = Stage.draft, grade = Grade.middle
  var list: [String] = [], table: [String: Double] = [:]
  var place = Place(name: "", tags: [:], inner: [])
  var json = JSONValue.null
  var film = RecordID<Film>(rawValue: 1)

  var optionalBool: Bool?, optionalInt16: Int16?, optionalUInt64: UInt64?, optionalFloat: Float?
  var optionalDouble: Double?, optionalString: String?, optionalData: Data?, optionalDate: Date?
  var optionalUUID: UUID?, optionalURL: URL?, optionalDecimal: Decimal?, optionalStage: Stage?
  var optionalGrade: Grade?, optionalList: [Int]?, optionalPlace: Place?, optionalJSON: JSONValue?
  var optionalFilm: RecordID<Film>?

  static func url(_ text: String) -> URL {
    URL(string: text) ?? URL(fileURLWithPath: "/not-a-url")
  }
}

extension AllTypes: Entity {
  struct Attributes: Sendable {
    var id: Attribute<AllTypes, RecordID<AllTypes>> { .recordID }
    var bool: Attribute<AllTypes, Bool> { .init(0) }
    var int8: Attribute<AllTypes, Int8> { .init(1) }
    var int16: Attribute<AllTypes, Int16> { .init(2) }
    var int32: Attribute<AllTypes, Int32> { .init(3) }
    var int64: Attribute<AllTypes, Int64> { .init(4) }
    var int: Attribute<AllTypes, Int> { .init(5) }
    var uint8: Attribute<AllTypes, UInt8> { .init(6) }
    var uint16: Attribute<AllTypes, UInt16> { .init(7) }
    var uint32: Attribute<AllTypes, UInt32> { .init(8) }
    var uint64: Attribute<AllTypes, UInt64> { .init(9) }
    var uint: Attribute<AllTypes, UInt> { .init(10) }
    var float: Attribute<AllTypes, Float> { .init(11) }
    var double: Attribute<AllTypes, Double> { .init(12) }
    var string: Attribute<AllTypes, String> { .init(13) }
    var data: Attribute<AllTypes, Data> { .init(14) }
    var date: Attribute<AllTypes, Date> { .init(15) }
    var uuid: Attribute<AllTypes, UUID> { .init(16) }
    var url: Attribute<AllTypes, URL> { .init(17) }
    var decimal: Attribute<AllTypes, Decimal> { .init(18) }
    var stage: Attribute<AllTypes, Stage> { .init(19) }
    var grade: Attribute<AllTypes, Grade> { .init(20) }
    var list: Attribute<AllTypes, [String]> { .init(21) }
    var table: Attribute<AllTypes, [String: Double]> { .init(22) }
    var place: Attribute<AllTypes, Place> { .init(23) }
    var json: Attribute<AllTypes, JSONValue> { .init(24) }
    var optionalBool: Attribute<AllTypes, Bool?> { .init(25) }
    var optionalInt16: Attribute<AllTypes, Int16?> { .init(26) }
    var optionalUInt64: Attribute<AllTypes, UInt64?> { .init(27) }
    var optionalFloat: Attribute<AllTypes, Float?> { .init(28) }
    var optionalDouble: Attribute<AllTypes, Double?> { .init(29) }
    var optionalString: Attribute<AllTypes, String?> { .init(30) }
    var optionalData: Attribute<AllTypes, Data?> { .init(31) }
    var optionalDate: Attribute<AllTypes, Date?> { .init(32) }
    var optionalUUID: Attribute<AllTypes, UUID?> { .init(33) }
    var optionalURL: Attribute<AllTypes, URL?> { .init(34) }
    var optionalDecimal: Attribute<AllTypes, Decimal?> { .init(35) }
    var optionalStage: Attribute<AllTypes, Stage?> { .init(36) }
    var optionalGrade: Attribute<AllTypes, Grade?> { .init(37) }
    var optionalList: Attribute<AllTypes, [Int]?> { .init(38) }
    var optionalPlace: Attribute<AllTypes, Place?> { .init(39) }
    var optionalJSON: Attribute<AllTypes, JSONValue?> { .init(40) }
    var film: Attribute<AllTypes, RecordID<Film>> { .init(41) }
    var optionalFilm: Attribute<AllTypes, RecordID<Film>?> { .init(42) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<AllTypes>(
    "AllTypes",
    attributes: [
      .init("bool", \.bool), .init("int8", \.int8), .init("int16", \.int16),
      .init("int32", \.int32), .init("int64", \.int64), .init("int", \.int),
      .init("uint8", \.uint8), .init("uint16", \.uint16), .init("uint32", \.uint32),
      .init("uint64", \.uint64), .init("uint", \.uint), .init("float", \.float),
      .init("double", \.double), .init("string", \.string), .init("data", \.data),
      .init("date", \.date), .init("uuid", \.uuid), .init("url", \.url),
      .init("decimal", \.decimal), .init("stage", \.stage), .init("grade", \.grade),
      .init("list", \.list), .init("table", \.table), .init("place", \.place),
      .init("json", \.json), .init("optionalBool", \.optionalBool),
      .init("optionalInt16", \.optionalInt16), .init("optionalUInt64", \.optionalUInt64),
      .init("optionalFloat", \.optionalFloat), .init("optionalDouble", \.optionalDouble),
      .init("optionalString", \.optionalString), .init("optionalData", \.optionalData),
      .init("optionalDate", \.optionalDate), .init("optionalUUID", \.optionalUUID),
      .init("optionalURL", \.optionalURL), .init("optionalDecimal", \.optionalDecimal),
      .init("optionalStage", \.optionalStage), .init("optionalGrade", \.optionalGrade),
      .init("optionalList", \.optionalList), .init("optionalPlace", \.optionalPlace),
      .init("optionalJSON", \.optionalJSON), .init("film", \.film),
      .init("optionalFilm", \.optionalFilm),
    ],
    indexes: [
      [\.bool], [\.int8], [\.int16], [\.int32], [\.int64], [\.int], [\.uint8], [\.uint16],
      [\.uint32], [\.uint64], [\.uint], [\.float], [\.double], [\.string], [\.data], [\.date],
      [\.uuid], [\.url], [\.decimal], [\.stage], [\.grade], [\.optionalString],
      [\.optionalDecimal], [\.optionalUUID], [\.optionalInt16, \.string], [\.film],
      [\.optionalFilm, \.film],
    ])

  func encode(into writer: inout RecordWriter) {
    writer.write(bool)
    writer.write(int8)
    writer.write(int16)
    writer.write(int32)
    writer.write(int64)
    writer.write(int)
    writer.write(uint8)
    writer.write(uint16)
    writer.write(uint32)
    writer.write(uint64)
    writer.write(uint)
    writer.write(float)
    writer.write(double)
    writer.write(string)
    writer.write(data)
    writer.write(date)
    writer.write(uuid)
    writer.write(url)
    writer.write(decimal)
    writer.write(stage)
    writer.write(grade)
    writer.write(list)
    writer.write(table)
    writer.write(place)
    writer.write(json)
    writer.write(optionalBool)
    writer.write(optionalInt16)
    writer.write(optionalUInt64)
    writer.write(optionalFloat)
    writer.write(optionalDouble)
    writer.write(optionalString)
    writer.write(optionalData)
    writer.write(optionalDate)
    writer.write(optionalUUID)
    writer.write(optionalURL)
    writer.write(optionalDecimal)
    writer.write(optionalStage)
    writer.write(optionalGrade)
    writer.write(optionalList)
    writer.write(optionalPlace)
    writer.write(optionalJSON)
    writer.write(film)
    writer.write(optionalFilm)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    bool = try reader.read()
    int8 = try reader.read()
    int16 = try reader.read()
    int32 = try reader.read()
    int64 = try reader.read()
    int = try reader.read()
    uint8 = try reader.read()
    uint16 = try reader.read()
    uint32 = try reader.read()
    uint64 = try reader.read()
    uint = try reader.read()
    float = try reader.read()
    double = try reader.read()
    string = try reader.read()
    data = try reader.read()
    date = try reader.read()
    uuid = try reader.read()
    url = try reader.read()
    decimal = try reader.read()
    stage = try reader.read()
    grade = try reader.read()
    list = try reader.read()
    table = try reader.read()
    place = try reader.read()
    json = try reader.read()
    optionalBool = try reader.read()
    optionalInt16 = try reader.read()
    optionalUInt64 = try reader.read()
    optionalFloat = try reader.read()
    optionalDouble = try reader.read()
    optionalString = try reader.read()
    optionalData = try reader.read()
    optionalDate = try reader.read()
    optionalUUID = try reader.read()
    optionalURL = try reader.read()
    optionalDecimal = try reader.read()
    optionalStage = try reader.read()
    optionalGrade = try reader.read()
    optionalList = try reader.read()
    optionalPlace = try reader.read()
    optionalJSON = try reader.read()
    film = try reader.read()
    optionalFilm = try reader.read()
  }
}

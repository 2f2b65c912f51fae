import EntityStore
import Foundation

enum Stage: String, Codable, Sendable, IndexableValue {
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
    let id = Attribute<AllTypes, RecordID<AllTypes>>.recordID
    let bool = Attribute<AllTypes, Bool>(0)
    let int8 = Attribute<AllTypes, Int8>(1)
    let int16 = Attribute<AllTypes, Int16>(2)
    let int32 = Attribute<AllTypes, Int32>(3)
    let int64 = Attribute<AllTypes, Int64>(4)
    let int = Attribute<AllTypes, Int>(5)
    let uint8 = Attribute<AllTypes, UInt8>(6)
    let uint16 = Attribute<AllTypes, UInt16>(7)
    let uint32 = Attribute<AllTypes, UInt32>(8)
    let uint64 = Attribute<AllTypes, UInt64>(9)
    let uint = Attribute<AllTypes, UInt>(10)
    let float = Attribute<AllTypes, Float>(11)
    let double = Attribute<AllTypes, Double>(12)
    let string = Attribute<AllTypes, String>(13)
    let data = Attribute<AllTypes, Data>(14)
    let date = Attribute<AllTypes, Date>(15)
    let uuid = Attribute<AllTypes, UUID>(16)
    let url = Attribute<AllTypes, URL>(17)
    let decimal = Attribute<AllTypes, Decimal>(18)
    let stage = Attribute<AllTypes, Stage>(19)
    let grade = Attribute<AllTypes, Grade>(20)
    let list = Attribute<AllTypes, [String]>(21)
    let table = Attribute<AllTypes, [String: Double]>(22)
    let place = Attribute<AllTypes, Place>(23)
    let json = Attribute<AllTypes, JSONValue>(24)
    let optionalBool = Attribute<AllTypes, Bool?>(25)
    let optionalInt16 = Attribute<AllTypes, Int16?>(26)
    let optionalUInt64 = Attribute<AllTypes, UInt64?>(27)
    let optionalFloat = Attribute<AllTypes, Float?>(28)
    let optionalDouble = Attribute<AllTypes, Double?>(29)
    let optionalString = Attribute<AllTypes, String?>(30)
    let optionalData = Attribute<AllTypes, Data?>(31)
    let optionalDate = Attribute<AllTypes, Date?>(32)
    let optionalUUID = Attribute<AllTypes, UUID?>(33)
    let optionalURL = Attribute<AllTypes, URL?>(34)
    let optionalDecimal = Attribute<AllTypes, Decimal?>(35)
    let optionalStage = Attribute<AllTypes, Stage?>(36)
    let optionalGrade = Attribute<AllTypes, Grade?>(37)
    let optionalList = Attribute<AllTypes, [Int]?>(38)
    let optionalPlace = Attribute<AllTypes, Place?>(39)
    let optionalJSON = Attribute<AllTypes, JSONValue?>(40)
    let film = Attribute<AllTypes, RecordID<Film>>(41)
    let optionalFilm = Attribute<AllTypes, RecordID<Film>?>(42)
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

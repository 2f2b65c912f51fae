// Not @testable: views have attributes under names that are the library's own inside, as `slot`.
import EntityStore
import Foundation

extension AllTypes {
  struct AttributePlaces: Sendable {
    let bool = AttributePlace(\AllTypes.bool), int8 = AttributePlace(\AllTypes.int8)
    let int16 = AttributePlace(\AllTypes.int16), int32 = AttributePlace(\AllTypes.int32)
    let int64 = AttributePlace(\AllTypes.int64), int = AttributePlace(\AllTypes.int)
    let uint8 = AttributePlace(\AllTypes.uint8), uint16 = AttributePlace(\AllTypes.uint16)
    let uint32 = AttributePlace(\AllTypes.uint32), uint64 = AttributePlace(\AllTypes.uint64)
    let uint = AttributePlace(\AllTypes.uint), float = AttributePlace(\AllTypes.float)
    let double = AttributePlace(\AllTypes.double), string = AttributePlace(\AllTypes.string)
    let data = AttributePlace(\AllTypes.data), date = AttributePlace(\AllTypes.date)
    let uuid = AttributePlace(\AllTypes.uuid), url = AttributePlace(\AllTypes.url)
    let decimal = AttributePlace(\AllTypes.decimal), stage = AttributePlace(\AllTypes.stage)
    let grade = AttributePlace(\AllTypes.grade), list = AttributePlace(\AllTypes.list)
    let table = AttributePlace(\AllTypes.table), place = AttributePlace(\AllTypes.place)
    let json = AttributePlace(\AllTypes.json)
    let optionalBool = AttributePlace(\AllTypes.optionalBool)
    let optionalInt16 = AttributePlace(\AllTypes.optionalInt16)
    let optionalUInt64 = AttributePlace(\AllTypes.optionalUInt64)
    let optionalFloat = AttributePlace(\AllTypes.optionalFloat)
    let optionalDouble = AttributePlace(\AllTypes.optionalDouble)
    let optionalString = AttributePlace(\AllTypes.optionalString)
    let optionalData = AttributePlace(\AllTypes.optionalData)
    let optionalDate = AttributePlace(\AllTypes.optionalDate)
    let optionalUUID = AttributePlace(\AllTypes.optionalUUID)
    let optionalURL = AttributePlace(\AllTypes.optionalURL)
    let optionalDecimal = AttributePlace(\AllTypes.optionalDecimal)
    let optionalStage = AttributePlace(\AllTypes.optionalStage)
    let optionalGrade = AttributePlace(\AllTypes.optionalGrade)
    let optionalList = AttributePlace(\AllTypes.optionalList)
    let optionalPlace = AttributePlace(\AllTypes.optionalPlace)
    let optionalJSON = AttributePlace(\AllTypes.optionalJSON)
    let film = AttributePlace(\AllTypes.film)
    let optionalFilm = AttributePlace(\AllTypes.optionalFilm)
  }

  static let attributePlaces = AttributePlaces()

  /// The value that a view shows, attribute by attribute.
  init(viewed view: borrowing EntityView<AllTypes>) throws {
    id = view.id
    (bool, int8, int16, int32) = (view.bool, view.int8, view.int16, view.int32)
    (int64, int, uint8, uint16) = (view.int64, view.int, view.uint8, view.uint16)
    (uint32, uint64, uint) = (view.uint32, view.uint64, view.uint)
    (float, double, date, uuid) = (view.float, view.double, view.date, view.uuid)
    (string, data) = (view.string.string, view.data.data)
    url = try view.url
    decimal = try view.decimal
    stage = try view.stage
    grade = try view.grade
    list = try view.list
    table = try view.table
    place = try view.place
    json = try view.json
    (optionalBool, optionalInt16) = (view.optionalBool, view.optionalInt16)
    (optionalUInt64, optionalFloat) = (view.optionalUInt64, view.optionalFloat)
    (optionalDouble, optionalDate) = (view.optionalDouble, view.optionalDate)
    optionalUUID = view.optionalUUID
    switch view.optionalString {
    case .some(let text): optionalString = text.string
    case .none: break
    }
    switch view.optionalData {
    case .some(let bytes): optionalData = bytes.data
    case .none: break
    }
    optionalURL = try view.optionalURL
    optionalDecimal = try view.optionalDecimal
    optionalStage = try view.optionalStage
    optionalGrade = try view.optionalGrade
    optionalList = try view.optionalList
    optionalPlace = try view.optionalPlace
    optionalJSON = try view.optionalJSON
    (film, optionalFilm) = (view.film, view.optionalFilm)
  }
}

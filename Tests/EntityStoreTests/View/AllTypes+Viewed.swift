// The import is not @testable, because views have attributes with names such as `slot` that are
// also internal names of the library.
import EntityStore
import Foundation

extension AllTypes {

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

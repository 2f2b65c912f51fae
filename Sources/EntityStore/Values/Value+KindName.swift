internal import LodestoreFormat

extension Value {
  /// The kind of the value in words, for error messages.
  var kindName: String {
    switch self {
    case .null: "null"
    case .bool: "a Boolean"
    case .integer, .unsigned: "an integer"
    case .double: "a number"
    case .decimal: "a decimal"
    case .date: "a date"
    case .uuid: "a UUID"
    case .string: "a string"
    case .data: "data"
    case .document: "JSON"
    }
  }
}

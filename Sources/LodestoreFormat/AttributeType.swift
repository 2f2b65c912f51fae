/// The type of an attribute as stored.
///
/// See Format.md, "Attribute types".
@_documentation(visibility: internal)
public enum AttributeType: UInt8, Sendable, CaseIterable {
  case bool
  case int8, int16, int32, int64
  case uint8, uint16, uint32, uint64
  case float, double, date, uuid, decimal
  case string, url, data, json, document
  /// The id of a record of this entity or of another one.
  case recordID

  /// The type's name in the catalogue.
  package var name: String {
    switch self {
    case .bool: "bool"
    case .int8: "int8"
    case .int16: "int16"
    case .int32: "int32"
    case .int64: "int64"
    case .uint8: "uint8"
    case .uint16: "uint16"
    case .uint32: "uint32"
    case .uint64: "uint64"
    case .float: "float"
    case .double: "double"
    case .date: "date"
    case .uuid: "uuid"
    case .decimal: "decimal"
    case .string: "string"
    case .url: "url"
    case .data: "data"
    case .json: "json"
    case .document: "document"
    case .recordID: "id"
    }
  }

  package init?(name: String) {
    guard let type = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = type
  }

  /// The number of bytes of a value in a record; 0 for a variable attribute.
  @inlinable @_documentation(visibility: internal)
  public var slotSize: Int {
    switch self {
    case .bool, .int8, .uint8: 1
    case .int16, .uint16: 2
    case .int32, .uint32, .float: 4
    case .int64, .uint64, .double, .date, .recordID: 8
    case .uuid: 16
    case .decimal: 19
    case .string, .url, .data, .json, .document: 0
    }
  }

  /// Whether values differ in length.
  ///
  /// In a record, their bytes come after the values of all fixed-width attributes.
  @inlinable @_documentation(visibility: internal)
  public var isVariable: Bool { slotSize == 0 }

  /// Whether values are documents.
  package var isDocument: Bool { self == .json || self == .document }

  /// Whether values can be encoded as index keys.
  package var isIndexable: Bool { self != .json && self != .document }
}

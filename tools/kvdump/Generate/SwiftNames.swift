import LodestoreFormat

/// Names of a store as names of Swift declarations.
enum SwiftNames {
  /// Words that need backticks as names of properties.
  private static let keywords: Set<String> = [
    "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer",
    "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for",
    "func", "guard", "if", "import", "in", "inout", "internal", "is", "let", "nil", "operator",
    "precedencegroup", "private", "protocol", "public", "repeat", "rethrows", "return", "static",
    "struct", "subscript", "super", "switch", "throw", "throws", "true", "try", "typealias", "var",
    "where", "while",
  ]

  /// Names that a property of an entity cannot have, even with backticks.
  static let refused: Set<String> = [
    "_", "Any", "Protocol", "Self", "Type", "attributes", "id", "init", "schema", "self",
  ]

  /// Types that generated source or the macros name.
  private static let types: Set<String> = [
    "Any", "Array", "Attribute", "AttributeConstraint", "Attributes", "Bool", "Codable",
    "CodingKey", "CodingKeys", "Condition", "Data", "Date", "DatePart", "DateUnit", "DateZone",
    "Decimal", "Decodable", "Decoder", "Derivation", "Derived", "Dictionary", "Double",
    "ElementIndex", "Encodable", "Encoder", "Entity", "EntityKey", "EntityLimit", "EntitySchema",
    "EntityStore", "Equatable", "Error", "Float", "Foundation", "Hashable", "HistoryPolicy", "ID",
    "Int", "Int16", "Int32", "Int64", "Int8", "JSONValue", "Lodestore", "Never", "Optional",
    "Protocol", "RecordID", "RecordReader", "RecordRule", "RecordWriter", "Relationship", "Result",
    "Self", "Sendable", "Set", "Store", "StoreError", "String", "Swift", "ToMany", "Transient",
    "Type", "UInt", "UInt16", "UInt32", "UInt64", "UInt8", "URL", "UUID", "Void",
  ]

  /// The name of a type for `name`, unlike `taken`.
  static func type(_ name: String, taken: Set<String>) -> String {
    let capital = name.prefix(1).uppercased() + name.dropFirst()
    let base = types.contains(capital) ? capital + "Entity" : capital == "_" ? "Entity_" : capital
    return unlike(taken, base)
  }

  /// The name of a property for `name`, without backticks.
  static func property(_ name: String, taken: Set<String>) -> String {
    guard refused.contains(name) else { return name }
    return unlike(taken, name == "id" ? "identifier" : name == "_" ? "value_" : name + "_")
  }

  /// Whether a name of a relationship can be a static property.
  static func isStatic(_ name: String) -> Bool {
    !refused.contains(name)
      && !["elementIndexes", "history", "placeIndexes", "rules", "searchIndexes", "vectorIndexes"]
        .contains(name)
  }

  static func escaped(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

  /// The name as the label of an argument, which most keywords can be.
  static func label(_ name: String) -> String {
    ["inout", "let", "var"].contains(name) ? "`\(name)`" : name
  }

  private static func unlike(_ taken: Set<String>, _ name: String) -> String {
    guard taken.contains(name) else { return name }
    return (2...).lazy.map { "\(name)\($0)" }.first { !taken.contains($0) } ?? name
  }
}

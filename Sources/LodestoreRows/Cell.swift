package import LodestoreFormat

/// One value of a row, as the renderers see it.
///
/// The first group of cases holds values of records. The second holds facts about a store: grouped
/// or scaled for people, plain numbers for programs.
package enum Cell: Equatable, Sendable {
  /// The row does not have the column; JSON omits the key.
  case absent
  case null
  case bool(Bool)
  case integer(Int64)
  case unsigned(UInt64)
  case double(Double)
  /// A number that no case above can represent exactly, as a JSON number literal.
  case number(String)
  case text(String)
  /// A date as ISO 8601 text. A separate case, so that a date is never taken for a text "null".
  case date(String)
  /// Bytes: hexadecimal for people, Base64 for programs.
  case bytes([UInt8])
  /// A nested value as compact JSON.
  case json(String)

  /// A count of things: "11,028" for people.
  case count(Int)
  /// A number of bytes: "9.1 MiB" for people.
  case byteCount(Int)
  /// A share between 0 and 1: "71 %" for people.
  case share(Double)

  /// Whether a column of such cells is right-aligned.
  package var isNumeric: Bool {
    switch self {
    case .integer, .unsigned, .double, .number, .count, .byteCount, .share: true
    case .absent, .null, .bool, .text, .date, .bytes, .json: false
    }
  }

  package var isEmpty: Bool { self == .absent || self == .null }

  package static func object(_ members: [(String, Cell)]) -> Cell {
    .json(CellJSON.object(members))
  }
  package static func array(_ elements: [Cell]) -> Cell { .json(CellJSON.array(elements)) }
}

/// A column of the output.
package struct Column: Equatable, Sendable, ExpressibleByStringLiteral {
  package enum Alignment: Sendable { case leading, trailing }

  /// The JSON key and the CSV heading, which are part of the contract.
  package let name: String
  /// The heading for people.
  package let title: String
  /// The alignment; `nil` lets the cells decide: numbers to the right, everything else to the left.
  package let alignment: Alignment?
  /// The type of the values, for formats whose columns have types; `nil` if it is unknown.
  package var type: AttributeType?
  /// Whether a value may be null.
  package var isOptional = true

  package init(_ name: String, title: String? = nil, alignment: Alignment? = nil) {
    self.name = name
    self.title = title ?? name
    self.alignment = alignment
  }

  package init(stringLiteral name: String) { self.init(name) }

  /// A column whose title is its name in capitals.
  package static func capital(_ name: String) -> Column {
    Column(name, title: name.uppercased())
  }
}

/// One value of a row, as the renderers see it.
///
/// The first group is what records hold. The second is what kvdump says about a store: grouped or
/// scaled for people, a plain number for programs.
package enum Cell: Equatable, Sendable {
  /// The row does not have the column at all; JSON leaves the key out.
  case absent
  case null
  case bool(Bool)
  case integer(Int64)
  case unsigned(UInt64)
  case double(Double)
  /// A number that fits none of the above without loss, as a JSON number literal.
  case number(String)
  case text(String)
  /// A date as ISO 8601 text; apart from `text` so that it is never taken for a text "null".
  case date(String)
  /// Hexadecimal for people, Base64 for programs.
  case bytes([UInt8])
  /// A nested value as compact JSON.
  case json(String)

  /// A count of things: "11,028" for people.
  case count(Int)
  /// A number of bytes: "9.1 MiB" for people.
  case byteCount(Int)
  /// A share between 0 and 1: "71 %" for people.
  case share(Double)

  /// Whether a column of such cells is aligned at its right edge.
  var isNumeric: Bool {
    switch self {
    case .integer, .unsigned, .double, .number, .count, .byteCount, .share: true
    case .absent, .null, .bool, .text, .date, .bytes, .json: false
    }
  }

  var isEmpty: Bool { self == .absent || self == .null }

  static func object(_ members: [(String, Cell)]) -> Cell { .json(JSONText.object(members)) }
  static func array(_ elements: [Cell]) -> Cell { .json(JSONText.array(elements)) }
}

/// A column of the output.
package struct Column: Equatable, Sendable, ExpressibleByStringLiteral {
  package enum Alignment: Sendable { case leading, trailing }

  /// The JSON key and the CSV heading: part of the contract.
  let name: String
  /// The heading that people see.
  let title: String
  /// Nil lets the cells decide: numbers at the right edge, everything else at the left.
  let alignment: Alignment?

  package init(_ name: String, title: String? = nil, alignment: Alignment? = nil) {
    self.name = name
    self.title = title ?? name
    self.alignment = alignment
  }

  package init(stringLiteral name: String) { self.init(name) }

  /// A column whose title is its name in capitals.
  static func capital(_ name: String) -> Column { Column(name, title: name.uppercased()) }
}

internal import EntityStore
internal import LodestoreEssentials
package import LodestoreFormat
package import LodestoreJSON

/// Parts of predicate format strings.
package enum ConditionText {
  /// The comparison of a path with a value; `nil` for a value that format strings cannot contain.
  package static func equality(_ path: String, _ value: Value) -> String? {
    literal(value).map { "\(operand(path)) == \($0)" }
  }

  /// The path as an operand; a name that is a word of the grammar gets its mark.
  package static func operand(_ path: String) -> String {
    let isPlain = (try? QueryRequest(format: "\(path) == NULL")) != nil
    return isPlain ? path : "#\(path)"
  }

  /// Adds a comparison to a condition.
  package static func both(_ condition: String?, _ comparison: String) -> String {
    guard let condition else { return comparison }
    let isAlternative = condition.uppercased().contains("OR") || condition.contains("||")
    return isAlternative ? "(\(condition)) AND \(comparison)" : "\(condition) AND \(comparison)"
  }

  /// The value of a JSON text, number, Boolean or null; `nil` for arrays and objects.
  package static func value(_ node: JSONNode) -> Value? {
    switch node.kind {
    case .null: .null
    case .bool: .bool(node.bool == true)
    case .string: node.string.map { .string($0) }
    case .integer, .double:
      node.numberText.flatMap { text in
        Int64(text).map { .integer($0) } ?? Double(text).map { .double($0) }
      }
    case .array, .object: nil
    }
  }

  package static func literal(_ value: Value) -> String? {
    switch value {
    case .null: "NULL"
    case .bool(let flag): flag ? "TRUE" : "FALSE"
    case .integer(let number): "\(number)"
    case .unsigned(let number): "\(number)"
    case .double(let number):
      number.isFinite ? "\(number)" : cast(KeyText.text(of: value), "double")
    case .date: cast(KeyText.text(of: value), "date")
    case .uuid(let uuid): cast(uuid.text, "uuid")
    case .decimal(let decimal): cast(decimal.isNaN ? "NaN" : decimal.text, "decimal")
    case .string(let text): quoted(text)
    case .data, .document: nil
    }
  }

  private static func cast(_ text: String, _ type: String) -> String {
    "CAST(\(quoted(text)), \"\(type)\")"
  }

  /// The text as a literal, in which invisible characters are escaped.
  package static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": quoted += "\\\(scalar)"
      case "\n": quoted += "\\n"
      case "\r": quoted += "\\r"
      case "\t": quoted += "\\t"
      case _ where scalar.value < 0x10000 && VisibleText.isInvisible(scalar):
        let digits = String(scalar.value, radix: 16)
        quoted += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}

import LodestoreBytes
import LodestoreFormat

/// Values as Swift expressions that the macros accept as equal in every process.
enum SwiftLiteral {
  /// A text as a string literal; characters that are not visible are escaped.
  static func text(_ text: String) -> String {
    var literal = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": literal += "\\\(scalar)"
      case "\n": literal += "\\n"
      case "\r": literal += "\\r"
      case "\t": literal += "\\t"
      case _ where UnsafeScalar.matches(scalar) || scalar.value > 0x7E && !isVisible(scalar):
        literal += "\\u{\(String(scalar.value, radix: 16))}"
      default: literal.unicodeScalars.append(scalar)
      }
    }
    return literal + "\""
  }

  private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate,
      .unassigned, .spaceSeparator, .nonspacingMark, .enclosingMark:
      false
    default: true
    }
  }

  /// A value of an attribute as an expression of its Swift type; `nil` if no expression has it.
  static func value(_ value: Value) -> String? {
    switch value {
    case .null: "nil"
    case .bool(let flag): flag ? "true" : "false"
    case .integer(let number): "\(number)"
    case .unsigned(let number): "\(number)"
    case .double(let number): double(number)
    case .date(let seconds): "Date(timeIntervalSinceReferenceDate: \(double(seconds)))"
    case .string(let text): self.text(text)
    case .data(let bytes): "Data([\(bytes.map { "\($0)" }.joined(separator: ", "))])"
    case .uuid, .decimal, .document: nil
    }
  }

  /// A number as a literal, or a static member if it has no literal.
  static func double(_ number: Double) -> String {
    if number.isNaN { return ".nan" }
    if number.isInfinite { return number < 0 ? "-(.infinity)" : ".infinity" }
    return "\(number)"
  }

  /// The value of a JSON attribute, as an expression of `JSONValue`.
  static func json(_ document: Document) -> String? {
    switch document {
    case .null: ".null"
    case .bool(let flag): flag ? "true" : "false"
    case .integer(let number): "\(number)"
    case .unsigned(let number): ".unsigned(\(number))"
    case .double(let number): number.isFinite ? "\(number)" : nil
    case .string(let text): self.text(text)
    case .array(let elements): list(elements, json)
    case .object(let members): dictionary(members, json)
    case .data, .date, .uuid, .decimal: nil
    }
  }

  static func list<Element>(_ elements: [Element], _ text: (Element) -> String?) -> String? {
    let texts = elements.compactMap(text)
    return texts.count == elements.count ? "[\(texts.joined(separator: ", "))]" : nil
  }

  static func dictionary(_ members: [String: Document], _ text: (Document) -> String?) -> String? {
    if members.isEmpty { return "[:]" }
    let sorted = members.sorted { $0.key < $1.key }
    return list(sorted) { key, value in text(value).map { "\(self.text(key)): \($0)" } }
  }
}

internal import LodestoreEssentials
internal import LodestoreFormat

extension ConditionPrinter {
  static func append(_ value: Value, to output: inout String) {
    switch value {
    case .null: output += "NULL"
    case .bool(let flag): output += flag ? "TRUE" : "FALSE"
    case .integer(let number): output += String(number)
    case .unsigned(let number): output += String(number)
    case .double(let number): append(number, to: &output)
    case .date(let seconds): append(date: seconds, to: &output)
    case .uuid(let uuid): output += "CAST(\"\(uuid.text)\", \"uuid\")"
    case .decimal(let decimal):
      output += "CAST(\"\(decimal.isNaN ? "NaN" : decimal.text)\", \"decimal\")"
    case .string(let text): output += quoted(text)
    case .data(let bytes): output += "CAST(\"\(Data(bytes).base64EncodedString())\", \"data\")"
    case .document:
      // JSON is written in single quotes, since it contains many double quotes. A document that is
      // not JSON cannot be parsed again.
      let text = ConstantCast.jsonText(value)
      output += text.map { "CAST(\(quoted($0, "'")), \"json\")" } ?? "<document>"
    }
  }

  private static func append(_ number: Double, to output: inout String) {
    if number.isFinite {
      output += number.description
    } else {
      let text = number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity"
      output += "CAST(\"\(text)\", \"double\")"
    }
  }

  /// Appends a date as ISO 8601 text, or as seconds if the text does not parse to the same date.
  private static func append(date seconds: Double, to output: inout String) {
    let text = ISO8601Text.text(Date(timeIntervalSinceReferenceDate: seconds))
    output += "CAST("
    if let text, ISO8601Text.date(text)?.timeIntervalSinceReferenceDate == seconds,
      seconds.sign == .plus || seconds != 0
    {
      output += "\"\(text)\""
    } else {
      append(seconds, to: &output)
    }
    output += ", \"date\")"
  }

  /// Returns a string literal in which invisible characters are escaped.
  static func quoted(_ text: String, _ quote: Unicode.Scalar = "\"") -> String {
    var output = String(quote)
    for scalar in text.unicodeScalars {
      if scalar == "\\" || scalar == quote { output += "\\" }
      appendVisible(scalar, to: &output)
    }
    output.unicodeScalars.append(quote)
    return output
  }

  /// Returns a piece of a format string on one line, for messages.
  static func visible(_ text: String) -> String {
    var output = ""
    for scalar in text.unicodeScalars { appendVisible(scalar, to: &output) }
    return output
  }

  private static func appendVisible(_ scalar: Unicode.Scalar, to output: inout String) {
    switch scalar {
    case "\n": output += "\\n"
    case "\t": output += "\\t"
    case "\r": output += "\\r"
    case "\0"..<" ", "\u{7F}": output += "\\x" + hex(scalar.value, digits: 2)
    case _ where isInvisible(scalar): output += "\\u" + hex(scalar.value, digits: 4)
    default: output.unicodeScalars.append(scalar)
    }
  }

  /// Returns whether the scalar is a control, a line separator or a mark of text direction, up to
  /// U+FFFF.
  private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    guard (0x80...0xFFFF).contains(scalar.value) else { return false }
    return switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }

  private static func hex(_ value: UInt32, digits: Int) -> String {
    let text = String(value, radix: 16)
    return String(repeating: "0", count: max(digits - text.count, 0)) + text
  }
}

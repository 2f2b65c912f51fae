/// CSV by RFC 4180: rows that end in CR LF, and quotes only where they are needed.
///
/// Null and absent values are written as `nullValue`. An import reads this text and an empty field
/// as null. A value that is equal to this text or empty is therefore quoted.
package struct CSVText: Sendable {
  private let nullValue: String
  /// The change of each text, for output where safety matters more than exactness.
  private let escape: (@Sendable (String) -> String)?

  package init(nullValue: String = "", escape: (@Sendable (String) -> String)? = nil) {
    self.nullValue = nullValue
    self.escape = escape
  }

  /// The line of column names.
  package func heading(_ names: [String]) -> String {
    // An import finds an attribute by its column's name, so a file has the exact name.
    let fields = names.map { exact in
      let name = escape?(exact) ?? exact
      // Readers would take a byte order mark at the beginning of the heading for the mark of the
      // file.
      return Self.field(name, isQuoted: name.isEmpty || name.unicodeScalars.first == "\u{FEFF}")
    }
    return fields.joined(separator: ",") + "\r\n"
  }

  /// The line of one row.
  package func row(_ cells: some Sequence<Cell>) -> String {
    var line = ""
    for (index, cell) in cells.enumerated() {
      if index > 0 { line += "," }
      if let text = PlainText.text(of: cell) {
        line += Self.field(escape?(text) ?? text, isQuoted: text.isEmpty || text == nullValue)
      } else {
        line += Self.field(nullValue, isQuoted: false)
      }
    }
    return line + "\r\n"
  }

  private static func field(_ text: String, isQuoted: Bool) -> String {
    // A space at either end is valid without quotes, but many readers trim it.
    let needsQuotes =
      isQuoted || text.utf8.first == 0x20 || text.utf8.last == 0x20
      || text.utf8.contains { $0 == 0x22 || $0 == 0x2C || $0 == 0x0A || $0 == 0x0D }
    guard needsQuotes else { return text }
    var quoted = "\""
    for scalar in text.unicodeScalars {
      if scalar == "\"" { quoted += "\"" }
      quoted.unicodeScalars.append(scalar)
    }
    return quoted + "\""
  }
}

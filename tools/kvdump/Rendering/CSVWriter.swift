/// CSV by RFC 4180: a header row, rows that end in CR LF, quotes only where they are needed.
///
/// Null and absent values are written as `nullValue`. An import reads this text and an empty field
/// as null. A value that is equal to this text or empty is therefore quoted.
final class CSVWriter: RowWriter {
  private let columns: [Column]
  private let output: TextOutput
  private let nullValue: String
  private let escapesControls: Bool
  private var hasHeading = false

  /// Creates a writer.
  ///
  /// `escapesControls` is for output to a terminal, where safety matters more than exactness.
  init(_ columns: [Column], to output: TextOutput, nullValue: String, escapesControls: Bool) {
    self.columns = columns
    self.output = output
    self.nullValue = nullValue
    self.escapesControls = escapesControls
  }

  func write(_ row: [Cell]) throws {
    try writeHeading()
    var line = ""
    for (index, cell) in row.enumerated() {
      if index > 0 { line += "," }
      if let text = PlainText.text(of: cell) {
        let safe = escapesControls ? DisplayText.escaped(text) : text
        line += Self.field(safe, isQuoted: text.isEmpty || text == nullValue)
      } else {
        line += Self.field(nullValue, isQuoted: false)
      }
    }
    try output.write(line + "\r\n")
  }

  func finish() throws { try writeHeading() }

  private func writeHeading() throws {
    guard !hasHeading else { return }
    hasHeading = true
    // An import finds an attribute by its column's name, so a file has the exact name.
    let names = columns.map { column in
      let name = escapesControls ? DisplayText.escaped(column.name) : column.name
      // Readers would take a byte order mark at the beginning of the heading for the mark of the
      // file.
      return Self.field(name, isQuoted: name.isEmpty || name.unicodeScalars.first == "\u{FEFF}")
    }
    try output.write(names.joined(separator: ",") + "\r\n")
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

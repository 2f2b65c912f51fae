/// A table in GitHub's Markdown, without padding, so that rows can be written at once.
final class MarkdownWriter: RowWriter {
  private let columns: [Column]
  private let output: TextOutput
  private var hasHeading = false

  init(_ columns: [Column], to output: TextOutput) {
    self.columns = columns
    self.output = output
  }

  func write(_ row: [Cell]) throws {
    // The first row decides which columns are numbers, because later rows cannot change a written
    // line.
    try writeHeading(like: row)
    let fields = row.map { cell in
      switch cell {
      case .absent: ""
      case .null: "*null*"
      case .count, .byteCount, .share: Self.escaped(DisplayCell(cell).content.text)
      default: Self.escaped(PlainText.text(of: cell) ?? "")
      }
    }
    try output.write("| " + fields.joined(separator: " | ") + " |\n")
  }

  func finish() throws { try writeHeading(like: []) }

  private func writeHeading(like row: [Cell]) throws {
    guard !hasHeading else { return }
    hasHeading = true
    let titles = columns.map { Self.escaped($0.title) }
    let rules = columns.enumerated().map { index, column in
      let isNumeric = index < row.count && row[index].isNumeric
      return (column.alignment ?? (isNumeric ? .trailing : .leading)) == .trailing ? "---:" : "---"
    }
    try output.write("| " + titles.joined(separator: " | ") + " |\n")
    try output.write("| " + rules.joined(separator: " | ") + " |\n")
  }

  /// Escapes text so that Markdown shows it unchanged, on one line.
  private static func escaped(_ text: String) -> String {
    var result = ""
    var rest = text[...]
    while let character = rest.popFirst() {
      switch character {
      case "\n", "\r\n": result += "<br>"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "&": result += "&amp;"
      case "|", "\\", "`", "*", "_", "[", "]", "~":
        result += "\\"
        result.append(character)
      case _ where character.isASCII && character >= " " && character < "\u{7F}":
        result.append(character)
      default: result += DisplayText.escaped(String(character))
      }
    }
    return result
  }
}

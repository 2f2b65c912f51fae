/// Writes each field on its own line, with an empty line between rows, for rows too wide for the
/// screen.
final class LineWriter: RowWriter {
  private let titles: [DisplayText]
  private let titleWidth: Int
  private let output: TextOutput
  private let width: Int?
  private let style: Style
  private var hasRows = false

  /// Creates a writer.
  ///
  /// Values are cut at `width`; `nil` shows them whole.
  init(_ columns: [Column], to output: TextOutput, width: Int?, style: Style) {
    titles = columns.map { DisplayText($0.title, limit: 64) }
    titleWidth = titles.map(\.width).max() ?? 0
    self.output = output
    self.width = width
    self.style = style
  }

  func write(_ row: [Cell]) throws { try write(row.map { DisplayCell($0, limit: valueWidth) }) }

  /// Writes cells, which may already be cut, but not below the width of the screen.
  func write(_ row: [DisplayCell]) throws {
    if hasRows { try output.write("\n") }
    hasRows = true
    for (index, cell) in row.enumerated() where !cell.isAbsent {
      let title = titles[index].padded(to: titleWidth, alignment: .leading)
      let value = DisplayText(cell.content.text, limit: valueWidth).text
      try output.write(
        style.strong(title) + "  " + (cell.isFaint ? style.faint(value) : value) + "\n")
    }
  }

  func finish() {}

  private var valueWidth: Int? { width.map { max($0 - titleWidth - 2, 1) } }
}

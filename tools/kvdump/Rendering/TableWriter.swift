/// A table for people.
///
/// The first rows determine the widths, and later rows are cut to them.
///
/// No row is ever wrapped. If the columns do not fit the screen at all, each field is written on
/// its own line.
final class TableWriter: RowWriter {
  private static let sampleRows = 100
  private static let sampleColumns = 100_000

  private let columns: [Column]
  private let output: TextOutput
  private let width: Int?
  private let style: Style
  private var state = State.sampling

  private enum State {
    case sampling
    case table(TableLayout)
    case lines(LineWriter)
  }

  /// The sampled rows, already cut to the screen, so that a hundred long values are not held in
  /// memory.
  private var sample: [[DisplayCell]] = []
  private var sampledColumns = 0

  /// Creates a writer.
  ///
  /// `width` is the width of the screen; `nil` cuts nothing.
  init(_ columns: [Column], to output: TextOutput, width: Int?, style: Style) {
    self.columns = columns
    self.output = output
    self.width = width
    self.style = style
  }

  func write(_ row: [Cell]) throws {
    switch state {
    case .table(let layout):
      let cells = row.enumerated().map { DisplayCell($1, limit: limit(at: $0, in: layout)) }
      try writeRow(cells, layout)
    case .lines(let writer): try writer.write(row)
    case .sampling:
      let shown = row.map { DisplayCell($0, limit: width) }
      sample.append(shown)
      sampledColumns += shown.reduce(0) { $0 + $1.content.width }
      if sample.count >= Self.sampleRows || sampledColumns >= Self.sampleColumns { try endSample() }
    }
  }

  func finish() throws {
    if case .sampling = state { try endSample() }
  }

  private func limit(at index: Int, in layout: TableLayout) -> Int? {
    layout.cuts ? layout.widths[index] : nil
  }

  private func endSample() throws {
    defer { sample = [] }
    guard let layout = TableLayout(columns: columns, sample: sample, width: width) else {
      let writer = LineWriter(columns, to: output, width: width, style: style)
      state = .lines(writer)
      for row in sample { try writer.write(row) }
      return
    }
    state = .table(layout)
    try writeHeading(layout)
    for row in sample { try writeRow(row, layout) }
  }

  private func writeHeading(_ layout: TableLayout) throws {
    let titles = columns.enumerated().map { index, column in
      let title = DisplayText(column.title, limit: limit(at: index, in: layout))
      return style.strong(padded(title, at: index, layout))
    }
    try output.write(titles.joined(separator: separator) + "\n")
  }

  private func writeRow(_ cells: [DisplayCell], _ layout: TableLayout) throws {
    var line = ""
    for (index, cell) in cells.enumerated() {
      if index > 0 { line += separator }
      let isCut = layout.cuts && cell.content.width > layout.widths[index]
      let content =
        isCut ? DisplayText(cell.content.text, limit: layout.widths[index]) : cell.content
      let text = padded(content, at: index, layout)
      line += cell.isFaint ? style.faint(text) : text
    }
    // Padding of empty cells at the end of a line is useless.
    while line.utf8.last == 0x20 { line.removeLast() }
    try output.write(line + "\n")
  }

  /// The padded text.
  ///
  /// The last column is not padded on its right.
  private func padded(_ text: DisplayText, at index: Int, _ layout: TableLayout) -> String {
    let alignment = layout.alignments[index]
    if index == columns.count - 1, alignment == .leading { return text.text }
    return text.padded(to: layout.widths[index], alignment: alignment)
  }

  private var separator: String { String(repeating: " ", count: TableLayout.gap) }
}

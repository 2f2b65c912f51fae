/// Writes a heading and rows as CSV.
final class CSVWriter: RowWriter {
  private let columns: [Column]
  private let output: TextOutput
  private let text: CSVText
  private var hasHeading = false

  /// Creates a writer.
  ///
  /// `escapesControls` is for output to a terminal, where safety matters more than exactness.
  init(_ columns: [Column], to output: TextOutput, nullValue: String, escapesControls: Bool) {
    self.columns = columns
    self.output = output
    let escape: (@Sendable (String) -> String)? =
      escapesControls ? { @Sendable text in DisplayText.escaped(text) } : nil
    text = CSVText(nullValue: nullValue, escape: escape)
  }

  func write(_ row: [Cell]) throws {
    try writeHeading()
    try output.write(text.row(row))
  }

  func finish() throws { try writeHeading() }

  private func writeHeading() throws {
    guard !hasHeading else { return }
    hasHeading = true
    try output.write(text.heading(columns.map(\.name)))
  }
}

/// The rows of a walk that a console shows: those after `--offset`, up to `--limit`.
final class ShownRows {
  private let console: Console
  private let writer: any RowWriter
  private let offset: Int
  private let limit: Int?
  private var skipped = 0
  private var shown = 0
  /// Whether the limit left out a row.
  private var hasMore = false

  init(_ columns: [Column], _ options: RowOptions, on console: Console) {
    self.console = console
    writer = console.rows(of: columns)
    offset = options.offset
    limit = options.effectiveLimit(on: console.terminal)
  }

  /// Shows the next row of the walk if it is within the range to show.
  ///
  /// Returns false if no later row is within the range.
  func show(_ row: () throws -> [Cell]) throws -> Bool {
    if skipped < offset {
      skipped += 1
      return true
    }
    if let limit, shown >= limit {
      hasMore = true
      return false
    }
    shown += 1
    try writer.write(try row())
    return true
  }

  func finish() throws { try writer.finish() }

  /// Adds a note about the range of rows shown.
  ///
  /// - Parameter total: The number of all rows; `nil` if unknown.
  func note(total: Int?, noun: String = "records") {
    console.note(
      RowSummary.text(shown: shown, offset: offset, total: total, hasMore: hasMore, noun: noun))
  }
}

/// The rows of a walk that a console shows: those after `--offset`, up to `--limit`.
final class ShownRows {
  private let console: Console
  private let writer: any RowWriter
  private let offset: Int
  private let limit: Int?
  private var skipped: Int
  private var shown = 0
  /// Whether the limit left out a row.
  private var hasMore = false

  /// - Parameter isSkipped: Whether the walk itself skips the rows before the offset.
  init(_ columns: [Column], _ options: RowOptions, isSkipped: Bool = false, on console: Console) {
    self.console = console
    writer = console.rows(of: columns)
    offset = options.offset
    skipped = isSkipped ? offset : 0
    limit = options.effectiveLimit(on: console.terminal)
  }

  /// Whether no row was shown or skipped.
  var isEmpty: Bool { shown == 0 && offset == 0 }

  /// Shows the next row of the walk if it is within the range to show.
  ///
  /// Returns false if no later row is within the range.
  func show(_ row: () throws -> [Cell]) throws -> Bool {
    console.endProgress()
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

  /// Ends the rows, and adds a note about the range of rows shown.
  ///
  /// - Parameter total: The number of all rows; `nil` if unknown.
  func finish(total: @autoclosure () throws -> Int?, noun: String = "records") throws {
    try writer.finish()
    try console.note(
      Self.summary(
        shown: shown, offset: offset, total: total(), hasMore: hasMore, noun: noun))
  }

  /// The note, such as "20 of 11,028 records; --limit 0 for all"; `nil` if all rows were shown.
  ///
  /// `total` is `nil` if counting would require reading everything; then `hasMore` is whether the
  /// limit ended the output. `noun` is the plural.
  static func summary(
    shown: Int, offset: Int = 0, total: Int?, hasMore: Bool = false, noun: String = "records"
  ) -> String? {
    let isWhole = total.map { shown >= $0 } ?? (!hasMore && offset == 0)
    guard !isWhole else { return nil }
    let isCut = total.map { offset + shown < $0 } ?? hasMore
    var text: String
    if offset > 0, shown > 0 {
      let first = NumberText.grouped(offset + 1)
      let last = NumberText.grouped(offset + shown)
      text = "\(noun) \(first) to \(last)" + (total.map { " of \(NumberText.grouped($0))" } ?? "")
    } else if let total {
      text = "\(NumberText.grouped(shown)) of \(NumberText.grouped(total)) \(noun)"
    } else {
      text = isCut ? "the first \(NumberText.grouped(shown)) \(noun)" : "no \(noun)"
    }
    if offset > 0, shown == 0 { text += " after the first \(NumberText.grouped(offset))" }
    return isCut ? text + "; --limit 0 for all" : text
  }
}

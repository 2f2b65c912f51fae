internal import EntityStore
internal import LodestoreRows

/// Rows with equal columns.
struct Table: Sendable {
  struct Row: Sendable {
    var items: [Item]

    init(_ items: [Item]) { self.items = items }
  }

  /// A column, and the pages that its heading leads to.
  struct Heading: Sendable {
    enum Direction: Sendable {
      case ascending, descending
    }

    var column: Column
    /// The type of the values, below the name.
    var type: String?
    /// The page with the rows in the order of the column; `nil` if the order would be slow.
    var sort: Route?
    /// The direction in which the table is sorted by the column.
    var sorted: Direction?
    /// Marks the words of a search in the column's texts.
    var highlighter: SearchHighlighter?

    init(
      _ column: Column, type: String? = nil, sort: Route? = nil, sorted: Direction? = nil
    ) {
      self.column = column
      self.type = type
      self.sort = sort
      self.sorted = sorted
    }
  }

  /// Rows that follow, each batch read in a transaction of its own.
  struct Batch: Sendable {
    var rows: [Row]
    /// Reads the next batch; `nil` after the last.
    var next: Next?

    typealias Next = @Sendable () throws -> Batch
  }

  var headings: [Heading]
  var rows: [Row]
  /// Reads the rows after `rows`, for forms that stream; `nil` after the last row.
  var next: Batch.Next?
  /// The page with the next rows; `nil` if this page has the last.
  var nextPage: Route?
  /// The text of the link to ``nextPage``.
  var nextTitle = "Next page"
  /// The token of the next rows, for clients that know no addresses.
  var nextToken: String?
  /// The page with the first rows; `nil` if this page has them.
  var firstPage: Route?
  /// The sentence that an empty table shows.
  var empty = "There are no rows."
  /// The sentence below the rows.
  var summary: String?
  /// Whether the table has the rows of the forms `jsonl` and `csv`.
  var isMain = false

  init(_ headings: [Heading], _ rows: [Row]) {
    self.headings = headings
    self.rows = rows
  }
}

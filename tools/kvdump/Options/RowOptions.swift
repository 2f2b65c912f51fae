import ArgumentParser

/// Options of the commands that write many rows.
struct RowOptions: ParsableArguments {
  /// The default number of rows on a terminal.
  static let limitOnTerminal = 20

  @Option(
    help: .value(
      "Show at most this many rows; 0 shows all.",
      discussion: "The default is \(limitOnTerminal) on a terminal and all otherwise.", "n"))
  var limit: Int?

  @Option(help: .value("Skip this many rows.", "n")) var offset = 0

  func validate() throws {
    if let limit, limit < 0 { throw ValidationError("--limit: \(limit) is below 0; 0 is all") }
    try refuse(if: offset < 0, "--offset: \(offset) is below 0")
  }

  /// Refuses a `--limit` for a command in which 0 does not mean all.
  static func checkLimit(_ limit: Int?) throws {
    if let limit, limit < 1 {
      throw ValidationError("--limit: \(limit) is below 1; leave it out for no limit")
    }
  }

  /// The number of rows to write; `nil` for all.
  ///
  /// A program always gets all rows, because rows missing in a pipe would be noticed too late.
  func effectiveLimit(on terminal: Terminal) -> Int? {
    let limit = limit ?? (terminal.isTerminal ? Self.limitOnTerminal : 0)
    return limit == 0 ? nil : limit
  }
}

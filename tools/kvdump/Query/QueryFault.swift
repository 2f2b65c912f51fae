import EntityStore

/// A format string that cannot be used, told as compilers do: the message, the line, and a caret.
struct QueryFault {
  /// From 1, the column in Unicode scalars.
  let line: Int
  let column: Int

  /// Calls `body`; a query that cannot be used becomes a failure with line and column beside the
  /// message, and with the excerpt of `text` where that is where the fault is.
  static func locating<R>(in text: String?, _ store: String, _ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch let error as StoreError where error.code == .invalidQuery {
      throw failure(error, in: text, store)
    }
  }

  /// The failure for a query that cannot be used.
  static func failure(_ error: StoreError, in text: String?, _ store: String) -> CommandFailure {
    var failure = CommandFailure.translated(error, store: store)
    guard let text, let fault = QueryFault(error) else { return failure }
    failure.details += [
      CommandFailure.Detail(name: "line", value: .count(fault.line)),
      CommandFailure.Detail(name: "column", value: .count(fault.column)),
    ]
    if let suggestion = (error.cause as? PredicateSyntaxError)?.suggestion {
      failure.details.append(
        CommandFailure.Detail(name: "didYouMean", value: .text(suggestion)))
    }
    if let excerpt = fault.excerpt(of: text) { failure.excerpt = [excerpt.line, excerpt.caret] }
    return failure
  }

  init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }

  /// Where the fault is, if the store knows.
  init?(_ error: StoreError) {
    guard let position = error.formatPosition else { return nil }
    self.init(line: position.line, column: position.column)
  }

  /// How much of a long line is shown on either side of the caret, in Unicode scalars.
  private static let reach = 50

  /// The line of `text` with the fault, and a line with a caret under its column.
  func excerpt(of text: String) -> (line: String, caret: String)? {
    // By scalars: a carriage return and a line feed are one character.
    let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.indices.contains(line - 1) else { return nil }
    let scalars = lines[line - 1]
    guard !scalars.isEmpty, column >= 1, column - 1 <= scalars.count else { return nil }
    let before = scalars.prefix(column - 1)
    var after = scalars.dropFirst(column - 1)
    if after.last == "\r" { after.removeLast() }
    let head =
      (before.count > Self.reach ? "…" : "")
      + DisplayText.escaped(String(before.suffix(Self.reach)))
    let tail =
      DisplayText.escaped(String(after.prefix(Self.reach)))
      + (after.count > Self.reach ? "…" : "")
    let margin = String(repeating: " ", count: 2 + DisplayText(head).width)
    return ("  " + head + tail, margin + "^")
  }
}

import EntityStore

/// A format string that cannot be used, told as compilers do: the message, the line, and a caret.
struct QueryFault {
  /// From 1, the column in Unicode scalars.
  let line: Int
  let column: Int

  /// Calls `body`; when the query that it prepares cannot be used, tells so on `console`.
  ///
  /// For programs the failure is thrown, with line and column beside the message. For people it is
  /// reported here, because what follows the message is more than one line; the status is its own.
  static func telling(
    about text: String?, _ store: String, as output: OutputOptions, on console: Console,
    _ body: () throws -> ExitStatus
  ) throws -> ExitStatus {
    do {
      return try body()
    } catch let error as StoreError where error.code == .invalidQuery {
      var failure = CommandFailure.translated(error, store: store)
      guard let text, let fault = QueryFault(error) else { throw failure }
      failure.details += [
        CommandFailure.Detail(name: "line", value: .count(fault.line)),
        CommandFailure.Detail(name: "column", value: .count(fault.column)),
      ]
      if let suggestion = (error.cause as? PredicateSyntaxError)?.suggestion {
        failure.details.append(
          CommandFailure.Detail(name: "didYouMean", value: .text(suggestion)))
      }
      guard !output.format.isJSON, let excerpt = fault.excerpt(of: text) else { throw failure }
      console.report(failure)
      console.note(excerpt.line)
      console.note(excerpt.caret)
      return failure.status
    }
  }

  init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }

  /// Where the fault is, if the store knows.
  init?(_ error: StoreError) {
    switch error.cause {
    case let fault as PredicateSyntaxError: self.init(line: fault.line, column: fault.column)
    case let fault as ConditionFault:
      self.init(line: fault.position.line, column: fault.position.column)
    default: return nil
    }
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

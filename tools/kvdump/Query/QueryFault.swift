import EntityStore

/// A fault in a format string, shown as compilers do: the message, the line, and a caret.
struct QueryFault {
  /// The line, from 1.
  let line: Int
  /// The column in Unicode scalars, from 1.
  let column: Int
  /// A similar name to suggest; `nil` if there is none.
  private let suggestion: String?

  /// Makes the fault from an error; `nil` if the error has no position.
  init?(_ error: StoreError) {
    guard let position = error.formatPosition else { return nil }
    (line, column) = (position.line, position.column)
    suggestion = (error.cause as? PredicateSyntaxError)?.suggestion
  }

  var details: [CommandFailure.Detail] {
    [
      CommandFailure.Detail(name: "line", value: .count(line)),
      CommandFailure.Detail(name: "column", value: .count(column)),
    ] + (suggestion.map { [.text("didYouMean", $0)] } ?? [])
  }

  /// The number of Unicode scalars of a long line shown on either side of the caret.
  private static let reach = 50

  /// The line of `text` with the fault, and a line with a caret under its column.
  func excerpt(of text: String) -> [String] {
    // Split by scalars, because a carriage return and a line feed are one character.
    let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.indices.contains(line - 1) else { return [] }
    let scalars = lines[line - 1]
    guard !scalars.isEmpty, column >= 1, column - 1 <= scalars.count else { return [] }
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
    return ["  " + head + tail, margin + "^"]
  }
}

extension CommandFailure {
  /// This failure with the line, the column and the excerpt of a fault.
  func located(_ fault: QueryFault, in text: String) -> Self {
    var failure = self
    failure.details += fault.details
    failure.excerpt = fault.excerpt(of: text)
    return failure
  }
}

import EntityStore

/// A format string that cannot be used, told as compilers do: the message, the line, and a caret.
struct QueryFault {
  /// From 1, the column in Unicode scalars.
  let line: Int
  let column: Int
  /// The name that is meant, where one is similar.
  private let suggestion: String?

  /// Where the fault is, if the store knows.
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

  /// How much of a long line is shown on either side of the caret, in Unicode scalars.
  private static let reach = 50

  /// The line of `text` with the fault, and a line with a caret under its column.
  func excerpt(of text: String) -> [String] {
    // By scalars: a carriage return and a line feed are one character.
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
  /// The failure with the line, the column and the excerpt of a fault.
  func located(_ fault: QueryFault, in text: String) -> Self {
    var failure = self
    failure.details += fault.details
    failure.excerpt = fault.excerpt(of: text)
    return failure
  }
}

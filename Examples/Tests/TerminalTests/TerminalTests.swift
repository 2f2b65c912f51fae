import Synchronization
import Terminal
import Testing

/// The bytes that were written to a terminal.
final class Written: Sendable {
  private let parts = Mutex<[String]>([])

  var text: String { parts.withLock { $0.joined() } }

  func terminal(isInteractive: Bool, hasColor: Bool = false, width: Int = 80, height: Int = 24)
    -> Terminal
  {
    Terminal(isInteractive: isInteractive, hasColor: hasColor, size: (width, height)) { text in
      self.parts.withLock { $0.append(text) }
    }
  }

  /// The visible text, with moves of the cursor and erasing applied.
  var screen: [String] {
    var rows = [""]
    var row = 0
    var rest = text[...]
    while let character = rest.popFirst() {
      switch character {
      case "\n":
        row += 1
        if row == rows.count { rows.append("") }
      case "\r": break
      case "\u{1B}":
        guard let end = rest.firstIndex(where: { $0.isLetter }) else { return rows }
        let count = Int(rest[..<end].dropFirst()) ?? 1
        switch rest[end] {
        case "A": row -= count
        case "K": rows[row] = ""
        case "J": rows[row...] = [""]
        default: break
        }
        rest = rest[rest.index(after: end)...]
      default: rows[row].append(character)
      }
    }
    return rows
  }
}

@Suite struct TerminalTests {
  @Test func `text has a style only if the terminal has colour`() {
    let written = Written()
    #expect(written.terminal(isInteractive: true).styled("a", .red) == "a")
    let colored = written.terminal(isInteractive: true, hasColor: true)
    #expect(colored.styled("a", .red) == "\u{1B}[31ma\u{1B}[0m")
    #expect(colored.styled("", .red) == "")
  }

  @Test(arguments: [
    ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("\u{1B}[31mred\u{1B}[0m", 3), ("", 0),
  ]) func `the terminal has the columns of the screen`(text: String, columns: Int) {
    #expect(text.columns == columns)
  }

  @Test(arguments: [
    ("abcdef", 6, "abcdef"), ("abcdef", 4, "abc…"), ("日本語", 4, "日…"), ("abc", 1, "…"),
    ("abc", 0, ""), ("\u{1B}[31mabcdef\u{1B}[0m", 3, "\u{1B}[31mab…\u{1B}[0m"),
  ]) func `a cut text ends in an ellipsis and keeps its style`(
    text: String, width: Int, expected: String
  ) {
    #expect(text.cut(to: width) == expected)
  }

  @Test func `columns of a table are aligned`() {
    var table = Table(["name", "n"], [.left, .right])
    table.add("日本", "5")
    table.add("a", "1,000")
    #expect(table.lines == ["name      n", "日本      5", "a     1,000"])
  }

  @Test func `a table fits a terminal and is whole in a pipe`() {
    var table = Table(["title"])
    table.add("a long title")
    let narrow = Written()
    table.show(on: narrow.terminal(isInteractive: true, width: 6))
    #expect(narrow.text == "title\na lon…\n")
    let pipe = Written()
    table.show(on: pipe.terminal(isInteractive: false, width: 6))
    #expect(pipe.text == "title\na long title\n")
  }

  @Test(arguments: [
    (0, "0"), (999, "999"), (1_000, "1,000"), (-1_234_567, "-1,234,567"),
  ]) func `numbers on the terminal have commas`(number: Int, text: String) {
    #expect(number.grouped == text)
  }

  @Test(arguments: [
    (Duration.microseconds(420), "0.4 ms"), (.milliseconds(12), "12 ms"),
    (.milliseconds(1_340), "1.3 s"), (.seconds(125), "2 min 5 s"), (.seconds(12_000), "3 h 20 min"),
  ]) func `times on the terminal are short`(time: Duration, text: String) {
    #expect(time.short == text)
  }
}

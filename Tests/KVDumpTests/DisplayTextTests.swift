import Testing

@testable import KVDumpCommands

@Suite("Display text")
struct DisplayTextTests {
  @Test(arguments: [
    ("abc", 3), ("", 0), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("ｱ", 1), ("Ａ", 2), ("한", 2),
    ("\u{1112}\u{1161}\u{11AB}", 2), ("👍🏽", 2), ("👩‍👩‍👧‍👦", 2), ("🇩🇪", 2), ("❤\u{FE0F}", 2), ("…", 1),
    ("\u{1b}", 6), ("\n", 2), ("a\u{200B}b", 2),
  ])
  func `the width of a text is the columns that a terminal uses for it`(text: String, width: Int) {
    #expect(DisplayText(text).width == width)
  }

  @Test(arguments: [
    ("abcdef", 6, "abcdef"), ("abcdef", 5, "abcd…"), ("abcdef", 1, "…"), ("abcdef", 0, ""),
    ("日本語", 6, "日本語"), ("日本語", 5, "日本…"), ("日本語", 4, "日…"), ("日本語", 2, "…"),
    ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"), ("ab\ncd", 4, "ab…"), ("", 0, ""),
  ])
  func `cut text keeps whole characters and marks the cut`(
    text: String, limit: Int, expected: String
  ) {
    let cut = DisplayText(text, limit: limit)
    #expect(cut.text == expected)
    #expect(cut.width <= limit)
  }

  @Test func `displayed text escapes characters that could control the terminal`() {
    #expect(
      DisplayText.escaped("\u{1b}]0;x\u{7}\u{9b}2J\u{7f}") == "\\u{1b}]0;x\\u{7}\\u{9b}2J\\u{7f}")
    #expect(DisplayText.escaped("a\r\nb\tc\u{202e}d") == "a\\r\\nb\\tc\\u{202e}d")
  }
}

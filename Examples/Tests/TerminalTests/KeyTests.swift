import Testing

@testable import Terminal

@Suite struct KeyTests {
  private static let up = "\u{1B}[A"

  @Test(arguments: [
    ("ab", [Key.character("a"), .character("b")]),
    ("é日", [.character("é"), .character("日")]),
    ("\r\n", [.enter, .enter]),
    ("a\u{7F}\u{8}", [.character("a"), .backspace, .backspace]),
    ("\u{17}\u{15}\u{4}", [.deleteWord, .deleteLine, .end]),
    ("\u{1}\t", []),
    ("\u{1B}", [.escape]),
    (up + "a", [.character("a")]),
    ("\u{1B}[1;5Cx\u{1B}OPy\u{1B}bz", [.character("x"), .character("y"), .character("z")]),
  ]) func `bytes from the terminal become keys`(text: String, keys: [Key]) {
    var decoder = KeyDecoder()
    #expect(decoder.keys(in: text.utf8) == keys)
  }

  @Test func `a character that comes in pieces is one key`() {
    var decoder = KeyDecoder()
    let bytes = Array("日".utf8)
    #expect(decoder.keys(in: bytes.prefix(1)).isEmpty)
    #expect(decoder.keys(in: bytes[1..<2]).isEmpty)
    #expect(decoder.keys(in: bytes[2...] + [0x61]) == [.character("日"), .character("a")])
  }

  @Test func `bytes that are no text do not delay the following keys`() {
    var decoder = KeyDecoder()
    #expect(decoder.keys(in: [0xFF, 0x61]) == [.character("\u{FFFD}"), .character("a")])
  }
}

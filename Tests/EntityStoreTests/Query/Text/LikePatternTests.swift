import Testing

@testable import EntityStore

@Suite struct LikePatternTests {
  @Test(arguments: [
    ("", "", true), ("", "a", false), ("*", "", true), ("*", "abc", true), ("?", "", false),
    ("?", "a", true), ("?", "ab", false), ("a*c", "abbbc", true), ("a*c", "abbbcd", false),
    ("*b*", "abc", true), ("**?**", "", false), ("a?c", "abc", true), ("?", "\r\n", true),
    ("??", "\r\n", false), ("?", "e\u{301}", true), ("?", "é", true), ("é", "e\u{301}", true),
    ("e*", "e\u{301}", false), ("?", "👩‍👩‍👧", true), ("*\u{301}", "*\u{301}", true),
    ("\\*", "*", true), ("\\*", "a", false), ("\\?a", "?a", true), ("\\\\", "\\", true),
    ("\\a", "a", true), ("*.txt", "notes.txt", true), ("*.txt", "notes.txt2", false),
    ("*aab", "aaaaaab", true), ("*ä?", "xäy", true), ("水*", "水火", true), ("水?", "水", false),
    ("AF_", "AF_", true), ("AF_", "AFN", false), ("5%*", "5% off", true), ("5\\%", "5%", true),
  ])
  func `A LIKE pattern matches the whole text`(pattern: String, text: String, expected: Bool) throws
  {
    #expect(try admits(.like, pattern, text) == expected)
  }

  @Test func `A LIKE pattern folds case on both sides`() throws {
    #expect(try admits(.like, "*SS?", "Straßx", .caseInsensitive) == true)
    #expect(try admits(.like, "NOTES.*", "notes.TXT", .caseInsensitive))
    #expect(try !admits(.like, "NOTES.*", "notes.TXT"))
  }

  @Test func `A lone backslash at the end of a pattern is refused`() {
    #expect(
      throws: PatternError(
        "the backslash at the end escapes nothing, write two for one backslash", at: 2)
    ) { try TextTest(.like, "ab\\", options: []) }
  }

  @Test func `A pattern above a thousand bytes is refused`() throws {
    _ = try TextTest(.like, String(repeating: "a", count: 1_000), options: [])
    #expect(throws: PatternError.self) {
      try TextTest(.like, String(repeating: "ä", count: 501), options: [])
    }
  }

  @Test func `A pattern of many stars takes no exponential time`() throws {
    let pattern = String(repeating: "*a", count: 60) + "b"
    let time = try processorTime { () throws in
      #expect(try !admits(.like, pattern, String(repeating: "a", count: 20_000)))
      #expect(try !admits(.like, pattern, String(repeating: "水a", count: 2_000)))
    }
    #expect(time < .seconds(60))
  }

  @Test(arguments: [[], TextOptions.caseInsensitive, .diacriticInsensitive, .normalized])
  func `Random LIKE patterns agree with the definition`(options: TextOptions) throws {
    var random = SeededNumbers(salt: 710)
    var hits = 0
    for _ in 0..<8_000 {
      let text = random.nastyText(upTo: 7)
      var pattern: [Character] = Array(random.oneIn(3) ? random.nastyText(upTo: 4) : text)
      pattern.removeAll { "\\*?".contains($0) }
      for _ in 0..<random.below(4) where !pattern.isEmpty {
        let index = random.below(pattern.count)
        switch random.below(3) {
        case 0: pattern[index] = "?"
        case 1: pattern[index] = "*"
        default: pattern.insert("*", at: index)
        }
      }
      // Adjacent pattern parts are joined first, because combined characters may become other
      // characters.
      let joined = Array(String(pattern))
      let expected = Self.isLike(
        folded(joined, options), Array(folded(text, options)), bytes: options == .normalized)
      if expected { hits += 1 }
      guard try admits(.like, String(joined), text, options) == expected else {
        Issue.record("\(scalars(String(joined))) and \(scalars(text)); \(SeededNumbers.replay)")
        return
      }
    }
    #expect(hits > 800)
  }

  /// The characters of a pattern with those between wildcards folded; nil for a `?`.
  private enum Part { case one, many, literal(Character) }

  private func folded(_ pattern: [Character], _ options: TextOptions) -> [Part] {
    var parts: [Part] = []
    var literal = ""
    func flush() {
      parts += EntityStoreTests.folded(literal, options).map { .literal($0) }
      literal = ""
    }
    for character in pattern {
      switch character {
      case "?", "*":
        flush()
        parts.append(character == "?" ? .one : .many)
      default: literal.append(character)
      }
    }
    flush()
    return parts
  }

  private func folded(_ text: String, _ options: TextOptions) -> String {
    EntityStoreTests.folded(text, options)
  }

  /// Matches by recursion, as in the definition of LIKE.
  private static func isLike(
    _ parts: [Part], _ text: [Character], bytes: Bool
  ) -> Bool {
    guard let first = parts.first else { return text.isEmpty }
    let rest = Array(parts.dropFirst())
    switch first {
    case .one: return !text.isEmpty && isLike(rest, Array(text.dropFirst()), bytes: bytes)
    case .many: return (0...text.count).contains { isLike(rest, Array(text[$0...]), bytes: bytes) }
    case .literal(let character):
      guard let next = text.first else { return false }
      let isSame = bytes ? next.utf8.elementsEqual(character.utf8) : next == character
      return isSame && isLike(rest, Array(text.dropFirst()), bytes: bytes)
    }
  }
}

import Foundation
import LodestoreBytes
import Testing

@testable import EntityStore

@Suite struct RegularExpressionTests {
  @Test(arguments: [
    ("", "", true), ("", "a", false), ("abc", "abc", true), ("abc", "xabc", false),
    ("a|bc", "bc", true), ("a|bc", "ac", false), ("(a|b)*c", "ababc", true), ("a{2,3}", "aa", true),
    ("a{2,3}", "aaaa", false), ("a{2}", "aaa", false), ("a{2,}", "aaaaa", true), ("a{0}", "", true),
    (".", "é", true), (".", "e\u{301}", false), ("..", "e\u{301}", true), (".", "\n", false),
    ("(?s).", "\n", true), (".", "\u{2028}", false), ("[a-c]+", "abcab", true),
    ("[^a-c]", "b", false), ("[^a-c]", "d", true), ("[a-z&&[^aeiou]]+", "bcd", true),
    ("[a-z&&[^aeiou]]+", "bad", false), ("[a-z--[m]]", "m", false), ("[a\\]]+", "a]", true),
    ("[-a]+", "a-", true), ("[a-]+", "a-", true), ("[[:alpha:]]+", "aé", true),
    ("[[:^alpha:]]", "a", false), ("[[:digit:][:upper:]]+", "1A", true), ("\\d+", "12٣", true),
    ("\\D", "1", false), ("\\w+", "aé_1", true), ("\\W", "-", true), ("\\s", "\u{a0}", true),
    ("\\S\\s", "a\t", true), ("\\h", "\t", true), ("\\h", "\n", false), ("\\R", "\r\n", true),
    ("\\R", "\n", true), ("\\R\\R", "\r\n", true), ("\\v", "\u{85}", true), ("\\t", "\t", true),
    ("\\u00e9", "é", true), ("\\x{1F600}", "😀", true), ("\\x41", "A", true),
    ("\\ud83d\\ude00", "😀", true), ("\\p{L}+", "aЖ", true), ("\\p{Lu}", "a", false),
    ("\\P{Lu}", "a", true), ("\\pL", "a", true), ("\\p{General_Category=Nd}", "1", true),
    ("\\p{^L}", "1", true), ("^abc$", "abc", true), ("\\Aabc\\z", "abc", true),
    ("a^b", "ab", false), ("a\\n$", "a\n", true), ("a$\\n", "a\n", true), ("a$\\nb", "a\nb", false),
    ("(?m)a$\\n^b", "a\nb", true), ("a\\Z\\n", "a\n", true), ("a\\z\\n", "a\n", false),
    ("a\\b b", "a b", true), ("a\\bb", "ab", false), ("a\\Bb", "ab", true), ("\\bé\\b", "é", true),
    ("(?:ab)+", "abab", true), ("(?<name>ab)c", "abc", true), ("(?i)ABC", "aBc", true),
    ("(?i:a)b", "Ab", true), ("(?i:a)b", "AB", false), ("a(?i)b|c", "C", true),
    ("(a(?i)b)c", "aBC", false), ("(?i)straße", "STRAẞE", true), ("(?i)[k]", "\u{212a}", true),
    ("(?i)[ſ]", "S", true), ("(?i)[ſ]", "s", true), ("(?i)[^a]", "A", false), ("(?i)σ", "ς", true),
    ("(?x) a b # c", "ab", true), ("(?#no)a", "a", true), ("a*?b", "aab", true), ("a??", "a", true),
    ("\\Qa.b\\E.", "a.bc", true), ("\\Qa.b\\E.", "axbc", false), ("()*", "", true),
    ("(a*)*b", "aab", true), ("(a|)+", "aa", true), ("a||b", "", true), ("\\.", ".", true),
    ("}]", "}]", true), ("[\\d-x]+", "1-x", true), ("[\\u0041-\\u0043]", "B", true),
    ("(?i-s:A)b", "ab", true),
  ])
  func `A regular expression matches the whole text`(pattern: String, text: String, expected: Bool)
    throws
  {
    #expect(try admits(.matches, pattern, text) == expected)
    // The added alternative has an assertion, which the automaton does not support. The
    // backtracking machine therefore runs the pattern.
    let other = pattern.hasPrefix("(?x)") ? "\n|水\\B水)" : "|水\\B水)"
    #expect(try admits(.matches, "(?:" + pattern + other, text) == expected)
  }

  @Test(arguments: [
    ("(a)\\1", 3, "a backreference at 3 is not supported: it cannot be matched in linear time"),
    ("é(?=a)", 2, "lookaround at 2 is not supported: it cannot be matched in linear time"),
    ("(?<!a)", 0, "lookaround at 0 is not supported: it cannot be matched in linear time"),
    ("a++", 1, "a possessive quantifier at 1 is not supported: it changes what the text can match"),
    ("(?>a)", 0, "an atomic group at 0 is not supported: it changes what the text can match"),
    ("*a", 0, "the quantifier at 0 has nothing before it to repeat"),
    ("a**", 2, "the quantifier at 2 has nothing before it to repeat"),
    ("a|+", 2, "the quantifier at 2 has nothing before it to repeat"),
    ("(a", 0, "the group at 0 is not closed"), ("a)", 1, "the ')' at 1 closes no group"),
    ("[a", 0, "the class at 0 is not closed"),
    ("[]", 0, "the class at 0 has an empty side; write \\] for a bracket"),
    ("[b-a]", 1, "the range at 1 ends before it starts"),
    ("[a-\\d]", 1, "the range at 1 ends in more than one scalar"),
    ("a{2,1}", 1, "the '{' at 1 starts no {n}, {n,} or {n,m} with n not above m"),
    ("a{x}", 1, "the '{' at 1 starts no {n}, {n,} or {n,m}; write \\{ for a brace"),
    ("a{20001}", 1, "the count at 1 is above 20000"),
    ("\\", 0, "the backslash at 0 escapes nothing; write two for one backslash"),
    ("\\y", 0, "the escape \\y at 0 is not supported"),
    ("\\xZZ", 0, "the escape at 0 is no scalar in hexadecimal digits"),
    ("\\ud800", 0, "the escape at 0 is half a surrogate pair"),
  ])
  func `A refused regular expression names the fault and its position`(
    pattern: String, offset: Int, message: String
  ) {
    #expect(throws: PatternError(message, at: offset)) {
      try TextTest(.matches, pattern, options: [])
    }
  }

  @Test func `An unknown property is refused`() {
    #expect(throws: PatternError.self) { try TextTest(.matches, "\\p{Klingon}", options: []) }
  }

  @Test func `A nested repetition takes linear time`() throws {
    let text = String(repeating: "a", count: 100_000)
    for pattern in ["(a+)+b", "(a|aa)+b", "(a*)*b", "(?:a+)+\\bb"] {
      let time = try processorTime { () throws in
        #expect(try !admits(.matches, pattern, text))
      }
      #expect(time < .seconds(60))
    }
  }

  @Test func `The sizes of regular expressions are limited`() throws {
    #expect(throws: PatternError.self) {
      try TextTest(.matches, String(repeating: "a", count: 4_097), options: [])
    }
    #expect(throws: PatternError.self) {
      try TextTest(.matches, "((a{100}){100}){100}", options: [])
    }
    let deep = String(repeating: "(", count: 200) + "a" + String(repeating: ")", count: 200)
    #expect(try admits(.matches, deep, "a"))
    #expect(throws: PatternError("the group at 200 is nested deeper than 200", at: 200)) {
      try TextTest(.matches, "(" + deep + ")", options: [])
    }
    #expect(throws: PatternError.self) {
      try TextTest(.matches, String(repeating: "[a", count: 1_000), options: [])
    }
    #expect(throws: PatternError.self) {
      try TextTest(.matches, "[a" + String(repeating: "&&a", count: 1_000) + "]", options: [])
    }
    #expect(try admits(.matches, "((){20000}){20000}", ""))
    let stars = String(repeating: "(", count: 200) + "a" + String(repeating: ")*", count: 200)
    #expect(try admits(.matches, stars, "aaa"))
  }

  @Test func `Random regular expressions agree with Foundation`() throws {
    var random = SeededNumbers(salt: 720)
    var hits = 0
    var refusals = 0
    for _ in 0..<4_000 {
      let pattern = random.pattern(depth: 3)
      guard let reference = try? NSRegularExpression(pattern: "(?:\(pattern))\\z") else {
        refusals += 1
        continue
      }
      // An assertion keeps the automaton away, so that the machine decides.
      let tests = try ["", "(?:水\\B水|)"].map { prefix in
        try TextTest(.matches, prefix + pattern, options: [])
      }
      for _ in 0..<8 {
        let text = String(
          (0..<random.below(7)).compactMap { _ in
            "aaabbcA\n".randomElement(using: &random)
          })
        let range = NSRange(location: 0, length: text.utf16.count)
        let expected =
          reference.firstMatch(in: text, options: .anchored, range: range)?.range == range
        if expected { hits += 1 }
        for test in tests {
          guard Array(text.utf8)._withBytes({ test.admits($0) }) == expected else {
            Issue.record(
              "\(pattern.debugDescription), \(text.debugDescription); \(SeededNumbers.replay)")
            return
          }
        }
      }
    }
    #expect(hits > 500)
    #expect(refusals < 100)
  }

  @Test func `Random text as a regular expression never traps`() throws {
    var random = SeededNumbers(salt: 721)
    let parts = [
      "a", "b", "(", ")", "[", "]", "*", "+", "?", "{", "}", "1", ",", "|", "\\", "^", "$", ".",
      "-", "&&", "--", ":alpha:", "(?i", "(?:", "(?<", "\\p{L}", "\\x{", "\\u", "d", "é", "\\Q",
      "\\E", "#", "(?x)", "=", "!", "水", "\u{301}", "{2,3}", "[^", "\\b", "\\R",
    ]
    var usable = 0
    for _ in 0..<15_000 {
      let pattern = (0..<random.below(14)).compactMap { _ in
        parts.randomElement(using: &random)
      }.joined()
      do {
        let options = TextOptions(rawValue: UInt8(random.below(8)))
        let test = try TextTest(.matches, pattern, options: options)
        usable += 1
        _ = Array("ab水é1\r\n".utf8)._withBytes { test.admits($0) }
        _ = Array("aab1".utf8)._withBytes { test.admits($0) }
      } catch {
        guard let offset = error.offset, (0...pattern.utf8.count).contains(offset) else {
          Issue.record("\(pattern.debugDescription): \(error.message)")
          return
        }
      }
    }
    #expect(usable > 500)
  }
}

extension SeededNumbers {
  /// A pattern over a, b and c for which ICU and this engine must give the same result.
  fileprivate mutating func pattern(depth: Int) -> String {
    let atoms = [
      "a", "b", "c", ".", "[ab]", "[^a]", "\\w", "\\W", "[a-c&&[^b]]", "\\b", "(?i:a)", "\\n", "^",
      "$", "\\s", "[[:upper:]]", "\\p{Ll}", "\\B", "(?m:$)", "(?m:^)",
      // ICU abandons lazy repetitions of patterns that can be empty, so only these are tested.
      "a*?", "[ab]+?", "b??", "(?:ab|a){1,2}?",
    ]
    guard depth > 0 else { return atoms.randomElement(using: &self) ?? "a" }
    switch below(6) {
    case 0: return "(?:\(pattern(depth: depth - 1))|\(pattern(depth: depth - 1)))"
    case 1, 2: return pattern(depth: depth - 1) + pattern(depth: depth - 1)
    case 3:
      let quantifiers = ["*", "+", "?", "{2}", "{1,2}"]
      return "(\(pattern(depth: depth - 1)))\(quantifiers.randomElement(using: &self) ?? "")"
    default: return pattern(depth: depth - 1)
    }
  }
}

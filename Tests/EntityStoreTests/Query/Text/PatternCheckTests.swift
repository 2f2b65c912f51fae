import Testing

@testable import EntityStore
@testable import LodestoreVerifier

/// The verifier accepts the patterns that the store accepts, though the two share no code.
@Suite("Patterns for the verifier and for the store")
struct PatternCheckTests {
  private static let pieces = [
    "a", "b", "é", "(", ")", "(?:", "(?i)", "(?x:", "(?<n>", "(?P<n>", "(?#c)", "(?=", "(?>", "[",
    "]", "[^", "&&", "--", "-", "[:alpha:]", "[:zz:]", "{2}", "{2,}", "{2,3}", "{3,2}", "{", "}",
    "*", "+", "?", "|", ".", "^", "$", "\\", "\\d", "\\p{Lu}", "\\p{xx}", "\\pL", "\\Q", "\\E",
    "\\R", "\\b", "\\1", "\\k", "\\x41", "\\x{41}", "\\x4", "\\u0041", "\\ud83d\\ude00", "\\ud83d",
    "\\U00000041", "\\z", "\\Z", "\\A", " ", "#", "\n", ":", "\\y", "\\[", "\\]", "z-a", "a-z",
    "{1000}", "{20000}", "{20001}", ">", "<", "=", "!", "i", "x", "s",
  ]

  private func agree(_ pattern: String) -> Bool {
    let isTaken = (try? RegularExpression(pattern, isCaseless: false)) != nil
    return isTaken == (PatternCheck.fault(in: pattern) == nil)
  }

  @Test func `Random patterns are accepted by both matchers or by neither`() {
    var random = SeededNumbers(salt: 730)
    var taken = 0
    for number in 0..<20_000 {
      let count = 1 + random.below(number % 3 == 0 ? 14 : 6)
      let pattern = (0..<count).map { _ in Self.pieces[random.below(Self.pieces.count)] }.joined()
      if PatternCheck.fault(in: pattern) == nil { taken += 1 }
      guard agree(pattern) else {
        Issue.record("'\(pattern)'; \(SeededNumbers.replay)")
        return
      }
    }
    #expect((2_000..<18_000).contains(taken))
  }

  @Test func `The checker's limits of sizes equal those of the store`() {
    let texts = [
      String(repeating: "a", count: 4_096), String(repeating: "a", count: 4_097), "a{19999}",
      "a{20000}", "^a{19999}$", "(?:a|b){4999}", "(?:a|b){5000}", "(a*){6666}", "(a*){6667}",
      "((){20000}){20000}", "((a{100}){100}){100}",
    ]
    for text in texts { #expect(agree(text), "\(text.prefix(40))") }
    for depth in [19, 20, 21, 199, 200, 201] {
      let groups =
        String(repeating: "(", count: depth) + "a" + String(repeating: ")", count: depth)
      let classes =
        String(repeating: "[a", count: depth) + String(repeating: "]", count: depth)
      let operators = "[a" + String(repeating: "&&a", count: depth) + "]"
      for text in [groups, classes, operators] { #expect(agree(text), "\(depth)") }
    }
  }
}

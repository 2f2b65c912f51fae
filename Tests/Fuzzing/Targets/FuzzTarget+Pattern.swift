import LodestoreBytes
import LodestoreFormat

@testable import EntityStore

extension FuzzTarget {
  /// Comparisons of texts, including LIKE and MATCHES.
  ///
  /// The input is a pattern, a byte 0xFF, and a text.
  static let pattern = FuzzTarget("pattern", longestInput: 192) {
    try seedLines("pattern.txt").map { line in
      // In a seed line, the first tab separates the pattern from the text.
      var bytes: [UInt8] = [0] + line
      if let tab = bytes.firstIndex(of: 0x09) { bytes[tab] = 0xFF }
      return bytes
    }
  } run: { bytes in
    var input = InputReader(bytes)
    let choice = input.byte()
    let options = TextOptions(rawValue: choice & 7)
    let parts = input.rest.split(separator: 0xFF, maxSplits: 1, omittingEmptySubsequences: false)
    let pattern = String(decoding: parts[0], as: UTF8.self)
    // The text may have bytes that are not UTF-8, because damaged records have such texts.
    let text = parts.count > 1 ? Array(parts[1]) : []
    for operation in [
      TextTest.Operation.equal, .less, .greaterOrEqual, .beginsWith, .endsWith, .contains, .like,
      .matches,
    ] {
      guard let test = try? TextTest(operation, pattern, options: options) else { continue }
      text._withBytes { _ = test.admits($0) }
      Array(pattern.utf8)._withBytes { pattern in
        if operation == .equal { require(test.admits(pattern), "a text is not equal to itself") }
      }
    }
    try compareMatchers(pattern, isCaseless: choice & 1 == 1, text)
  }

  /// Requires that the automaton and the machine of a regular expression agree.
  private static func compareMatchers(
    _ pattern: String, isCaseless: Bool, _ text: [UInt8]
  ) throws {
    var parser = try ExpressionParser(pattern, isCaseless: isCaseless)
    let root = try parser.parse()
    let program = try ExpressionProgram(root, sets: parser.sets)
    guard let automaton = ExpressionAutomaton(program) else { return }
    text._withBytes { text in
      guard let verdict = automaton.matches(text) else { return }
      var machine = ExpressionMachine(program, text)
      require(machine.matchesWholeText() == verdict, "the two matchers of \(pattern) differ")
    }
  }
}

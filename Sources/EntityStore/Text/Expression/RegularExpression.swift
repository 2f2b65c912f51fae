internal import LodestoreBytes

/// A regular expression that matches whole texts in time O(pattern × text).
///
/// The syntax is the commonly used part of ICU's. Supported are literals, `.`, classes with ranges,
/// `&&` and `--`, escapes, general categories, anchors, groups, flags, alternatives and
/// quantifiers. Backreferences and lookaround are refused, since they cannot be matched in linear
/// time, as are possessive quantifiers and atomic groups.
///
/// Scalars are compared as they are stored, as in ICU: "é" as one scalar matches `.`, as two
/// scalars it matches `..`. Without case, scalars are compared by their simple foldings. A byte
/// that is not UTF-8 counts as U+FFFD.
struct RegularExpression: Sendable {
  private let program: ExpressionProgram
  private let automaton: ExpressionAutomaton?

  init(_ pattern: String, isCaseless: Bool) throws(PatternError) {
    var parser = try ExpressionParser(pattern, isCaseless: isCaseless)
    let root = try parser.parse()
    program = try ExpressionProgram(root, sets: parser.sets)
    automaton = ExpressionAutomaton(program)
  }

  func admits(_ utf8: ByteView) -> Bool {
    if let verdict = automaton?.matches(utf8) { return verdict }
    var machine = ExpressionMachine(program, utf8)
    return machine.matchesWholeText()
  }
}

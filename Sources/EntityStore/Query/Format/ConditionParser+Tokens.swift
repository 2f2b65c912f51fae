extension ConditionParser {
  @inline(never)
  mutating func advance() throws(FormatFault) {
    do throws(FormatLexer.Fault) { token = try lexer.next() } catch {
      throw fault(from: error.start, to: error.end, String(describing: error.expected))
    }
  }

  mutating func expect(
    _ kind: FormatToken.Kind, _ expected: String
  ) throws(FormatFault) {
    guard token.kind == kind else { throw misplaced(expected) }
    try advance()
  }

  func bytes(of token: FormatToken) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(rebasing: text[token.start..<token.end])
  }

  /// The token's text without its first `prefix` bytes.
  func word(_ token: FormatToken, dropping prefix: Int = 0) -> String {
    String(decoding: text[(token.start + prefix)..<token.end], as: UTF8.self)
  }

  /// The first byte after the token that is no space, 0 at the end.
  var nextByte: UInt8 {
    var copy = lexer
    copy.skipSpace()
    return copy.peek()
  }
}

// MARK: - Limits

extension ConditionParser {
  /// Counts a level of the text; whoever reads it takes it back when it is left.
  mutating func enter() throws(FormatFault) {
    guard level < limits.depth else { throw tooDeep(token) }
    level += 1
  }

  /// The depth of a node over parts of `depth` levels, which it counts.
  mutating func grown(
    _ depth: Int, by mark: FormatToken
  ) throws(FormatFault) -> Int {
    guard depth < limits.depth else { throw tooDeep(mark) }
    try count(1, at: mark)
    return depth + 1
  }

  mutating func count(_ added: Int, at mark: FormatToken) throws(FormatFault) {
    nodes += added
    guard nodes <= limits.nodes else {
      throw fault(
        at: mark, "at most \(limits.nodes) conditions, operands and steps (limit: nodes)")
    }
  }

  @inline(never)
  private func tooDeep(_ mark: FormatToken) -> FormatFault {
    fault(at: mark, "at most \(limits.depth) levels of nesting (limit: depth)")
  }
}

// MARK: - Errors

/// A mistake on its way out of the parser, behind one pointer.
///
/// The errors of every call that can fail have a place in the caller's stack frame, and the frames
/// of the nested ones must fit 64 times over into the half megabyte that some threads have.
final class FormatFault: Error {
  let error: PredicateSyntaxError

  init(_ error: PredicateSyntaxError) { self.error = error }
}

extension ConditionParser {
  /// The present token cannot stand here; an operator or keyword near it may have been meant.
  @inline(never)
  func misplaced(_ expected: String) -> FormatFault {
    let found = word(token)
    let suggestion: String? =
      switch token.kind {
      case .word: NearestName.of(found, among: FormatKeyword.operatorWords)
      case .unknown: Self.signs[found]
      case .keyword(.not): "NOT in front of the comparison"
      default: nil
      }
    return fault(at: token, expected, suggestion: suggestion)
  }

  @inline(never)
  func fault(
    at token: FormatToken, _ expected: String, suggestion: String? = nil
  ) -> FormatFault {
    fault(from: token.start, to: token.end, expected, suggestion: suggestion)
  }

  @inline(never)
  func fault(
    from start: Int, to end: Int, _ expected: String, suggestion: String? = nil
  ) -> FormatFault {
    var position = FormatPosition()
    position.advance(to: start, in: text)
    // Cut between scalars: the byte after the cut must not continue one.
    var cut = min(end, start + 64, text.count)
    while cut > start, cut < text.count, text[cut] & 0xC0 == 0x80 { cut -= 1 }
    return FormatFault(
      PredicateSyntaxError(
        at: position, token: String(decoding: text[min(start, cut)..<cut], as: UTF8.self),
        expected: expected, suggestion: suggestion))
  }

  /// Operators of other languages and slips of the finger.
  private static let signs = [
    "===": "==", "!==": "!=", "=!": "!=", "><": "!=", "<=>": "==", "&": "&&", "|": "||",
    "<==": "<=", ">==": ">=", "==<": "<=", "==>": ">=", "!": "NOT", "~": "LIKE", "^": "**",
  ]
}

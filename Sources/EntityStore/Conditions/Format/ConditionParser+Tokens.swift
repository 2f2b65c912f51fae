internal import LodestoreBytes

extension ConditionParser {
  @inline(never)
  mutating func advance() throws(FormatFault) {
    do throws(FormatLexer.Fault) { token = try lexer.next() } catch {
      throw fault(from: error.start, to: error.end, String(describing: error.expected))
    }
  }

  mutating func expect(_ kind: FormatToken.Kind, _ expected: String) throws(FormatFault) {
    guard token.kind == kind else { throw misplaced(expected) }
    try advance()
  }

  func bytes(of token: FormatToken) -> ByteView { text[token.start..<token.end] }

  /// Returns the token's text without its first `prefix` bytes.
  func word(_ token: FormatToken, dropping prefix: Int = 0) -> String {
    String(decoding: text[(token.start + prefix)..<token.end], as: UTF8.self)
  }

  /// The first byte after the token that is not a space; 0 at the end.
  var nextByte: UInt8 {
    var copy = lexer
    copy.skipSpace()
    return copy.peek()
  }
}

// MARK: - Limits

extension ConditionParser {
  /// Counts a level of nesting in the text.
  ///
  /// The caller must decrement `level` at the end of the nested part.
  mutating func enter() throws(FormatFault) {
    guard level < limits.depth else { throw tooDeep(token) }
    level += 1
  }

  /// Counts a node, and returns its depth.
  ///
  /// - Parameter depth: the depth of the node's parts.
  mutating func grown(_ depth: Int, by mark: FormatToken) throws(FormatFault) -> Int {
    guard depth < limits.depth else { throw tooDeep(mark) }
    try count(1, at: mark)
    return depth + 1
  }

  /// Counts a node and returns it with its depth.
  ///
  /// - Parameter depth: the depth of the node's parts.
  mutating func node<Tree>(
    _ tree: Tree, over depth: Int = 0, by mark: FormatToken
  ) throws(FormatFault) -> Deep<Tree> {
    Deep(tree: tree, depth: try grown(depth, by: mark))
  }

  mutating func count(_ added: Int, at mark: FormatToken) throws(FormatFault) {
    nodes += added
    guard nodes <= limits.nodes else {
      throw fault(
        at: mark,
        "at most \(limits.nodes) conditions, operands and steps (limit: nodes); write many values as a "
          + "list, a IN { b, c } or a IN %@")
    }
  }

  @inline(never)
  private func tooDeep(_ mark: FormatToken) -> FormatFault {
    fault(at: mark, "at most \(limits.depth) levels of nesting (limit: depth)")
  }
}

// MARK: - Errors

/// An error inside the parser, as large as one pointer.
///
/// Each call that can fail reserves room for its error in the caller's stack frame. Nested calls of
/// 64 levels must fit into the stack of 512 KiB that some threads have.
final class FormatFault: Error {
  let error: PredicateSyntaxError

  init(_ error: PredicateSyntaxError) { self.error = error }
}

extension ConditionParser {
  /// Returns the error for an unexpected token, which suggests a similar operator or keyword.
  @inline(never)
  func misplaced(_ expected: String) -> FormatFault {
    let found = word(token)
    let suggestion: String? =
      switch token.kind {
      case .word where found.uppercased() == "IS": "== NULL or != NULL"
      case .word: NearestName.of(found, among: FormatKeyword.operatorWords)
      case .unknown: Self.signs[found]
      case .keyword(.not): "NOT in front of the comparison"
      default: nil
      }
    return fault(at: token, expected, suggestion: suggestion)
  }

  @inline(never)
  func fault(at token: FormatToken, _ expected: String, suggestion: String? = nil) -> FormatFault {
    fault(from: token.start, to: token.end, expected, suggestion: suggestion)
  }

  @inline(never)
  func fault(
    from start: Int, to end: Int, _ expected: String, suggestion: String? = nil
  ) -> FormatFault {
    var position = FormatPosition()
    position.advance(to: start, in: text)
    // The token is cut between two scalars: the byte after the cut must not be a continuation byte.
    var cut = min(end, start + 64, text.count)
    while cut > start, cut < text.count, text[cut] & 0xC0 == 0x80 { cut -= 1 }
    return FormatFault(
      PredicateSyntaxError(
        at: position, token: String(decoding: text[min(start, cut)..<cut], as: UTF8.self),
        expected: expected, suggestion: suggestion))
  }

  /// Replacements for operators of other languages and for typing mistakes.
  private static let signs = [
    "===": "==", "!==": "!=", "=!": "!=", "><": "!=", "<=>": "==",
    "<==": "<=", ">==": ">=", "==<": "<=", "==>": ">=", "!": "NOT", "~": "LIKE",
    "^": "** for a power, or bitwiseXor:with:(a, b)",
  ]
}

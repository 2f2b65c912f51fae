extension ExpressionNode {
  /// ASCII text with which every text begins that the expression matches as a whole; it may be
  /// empty.
  ///
  /// In a matching text, the last of these scalars may be followed by a combining mark, and so form
  /// another character.
  var literalPrefix: String {
    var prefix = ""
    _ = appendPrefix(to: &prefix)
    return prefix
  }

  /// Appends the literal beginning of the node, and returns whether this is all that the node
  /// matches.
  private func appendPrefix(to prefix: inout String) -> Bool {
    switch self {
    case .scalar(let value):
      // Line ends are left out, because CR LF is one character of two scalars.
      guard value < 0x80, value != 0x0a, value != 0x0d, let scalar = Unicode.Scalar(value) else {
        return false
      }
      prefix.unicodeScalars.append(scalar)
      return true
    case .assertion: return true
    case .sequence(let nodes): return nodes.allSatisfy { $0.appendPrefix(to: &prefix) }
    case .repeated(let node, let atLeast, _):
      if atLeast > 0 { _ = node.appendPrefix(to: &prefix) }
      return false
    case .caselessScalar, .set, .choice: return false
    }
  }
}

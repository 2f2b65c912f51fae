extension ExpressionNode {
  /// ASCII text with which every text begins that matches as a whole; it may be empty.
  ///
  /// The last character may be one with a mark behind it in the text.
  var literalPrefix: String {
    var prefix = ""
    _ = appendPrefix(to: &prefix)
    return prefix
  }

  /// Returns whether all that the node matches has been appended.
  private func appendPrefix(to prefix: inout String) -> Bool {
    switch self {
    case .scalar(let value):
      // A line end of two scalars is one character.
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

/// What one format string may cost before it is refused.
struct FormatLimits: Sendable, Hashable {
  /// Levels of nesting: of parentheses, and of the tree that is read; at most 128, because what
  /// walks the tree is recursive.
  var depth: Int
  /// Conditions, operands and steps of key paths; a hundred constants in a list count as one.
  var nodes: Int
  /// Bytes of the text.
  var bytes: Int

  /// Negative limits are zero.
  init(depth: Int = 64, nodes: Int = 1_000, bytes: Int = 64 << 10) {
    self.depth = min(max(depth, 0), 128)
    self.nodes = max(nodes, 0)
    self.bytes = max(bytes, 0)
  }
}

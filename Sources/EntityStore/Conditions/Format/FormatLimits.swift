/// The limits beyond which a format string is refused.
struct FormatLimits: Sendable, Hashable {
  /// The maximum number of nested levels, in parentheses and in the resulting tree.
  ///
  /// The limit must not exceed 128, since traversing the tree is recursive.
  var depth: Int
  /// The maximum number of conditions, operands and steps of key paths together.
  ///
  /// A hundred constants in a list count as one.
  var nodes: Int
  /// The maximum length of the text in bytes.
  var bytes: Int

  /// Creates limits.
  ///
  /// Negative values become 0.
  init(depth: Int = 64, nodes: Int = 1_000, bytes: Int = 64 << 10) {
    self.depth = min(max(depth, 0), 128)
    self.nodes = max(nodes, 0)
    self.bytes = max(bytes, 0)
  }
}

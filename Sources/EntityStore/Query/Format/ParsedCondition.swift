/// What a format string says.
struct ParsedCondition: Sendable {
  var tree: ConditionTree
  /// The position of the first use of each key path and unbound variable, as ``ConditionPrinter``
  /// writes it.
  ///
  /// For errors that are found later, when names and types are resolved.
  var positions: [String: FormatPosition]

  init(tree: ConditionTree, positions: [String: FormatPosition] = [:]) {
    self.tree = tree
    self.positions = positions
  }
}

/// What a format string says.
package struct ParsedCondition: Sendable {
  package var tree: ConditionTree
  /// The position of the first use of each key path and unbound variable, as ``ConditionPrinter``
  /// writes it.
  ///
  /// For errors that are found later, when names and types are resolved.
  package var positions: [String: FormatPosition]

  package init(tree: ConditionTree, positions: [String: FormatPosition] = [:]) {
    self.tree = tree
    self.positions = positions
  }
}

import Testing

@testable import EntityStore

/// Whether `text` reads as `tree`, bit by bit.
///
/// `==` alone takes 0.0 for -0.0 and texts of another normalization for the same, and finds NaN
/// different from itself: what both are printed as tells these apart.
func readsBack(_ tree: ConditionTree, as text: String) throws(StoreError) -> Bool {
  // Printed constants can be longer than what was typed, and lists that were arguments count.
  let limits = FormatLimits(nodes: .max, bytes: .max)
  let again = try ConditionParser.parse(text, limits: limits).tree
  guard ConditionPrinter.text(again).utf8.elementsEqual(text.utf8) else { return false }
  return again == tree || "\(again)".utf8.elementsEqual("\(tree)".utf8)
}

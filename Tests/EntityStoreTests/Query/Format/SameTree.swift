import Testing

@testable import EntityStore

/// Returns whether `text` reads as `tree`, bit by bit.
///
/// `==` alone equates 0.0 with -0.0 and texts of different normalization, and finds NaN different
/// from itself. The printed forms distinguish these.
func readsBack(_ tree: ConditionTree, as text: String) throws(StoreError) -> Bool {
  // The limits are off, because printed constants may be longer than typed ones, and lists of
  // arguments become elements.
  let limits = FormatLimits(nodes: .max, bytes: .max)
  let again = try ConditionParser.parse(text, limits: limits).tree
  guard ConditionPrinter.text(again).utf8.elementsEqual(text.utf8) else { return false }
  return again == tree || "\(again)".utf8.elementsEqual("\(tree)".utf8)
}

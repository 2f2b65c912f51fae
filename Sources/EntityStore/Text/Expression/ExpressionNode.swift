/// A part of a regular expression.
indirect enum ExpressionNode: Sendable {
  case scalar(UInt32)
  /// A scalar in any case, given in folded form.
  case caselessScalar(UInt32)
  /// A set of scalars, by its number in the parser's list.
  case set(Int)
  case assertion(ExpressionAssertion)
  case sequence([ExpressionNode])
  case choice([ExpressionNode])
  case repeated(ExpressionNode, atLeast: Int, atMost: Int?)
}

/// A condition on an offset between scalars.
enum ExpressionAssertion: Int, Sendable {
  case textStart, textEnd
  /// At the end of the text, or before a line end that ends the text.
  case textEndOrLastLineEnd
  case lineStart, lineEnd
  case wordBoundary, notWordBoundary
}

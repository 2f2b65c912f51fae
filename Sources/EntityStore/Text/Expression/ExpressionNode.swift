/// A part of a regular expression.
indirect enum ExpressionNode: Sendable {
  case scalar(UInt32)
  /// A scalar in any case; the value is folded.
  case caselessScalar(UInt32)
  /// The number of a set in the list that the parser has made.
  case set(Int)
  case assertion(ExpressionAssertion)
  case sequence([ExpressionNode])
  case choice([ExpressionNode])
  case repeated(ExpressionNode, atLeast: Int, atMost: Int?)

  static let empty = ExpressionNode.sequence([])
}

/// What must hold at an offset between scalars.
enum ExpressionAssertion: Int, Sendable {
  case textStart, textEnd
  /// The end, or before a line end that ends the text.
  case textEndOrLastLineEnd
  case lineStart, lineEnd
  case wordBoundary, notWordBoundary
}

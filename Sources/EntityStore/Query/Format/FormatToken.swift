/// A piece of a format string, by its bytes; the parser gives it a meaning.
struct FormatToken {
  enum Kind: Equatable {
    case end
    /// A word that is no keyword.
    case word
    /// `#word`.
    case quotedWord
    case keyword(FormatKeyword)
    /// Without its sign.
    case number
    case string(hasEscapes: Bool)
    /// `$name`.
    case variable
    /// `@name`.
    case collectionOperator
    case comparison(Comparison.Operator)
    case and, or, not
    case openParenthesis, closeParenthesis, openBracket, closeBracket, openBrace, closeBrace
    case comma, period, colon
    case plus, minus, times, over, power
    /// A single `&` or `|`.
    case bitAnd, bitOr
    /// The remainder, or the mark of an argument: the parser knows.
    case percent
    /// Signs in a row that make no operator, such as `===`.
    case unknown
  }

  var kind: Kind
  var start: Int
  var end: Int
}

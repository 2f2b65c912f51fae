/// A token of a format string, as a range of its bytes.
struct FormatToken {
  enum Kind: Equatable {
    case end
    /// A word that is not a keyword.
    case word
    /// A word marked as a name, such as `#word`.
    case quotedWord
    case keyword(FormatKeyword)
    /// A number without its sign.
    case number
    case string(hasEscapes: Bool)
    /// A variable, such as `$name`.
    case variable
    /// A collection operator, such as `@count`.
    case collectionOperator
    case comparison(Comparison.Operator)
    case and, or, not
    case openParenthesis, closeParenthesis, openBracket, closeBracket, openBrace, closeBrace
    case comma, period, colon
    case plus, minus, times, over, power
    /// A single `&` or `|`.
    case bitAnd, bitOr
    /// A remainder operator or the mark of an argument, which the parser decides.
    case percent
    /// Signs in a row that form no operator, such as `===`.
    case unknown
  }

  var kind: Kind
  var start: Int
  var end: Int
}

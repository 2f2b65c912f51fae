public import LodestoreEssentials

/// The error for a text that violates RFC 4180 or the options, or exceeds a limit.
public struct CSVError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of error, for programs.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Reason: Sendable, Hashable {
    /// The text has no row, and the first row should contain the names.
    case noHeader
    /// Two columns have one name.
    case duplicateName(String)
    /// The options give a type to a column that does not exist.
    case unknownColumn(String)
    /// Two options use one character, such as a delimiter that is also the quote.
    case twoMeanings(Character)
    /// A quote is inside a field that does not begin with a quote.
    case quoteInField
    /// A closing quote is followed by something other than a delimiter or a line end.
    case textAfterQuote
    /// A quote is never closed.
    case unclosedQuote
    /// A carriage return outside quotes has no line feed after it.
    case loneCarriageReturn
    /// The bytes are invalid in the encoding.
    case invalidUTF8
    /// The name of a column has a zero byte, as when UTF-16 is read as UTF-8.
    case zeroByte(inColumn: String)
    /// A row has more or fewer fields than there are columns.
    case fieldCount(found: Int, expected: Int)
    /// A field does not fit its column's type.
    case wrongType(column: String, CSVOptions.ColumnType)
    /// A field has more bytes than the limit.
    case fieldTooLong(limit: Int)
    /// A row has more bytes than the limit.
    case rowTooLong(limit: Int)
    /// A row has more fields than the limit.
    case tooManyFields(limit: Int)
    /// The text of a truncated file ends inside a row.
    case unexpectedEnd
    /// A row, written as JSON, has more bytes than a page may have.
    case pageTooLong(limit: Int)
  }

  /// The kind of error, for programs.
  public let reason: Reason
  /// The position of the error: line, column in Unicode scalars, and byte.
  public let position: JSONPosition

  /// One line with the position and the fault, without the field's content.
  public var description: String { "cannot read CSV at \(position): found \(words)" }

  private var words: String {
    switch reason {
    case .noHeader: "no row, expected one with the names of the columns"
    case .duplicateName(let name):
      "the column \(JSONValue.string(name)) a second time, expected each name once"
    case .unknownColumn(let name):
      "no column \(JSONValue.string(name)), expected one because it has a type"
    case .twoMeanings(let character):
      "the character '\(character)' in two options, expected another for one of them"
    case .quoteInField:
      "a quote inside a field, expected one only around a field; inside quotes it is doubled"
    case .textAfterQuote: "text after a closing quote, expected a delimiter or a line end"
    case .unclosedQuote: "a quote that is not closed, expected another"
    case .loneCarriageReturn: "a carriage return alone, expected a line feed after it"
    case .invalidUTF8:
      "bytes that are invalid in the encoding, by default UTF-8; give the encoding of the file"
    case .zeroByte(let name):
      "a zero byte in the column \(JSONValue.string(name)), expected characters; give the encoding of "
        + "the file, which may be UTF-16"
    case .fieldCount(let found, let expected):
      "\(found == 1 ? "1 field" : "\(found) fields"), expected \(expected)"
    case .wrongType(let column, let type):
      "another value in column \(JSONValue.string(column)), expected \(type.words)"
    case .fieldTooLong(let limit): "a field of more than \(limit) bytes, expected a shorter one"
    case .rowTooLong(let limit): "a row of more than \(limit) bytes, expected a shorter one"
    case .tooManyFields(let limit): "more than \(limit) fields, expected fewer in a row"
    case .unexpectedEnd: "the end of a file that is cut, expected the rest of the row"
    case .pageTooLong(let limit):
      "a row of more than \(limit) bytes as JSON, expected one that fits a page"
    }
  }
}

extension CSVOptions.ColumnType {
  fileprivate var words: String {
    switch self {
    case .text: "text"
    case .integer: "an integer of 64 bits"
    case .number: "a number in the range of a double"
    case .boolean: "true, false, 1 or 0"
    }
  }
}

extension CSVError: LocalizedError {
  /// The message; Foundation and tools that print errors use this property.
  public var errorDescription: String? { description }
}

public import LodestoreEssentials

/// The error for a page that does not have the column form.
public struct ColumnPageError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of error, for programs.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Reason: Sendable, Hashable {
    /// The page is not JSON.
    case notJSON(JSONError)
    /// The page is JSON, but not an object.
    case notObject
    /// `fields` is absent, or not an array of strings.
    case noFields
    /// Two columns have one name.
    case duplicateField(String)
    /// `data` is absent, or not an array.
    case noData
    /// `count` is neither a number nor a string with a number.
    case badCount
    /// `count` differs from the number of rows.
    case count(found: Int, rows: Int)
    /// A row, counted from 1, is not an array.
    case notRow(Int)
    /// A row, counted from 1, has more or fewer values than there are fields.
    case rowLength(row: Int, found: Int, expected: Int)
    /// The page exceeds the limit when each record contains the names.
    case tooLong(limit: Int)
  }

  /// The kind of error, for programs.
  public let reason: Reason
  /// The position of the error: line, column and byte.
  public let position: JSONPosition

  /// One line with the position, and with the found and expected values.
  public var description: String {
    if case .notJSON(let error) = reason { return error.description }
    return "cannot read columns at \(position): found \(words)"
  }

  private var words: String {
    switch reason {
    case .notJSON: "no JSON"
    case .notObject: "another value, expected an object with 'fields' and 'data'"
    case .noFields: "no array of names, expected one as 'fields'"
    case .duplicateField(let name):
      "the field \(JSONValue.string(name)) a second time, expected each name once"
    case .noData: "no array of rows, expected one as 'data'"
    case .badCount: "a 'count' that is no number of rows, expected one from 0"
    case .count(let found, let rows): "\(rows) rows, expected \(found) as 'count' says"
    case .notRow(let row): "row \(row) as another value, expected an array"
    case .rowLength(let row, let found, let expected):
      "\(found) values in row \(row), expected \(expected) as 'fields' has"
    case .tooLong(let limit):
      "more than \(limit) bytes or too many values for one page, expected fewer; take fewer records "
        + "a page"
    }
  }
}

extension ColumnPageError: LocalizedError {
  /// The message; Foundation and tools that print errors use this property.
  public var errorDescription: String? { description }
}

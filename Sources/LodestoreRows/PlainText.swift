/// A cell as text for CSV and Markdown.
///
/// Numbers are plain, and bytes are Base64, as in JSON.
package enum PlainText {
  /// The text; `nil` for null and absent.
  package static func text(of cell: Cell) -> String? {
    switch cell {
    case .absent, .null: nil
    case .text(let text), .date(let text), .number(let text), .json(let text): text
    case .bytes: unquoted(CellJSON.array([cell]))
    case .double(let double), .share(let double):
      double.isFinite ? "\(double)" : unquoted(CellJSON.array([cell]))
    case .bool(let bool): bool ? "true" : "false"
    case .integer(let integer): "\(integer)"
    case .unsigned(let integer): "\(integer)"
    case .count(let count), .byteCount(let count): "\(count)"
    }
  }

  /// The string in a JSON array of one string that needs no escapes.
  private static func unquoted(_ array: String) -> String { String(array.dropFirst(2).dropLast(2)) }
}

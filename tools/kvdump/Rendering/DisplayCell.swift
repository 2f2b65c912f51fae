import LodestorePages

/// A cell as shown to people in tables and lines.
struct DisplayCell: Equatable, Sendable {
  let content: DisplayText
  /// Whether the cell is not a value of the record.
  ///
  /// Such a cell is dimmed if there is colour.
  let isFaint: Bool
  let isNumeric: Bool
  let isAbsent: Bool
  /// Whether the cell is empty.
  ///
  /// A column of empty cells does not affect its alignment.
  let isEmpty: Bool

  /// The cell in at most `limit` columns; `nil` for no limit.
  ///
  /// Empty text, and text that reads like null, is quoted, so that it differs from an absent value
  /// and from null without colour.
  init(_ cell: Cell, limit: Int? = nil) {
    content = DisplayText(Self.text(of: cell, limit: limit), limit: limit)
    isFaint = cell == .null
    isNumeric = cell.isNumeric
    isAbsent = cell == .absent
    isEmpty = cell.isEmpty
  }

  private static func text(of cell: Cell, limit: Int?) -> String {
    switch cell {
    case .absent: ""
    case .null: "null"
    case .double(let double): double.isNaN ? "nan" : "\(double)"
    case .text(let text): text.isEmpty || text == "null" ? "\"\(text)\"" : text
    case .bytes(let bytes): hexadecimal(bytes, limit: limit)
    case .count(let count): NumberText.grouped(count)
    case .byteCount(let bytes): NumberText.byteCount(bytes)
    case .share(let share): NumberText.share(share)
    case .bool, .integer, .unsigned, .number, .date, .json: PlainText.text(of: cell) ?? ""
    }
  }

  /// The hexadecimal digits of the visible bytes and of one more byte.
  ///
  /// The further byte shows that the cell must be cut.
  private static func hexadecimal(_ bytes: [UInt8], limit: Int?) -> String {
    Finding.hexadecimal(limit.map { bytes.prefix($0 / 2 + 1) } ?? bytes[...])
  }
}

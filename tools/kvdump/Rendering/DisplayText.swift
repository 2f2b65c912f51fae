/// Text made safe for a terminal and shortened to a number of columns.
struct DisplayText: Equatable, Sendable {
  let text: String
  /// The number of terminal columns of `text`.
  let width: Int

  /// The start of `source` that fits into `limit` columns; `…` stands for the rest.
  ///
  /// O(`limit`), however long `source` is. `nil` means no limit.
  init(_ source: String, limit: Int? = nil) {
    let limit = limit ?? .max
    var text = ""
    var width = 0
    // The place to cut if the text proves too long: one column before the limit, for the mark.
    var cut = (end: text.endIndex, width: 0)
    for character in source {
      let piece: String
      let pieceWidth: Int
      if let escape = Self.escape(for: character) {
        piece = escape
        pieceWidth = escape.unicodeScalars.count
      } else {
        piece = String(character)
        pieceWidth = CharacterWidth.columns(of: character)
      }
      guard width + pieceWidth <= limit else {
        self.text = limit > 0 ? String(text[..<cut.end]) + "…" : ""
        self.width = limit > 0 ? cut.width + 1 : 0
        return
      }
      text += piece
      width += pieceWidth
      if width < limit { cut = (text.endIndex, width) }
    }
    self.text = text
    self.width = width
  }

  /// Returns `source` with an escape in place of each character that could control a terminal.
  static func escaped(_ source: String) -> String { DisplayText(source).text }

  /// The text, padded with spaces to `columns`.
  func padded(to columns: Int, alignment: Column.Alignment) -> String {
    guard width < columns else { return text }
    let space = String(repeating: " ", count: columns - width)
    return alignment == .leading ? text + space : space + text
  }

  private static func escape(for character: Character) -> String? {
    guard character.unicodeScalars.contains(where: UnsafeScalar.matches) else { return nil }
    var text = ""
    for scalar in character.unicodeScalars {
      switch scalar {
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case _ where UnsafeScalar.matches(scalar):
        text += "\\u{" + String(scalar.value, radix: 16) + "}"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }
}

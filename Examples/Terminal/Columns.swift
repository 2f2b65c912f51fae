/// The side of its column at which a text is placed.
public enum Alignment: Sendable {
  case left
  case right
}

extension StringProtocol {
  /// The number of terminal columns of the text.
  ///
  /// An escape sequence takes no column, and a wide character takes two columns.
  public var columns: Int {
    var count = 0
    var isInEscape = false
    for character in self {
      if isInEscape {
        isInEscape = !character.isASCII || !character.isLetter
      } else if character == "\u{1B}" {
        isInEscape = true
      } else {
        count += character.columns
      }
    }
    return count
  }

  /// The text with spaces up to `width` columns.
  public func padded(to width: Int, _ alignment: Alignment = .left) -> String {
    let space = String(repeating: " ", count: Swift.max(0, width - columns))
    return alignment == .left ? self + space : space + self
  }

  /// The text, cut at `width` columns with an ellipsis.
  ///
  /// Escape sequences after the cut are kept, so that styles end.
  public func cut(to width: Int) -> String {
    guard columns > width else { return String(self) }
    var result = ""
    var room = Swift.max(width - 1, 0)
    var isInEscape = false
    var isCut = false
    for character in self {
      if isInEscape || character == "\u{1B}" {
        isInEscape = !isInEscape || !character.isASCII || !character.isLetter
        result.append(character)
      } else if !isCut {
        isCut = character.columns > room
        room -= character.columns
        result += isCut ? (width > 0 ? "…" : "") : String(character)
      }
    }
    return result
  }
}

extension Character {
  fileprivate var columns: Int {
    guard let scalar = unicodeScalars.first else { return 0 }
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0: return 0
    case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
      0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
      return 2
    default: return 1
    }
  }
}

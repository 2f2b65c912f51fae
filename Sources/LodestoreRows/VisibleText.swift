/// Text as markup, in which each invisible character is a visible mark.
///
/// Control characters, overrides of the text direction and characters without width could make a
/// value look like another one. Such a character becomes a small box with its code point.
package enum VisibleText {
  /// Appends `text` as content of an element.
  package static func append(_ text: String, keepsLines: Bool, to bytes: inout [UInt8]) {
    let scalars = text.unicodeScalars
    for index in scalars.indices {
      let scalar = scalars[index]
      switch scalar {
      case "\n" where keepsLines, "\t" where keepsLines: bytes.append(UInt8(ascii: scalar))
      // The two characters of a line end are one, as everywhere on the web.
      case "\r" where keepsLines && scalars[index...].dropFirst().first == "\n": continue
      case "\n": appendMark(scalar, "↵", to: &bytes)
      case "\t": appendMark(scalar, "⇥", to: &bytes)
      case "\r": appendMark(scalar, "CR", to: &bytes)
      case _ where isInvisible(scalar): appendMark(scalar, hex(scalar), to: &bytes)
      default: appendEscaped(scalar, to: &bytes)
      }
    }
  }

  /// Appends `text` as a part of a picture, which has no boxes for marks.
  ///
  /// The part may be content, or the value of an attribute in double quotes. An invisible character
  /// becomes its code point in angle quotation marks, because XML allows few control characters.
  package static func appendPlainly(_ text: String, to bytes: inout [UInt8]) {
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": bytes.append(contentsOf: "&quot;".utf8)
      case _ where isInvisible(scalar): bytes.append(contentsOf: "‹\(hex(scalar))›".utf8)
      default: appendEscaped(scalar, to: &bytes)
      }
    }
  }

  /// Appends `text` as the value of an attribute in double quotes, with all its characters.
  ///
  /// Markup cannot contain a null character, so the replacement character stands for it.
  package static func appendExactly(_ text: String, to bytes: inout [UInt8]) {
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": bytes.append(contentsOf: "&quot;".utf8)
      case "'": bytes.append(contentsOf: "&#39;".utf8)
      // A reference to one of these stands for another character.
      case "\u{80}"..."\u{9F}":
        bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
      case "\0": bytes.append(contentsOf: UTF8.encodedReplacementCharacter)
      case _ where isInvisible(scalar):
        bytes.append(contentsOf: "&#x\(hex(scalar));".utf8)
      default: appendEscaped(scalar, to: &bytes)
      }
    }
  }

  /// Appends a character, which never begins a tag or a reference.
  private static func appendEscaped(_ scalar: Unicode.Scalar, to bytes: inout [UInt8]) {
    switch scalar {
    case "&": bytes.append(contentsOf: "&amp;".utf8)
    case "<": bytes.append(contentsOf: "&lt;".utf8)
    case ">": bytes.append(contentsOf: "&gt;".utf8)
    default: bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    }
  }

  /// Returns whether a reader cannot see the character, or whether it changes the order of others.
  ///
  /// The joiners U+200C and U+200D are not among them, because words of some languages need them.
  package static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F...0x9F, 0xAD, 0x61C, 0x180E, 0x200B, 0x200E, 0x200F, 0x2028...0x202E: true
    case 0x2060...0x206F, 0xFEFF, 0xFFF9...0xFFFB, 0xFFFE...0xFFFF, 0xE0000...0xE007F: true
    default: false
    }
  }

  private static func appendMark(
    _ scalar: Unicode.Scalar, _ shown: String, to bytes: inout [UInt8]
  ) {
    let title = "U+\(hex(scalar))\(name(of: scalar).map { " \($0)" } ?? "")"
    bytes.append(contentsOf: "<span class=\"mark\" title=\"\(title)\">\(shown)</span>".utf8)
  }

  private static func name(of scalar: Unicode.Scalar) -> String? {
    scalar.properties.name?.lowercased() ?? scalar.properties.nameAlias?.lowercased()
  }

  private static func hex(_ scalar: Unicode.Scalar) -> String {
    let digits = String(scalar.value, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(4 - digits.count, 0)) + digits
  }
}

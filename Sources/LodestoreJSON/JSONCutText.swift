/// A JSON text that ends before its value does, for example after an interrupted transfer.
///
/// Only brackets and quotes are interpreted, so the text may have other faults.
package struct JSONCutText: Sendable {
  /// The number of levels in which the records of a page are searched.
  package static let mostLevels = 8

  private struct Level: Sendable {
    /// The bracket that closes the array or object.
    let closer: UInt8
    /// The offset after the last complete element or member.
    var wholeEnd: Int
  }

  /// The arrays and objects that the text does not close, outermost first.
  private var levels: [Level] = []
  private let text: [UInt8]

  /// Returns `nil` if the text closes all of its brackets, or closes a bracket with one of another
  /// kind.
  package init?(_ text: [UInt8]) {
    self.text = text
    var isInString = false
    var isEscaped = false
    for (at, byte) in text.enumerated() {
      if isInString {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isInString = false
          // Within an object, a string may be a key, whose member is not complete yet, so only
          // elements of arrays are noted.
          if levels.last?.closer == UInt8(ascii: "]") { endChild(at + 1) }
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): isInString = true
      case UInt8(ascii: "["): levels.append(Level(closer: UInt8(ascii: "]"), wholeEnd: at + 1))
      case UInt8(ascii: "{"): levels.append(Level(closer: UInt8(ascii: "}"), wholeEnd: at + 1))
      case UInt8(ascii: "]"), UInt8(ascii: "}"):
        guard levels.popLast()?.closer == byte else { return nil }
        endChild(at + 1)
      case UInt8(ascii: ","): endChild(at)
      default: break
      }
    }
    if levels.isEmpty { return nil }
  }

  private mutating func endChild(_ offset: Int) {
    if !levels.isEmpty { levels[levels.count - 1].wholeEnd = offset }
  }

  /// The number of unclosed arrays and objects.
  package var depth: Int { levels.count }

  /// The text up to the last complete element or member at `level`, counted from 0, with all
  /// brackets closed.
  package func whole(at level: Int) -> [UInt8] {
    text[..<levels[level].wholeEnd] + levels[...level].reversed().map(\.closer)
  }

  /// The offset of the incomplete rest of the text: after the last complete element or member, with
  /// the comma and white space that follow it.
  package func restOffset(at level: Int) -> Int {
    let separators = [0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ",")]
    return text[levels[level].wholeEnd...].firstIndex { !separators.contains($0) } ?? text.count
  }

  /// The bytes from ``restOffset(at:)`` to the end.
  package func rest(at level: Int) -> ArraySlice<UInt8> { text[restOffset(at: level)...] }

  /// The line of an offset, from 1.
  package func line(at offset: Int) -> Int { 1 + text[..<offset].count { $0 == 0x0A } }
}

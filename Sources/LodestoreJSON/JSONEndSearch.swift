import LodestoreBytes

/// Finds the end of a value in a stream of bytes by its brackets and quotes.
///
/// The value need not be valid JSON. An error changes the end only if it concerns brackets or
/// quotes. Each byte is read once.
package struct JSONEndSearch: Sendable {
  private var depth = 0
  private var isInString = false
  private var isEscaped = false
  private var isInScalar = false

  package init() {}

  /// The offset after the value; `nil` if it does not end within `bytes`.
  ///
  /// Pass the bytes that follow in the next call.
  package mutating func end(in bytes: ByteView) -> Int? {
    for (at, byte) in bytes.enumerated() {
      if isInString {
        if isEscaped {
          isEscaped = false
        } else if byte == 0x5C {
          isEscaped = true
        } else if byte == 0x22 {
          isInString = false
          if depth == 0 { return end(at + 1) }
        }
        continue
      }
      switch byte {
      case 0x22, 0x5B, 0x7B:
        if isInScalar { return end(at) }
        if byte == 0x22 { isInString = true } else { depth += 1 }
      case 0x5D, 0x7D:
        if isInScalar { return end(at) }
        // A closing bracket without an opening one counts as a text of its own, which the parser
        // will refuse.
        depth = max(depth - 1, 0)
        if depth == 0 { return end(at + 1) }
      case 0x20, 0x09, 0x0A, 0x0D:
        if isInScalar { return end(at) }
      default:
        // A byte outside ASCII does not begin a value. A byte order mark, for example, is part of
        // the text of the value after it.
        if depth == 0, byte < 0x80 { isInScalar = true }
      }
    }
    return nil
  }

  private mutating func end(_ offset: Int) -> Int {
    self = JSONEndSearch()
    return offset
  }
}

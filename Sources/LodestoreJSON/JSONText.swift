import LodestoreBytes

/// Writes strings and integers as JSON.
package enum JSONText {
  /// Appends a string in quotes, with only the escapes that RFC 8259 demands.
  package static func appendString(_ string: String, to bytes: inout [UInt8]) {
    bytes.append(0x22)
    let isDone: Void? = string.utf8.withContiguousStorageIfAvailable {
      appendEscaped(ByteView($0), to: &bytes)
    }
    if isDone == nil {
      var copy = string
      copy.withUTF8 { appendEscaped(ByteView($0), to: &bytes) }
    }
    bytes.append(0x22)
  }

  /// Appends the decimal digits of an integer given by magnitude and sign.
  static func appendInteger(_ magnitude: UInt64, isNegative: Bool, to bytes: inout [UInt8]) {
    if isNegative { bytes.append(0x2D) }
    let start = bytes.count
    var rest = magnitude
    repeat {
      let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
      bytes.append(0x30 + UInt8(truncatingIfNeeded: digit))
      rest = quotient
    } while rest > 0
    bytes[start...].reverse()
  }

  /// Appends a string's content.
  ///
  /// Runs that need no escape are copied as a whole; most strings are one run.
  private static func appendEscaped(_ source: ByteView, to bytes: inout [UInt8]) {
    var start = 0
    var at = 0
    while at < source.count {
      if at &+ 8 <= source.count,
        isPlain(source.loadUnaligned(fromByteOffset: at, as: UInt64.self))
      {
        at &+= 8
        continue
      }
      let byte = source[at]
      if byte >= 0x20 && byte != 0x22 && byte != 0x5C {
        at &+= 1
        continue
      }
      bytes.append(contentsOf: source[start..<at])
      appendEscape(byte, to: &bytes)
      at &+= 1
      start = at
    }
    bytes.append(contentsOf: source[start..<source.count])
  }

  /// Whether none of eight bytes is a control character, a quote or a backslash.
  ///
  /// Each term sets the top bit of the bytes below its bound; bytes from 0x80 are masked out. A
  /// borrow can set a wrong bit only above a byte whose bit is set rightly, so the answer is exact.
  private static func isPlain(_ word: UInt64) -> Bool {
    JSONStringScanner.escapeBits(word) & 0x8080_8080_8080_8080 == 0
  }

  private static func appendEscape(_ byte: UInt8, to bytes: inout [UInt8]) {
    let short: UInt8? =
      switch byte {
      case 0x22, 0x5C: byte
      case 0x08: UInt8(ascii: "b")
      case 0x09: UInt8(ascii: "t")
      case 0x0A: UInt8(ascii: "n")
      case 0x0C: UInt8(ascii: "f")
      case 0x0D: UInt8(ascii: "r")
      default: nil
      }
    bytes.append(0x5C)
    if let short {
      bytes.append(short)
    } else {
      let digits = Array("0123456789abcdef".utf8)
      bytes.append(contentsOf: "u00".utf8)
      bytes.append(digits[Int(byte >> 4)])
      bytes.append(digits[Int(byte & 15)])
    }
  }
}

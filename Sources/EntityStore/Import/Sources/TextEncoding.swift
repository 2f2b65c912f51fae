/// The encoding of a file's characters.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum TextEncoding: Sendable, Hashable {
  /// UTF-8, UTF-16 or UTF-32, detected from the first four bytes of the text.
  ///
  /// The detection uses a byte order mark, or the zero bytes of ASCII characters. For UTF-8 text
  /// with a zero byte among the first four, use ``utf8``.
  case automatic
  /// UTF-8.
  case utf8
  /// UTF-16, with the less significant byte first.
  case utf16LittleEndian
  /// UTF-16, with the more significant byte first.
  case utf16BigEndian
  /// ISO 8859-1: each byte is the scalar with its number.
  case latin1
  /// Windows code page 1252: Latin-1 with letters and signs instead of control characters.
  case windows1252
}

/// Converts a stream of bytes in another encoding to UTF-8.
///
/// Invalid bytes become a byte that is invalid in UTF-8, so that the later check of the text
/// refuses only the record that contains them.
struct TextDecoder: Sendable {
  /// A byte that occurs in no UTF-8 text.
  private static let invalid: UInt8 = 0xFF
  /// The scalars of the bytes 0x80 to 0x9F; 0 for a byte without one.
  private static let windows: [UInt32] = [
    0x20AC, 0, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039,
    0x0152, 0, 0x017D, 0, 0, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC,
    0x2122, 0x0161, 0x203A, 0x0153, 0, 0x017E, 0x0178,
  ]

  private var encoding: TextEncoding
  /// Whether a unit has four bytes; ``encoding`` determines their order.
  private var isUTF32 = false
  /// The bytes not decoded yet: a part of a character, or of a byte order mark.
  private var rest: [UInt8] = []
  /// The first half of a surrogate pair, when the second is still missing.
  private var half: UInt32?

  init(_ encoding: TextEncoding) { self.encoding = encoding }

  /// Whether the text is already UTF-8, so that its bytes need no decoding.
  var isPassing: Bool { encoding == .utf8 && rest.isEmpty }

  /// Appends `bytes` to `text` as UTF-8.
  mutating func decode(_ bytes: some Collection<UInt8>, to text: inout [UInt8]) {
    if encoding == .utf8 { return text.append(contentsOf: bytes) }
    rest.append(contentsOf: bytes)
    if encoding == .automatic {
      guard rest.count >= 4 else { return }
      detect()
    }
    decodeRest(to: &text)
  }

  /// Determines the encoding from the first four bytes, or from a shorter byte order mark.
  ///
  /// Neither a column name nor JSON begins with zero bytes, or with characters that alternate with
  /// zero bytes.
  private mutating func detect() {
    let isZero = rest.prefix(4).map { $0 == 0 }
    let isLittle = rest.starts(with: [0xFF, 0xFE])
    isUTF32 =
      rest.starts(with: [0xFF, 0xFE, 0, 0]) || rest.starts(with: [0, 0, 0xFE, 0xFF])
      || isZero == [false, true, true, true] || isZero == [true, true, true, false]
    if isLittle || isZero == [false, true, false, true] || isZero == [false, true, true, true] {
      encoding = .utf16LittleEndian
    } else if isUTF32 || rest.starts(with: [0xFE, 0xFF]) || isZero == [true, false, true, false] {
      encoding = .utf16BigEndian
    } else {
      encoding = .utf8
    }
  }

  /// Appends the remaining bytes at the end of the text.
  mutating func finish(to text: inout [UInt8]) {
    if encoding == .automatic { detect() }
    decodeRest(to: &text)
    if half != nil || !rest.isEmpty { text.append(Self.invalid) }
    half = nil
    rest = []
  }

  private mutating func decodeRest(to text: inout [UInt8]) {
    switch encoding {
    case .automatic, .utf8: text.append(contentsOf: rest)
    case .latin1: for byte in rest { Self.append(UInt32(byte), to: &text) }
    case .windows1252:
      for byte in rest {
        let scalar = (0x80...0x9F).contains(byte) ? Self.windows[Int(byte) - 0x80] : UInt32(byte)
        if scalar == 0 && byte != 0 {
          text.append(Self.invalid)
        } else {
          Self.append(scalar, to: &text)
        }
      }
    case .utf16LittleEndian, .utf16BigEndian:
      let isLittle = encoding == .utf16LittleEndian
      if isUTF32 {
        decodeUTF32(isLittle: isLittle, to: &text)
        return
      }
      let whole = rest.count & ~1
      for at in stride(from: 0, to: whole, by: 2) {
        let (low, high) = isLittle ? (rest[at], rest[at + 1]) : (rest[at + 1], rest[at])
        take(UInt32(high) << 8 | UInt32(low), to: &text)
      }
      rest.removeSubrange(..<whole)
      return
    }
    rest.removeAll(keepingCapacity: true)
  }

  private mutating func decodeUTF32(isLittle: Bool, to text: inout [UInt8]) {
    let whole = rest.count & ~3
    for at in stride(from: 0, to: whole, by: 4) {
      let bytes = rest[at..<(at + 4)]
      let scalar = (isLittle ? bytes.reversed() : Array(bytes)).reduce(UInt32(0)) {
        $0 << 8 | UInt32($1)
      }
      if UnicodeScalar(scalar) == nil {
        text.append(Self.invalid)
      } else {
        Self.append(scalar, to: &text)
      }
    }
    rest.removeSubrange(..<whole)
  }

  /// Decodes one unit of UTF-16.
  private mutating func take(_ unit: UInt32, to text: inout [UInt8]) {
    if let first = half {
      half = nil
      if (0xDC00...0xDFFF).contains(unit) {
        Self.append(0x10000 + (first & 0x3FF) << 10 + (unit & 0x3FF), to: &text)
        return
      }
      text.append(Self.invalid)
    }
    switch unit {
    case 0xD800...0xDBFF: half = unit
    case 0xDC00...0xDFFF: text.append(Self.invalid)
    default: Self.append(unit, to: &text)
    }
  }

  private static func append(_ scalar: UInt32, to text: inout [UInt8]) {
    if scalar < 0x80 {
      text.append(UInt8(truncatingIfNeeded: scalar))
    } else if let encoded = UnicodeScalar(scalar).flatMap({ UTF8.encode($0) }) {
      text.append(contentsOf: encoded)
    }
  }
}

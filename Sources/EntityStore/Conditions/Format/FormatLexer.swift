internal import LodestoreBytes

/// Splits a format string into tokens, by its UTF-8 bytes.
struct FormatLexer {
  let text: ByteView
  var at = 0

  init(_ text: ByteView) { self.text = text }

  /// A malformed token, and a description of the expected one.
  struct Fault: Error {
    var start: Int
    var end: Int
    var expected: StaticString
  }

  mutating func next() throws(Fault) -> FormatToken {
    skipSpace()
    guard at < text.count else { return FormatToken(kind: .end, start: at, end: at) }
    let start = at
    let kind = try kind(text[at])
    return FormatToken(kind: kind, start: start, end: at)
  }

  /// Returns the byte `distance` after the current one, or 0 beyond the end.
  @inline(__always)
  func peek(_ distance: Int = 0) -> UInt8 {
    let offset = at &+ distance
    return offset < text.count ? text[offset] : 0
  }

  mutating func skipSpace() {
    while at < text.count, text[at] == 0x20 || text[at] &- 0x09 <= 4 { at &+= 1 }
  }

  private mutating func kind(_ byte: UInt8) throws(Fault) -> FormatToken.Kind {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "_"), 0x80...:
      return try word()
    case UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
    case UInt8(ascii: "\""), UInt8(ascii: "'"): return try string(quote: byte)
    case UInt8(ascii: "."):
      if isDigit(peek(1)) { return try number() }
      return one(.period)
    case UInt8(ascii: "#"): return try marked(.quotedWord, "a word after '#'")
    case UInt8(ascii: "$"): return try marked(.variable, "a name after '$'")
    case UInt8(ascii: "@"): return try marked(.collectionOperator, "a word after '@'")
    case UInt8(ascii: "("): return one(.openParenthesis)
    case UInt8(ascii: ")"): return one(.closeParenthesis)
    case UInt8(ascii: "["): return one(.openBracket)
    case UInt8(ascii: "]"): return one(.closeBracket)
    case UInt8(ascii: "{"): return one(.openBrace)
    case UInt8(ascii: "}"): return one(.closeBrace)
    case UInt8(ascii: ","): return one(.comma)
    case UInt8(ascii: ":"): return one(.colon)
    case UInt8(ascii: "+"): return one(.plus)
    case UInt8(ascii: "-"): return one(.minus)
    case UInt8(ascii: "/"): return one(.over)
    case UInt8(ascii: "%"): return one(.percent)
    case UInt8(ascii: "*"):
      if peek(1) == byte {
        at &+= 2
        return .power
      }
      return one(.times)
    case UInt8(ascii: "&"), UInt8(ascii: "|"):
      if peek(1) == byte {
        at &+= 2
        return byte == UInt8(ascii: "&") ? .and : .or
      }
      return one(byte == UInt8(ascii: "&") ? .bitAnd : .bitOr)
    case UInt8(ascii: "!") where peek(1) != UInt8(ascii: "="): return one(.not)
    case UInt8(ascii: "="), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "!"):
      return comparison()
    default: return one(.unknown)
    }
  }

  private mutating func one(_ kind: FormatToken.Kind) -> FormatToken.Kind {
    at &+= 1
    return kind
  }

  /// Reads all comparison signs in a row, so that `===` is one error, not an operator and an error.
  private mutating func comparison() -> FormatToken.Kind {
    let start = at
    while peek() == 0x21 || peek() &- 0x3C <= 2 { at &+= 1 }
    let second = at &- start == 2 ? text[start &+ 1] : 0
    guard at &- start <= 2 else { return .unknown }
    switch (text[start], second) {
    case (UInt8(ascii: "="), 0), (UInt8(ascii: "="), UInt8(ascii: "=")): return .comparison(.equal)
    case (UInt8(ascii: "!"), UInt8(ascii: "=")), (UInt8(ascii: "<"), UInt8(ascii: ">")):
      return .comparison(.notEqual)
    case (UInt8(ascii: "<"), 0): return .comparison(.less)
    case (UInt8(ascii: ">"), 0): return .comparison(.greater)
    case (UInt8(ascii: "<"), UInt8(ascii: "=")), (UInt8(ascii: "="), UInt8(ascii: "<")):
      return .comparison(.lessOrEqual)
    case (UInt8(ascii: ">"), UInt8(ascii: "=")), (UInt8(ascii: "="), UInt8(ascii: ">")):
      return .comparison(.greaterOrEqual)
    default: return .unknown
    }
  }
}

// MARK: - Words

extension FormatLexer {
  private mutating func word() throws(Fault) -> FormatToken.Kind {
    let start = at
    try name()
    var end = at
    if end &- start == 3, peek() == UInt8(ascii: "-") {
      // `UTI-EQUALS` and `UTI-CONFORMS-TO`, of 15 bytes, are the only operators with hyphens. Any
      // other hyphen after three letters is a minus sign.
      while at &- start < 16, Self.isWordByte(peek()) || peek() == UInt8(ascii: "-") { at &+= 1 }
      if FormatKeyword(text[start..<at]) != nil { end = at }
      at = end
    }
    return FormatKeyword(text[start..<end]).map { .keyword($0) } ?? .word
  }

  private mutating func marked(
    _ kind: FormatToken.Kind, _ expected: StaticString
  ) throws(Fault) -> FormatToken.Kind {
    let start = at
    at &+= 1
    guard at < text.count, Self.isWordByte(text[at]) || text[at] >= 0x80, !isDigit(text[at])
    else { throw Fault(start: start, end: at, expected: expected) }
    try name()
    return kind
  }

  /// Reads letters, digits and underscores, and beyond ASCII the characters that Unicode allows in
  /// identifiers.
  private mutating func name() throws(Fault) {
    let start = at
    while at < text.count {
      if Self.isWordByte(text[at]) {
        at &+= 1
        continue
      }
      guard text[at] >= 0x80 else { return }
      let (scalar, length) = scalar()
      guard at == start ? Self.isFirst(scalar) : Self.isLater(scalar) else {
        if at > start { return }
        at &+= length
        throw Fault(
          start: start, end: at, expected: "a name, a number, an operator or straight quotes")
      }
      at &+= length
    }
  }

  /// Returns the scalar that starts at the current byte.
  ///
  /// The bytes are those of a `String`, so they are valid UTF-8.
  private func scalar() -> (Unicode.Scalar, length: Int) {
    let first = UInt32(text[at])
    let length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
    var value = first & (0x7F >> UInt32(length))
    for distance in 1..<length { value = value << 6 | UInt32(peek(distance) & 0x3F) }
    return (Unicode.Scalar(value) ?? "\u{FFFD}", length)
  }

  static func isWordByte(_ byte: UInt8) -> Bool {
    (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || byte == UInt8(ascii: "_")
  }

  private static func isFirst(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.isXIDStart || scalar == "_"
  }

  private static func isLater(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.isXIDContinue }

  /// Returns whether `name` can be written without quotes, if it is not a keyword.
  static func isName(_ name: String) -> Bool {
    // Most names are ASCII and are checked by their bytes, because the properties of scalars are
    // slow.
    if name.utf8.allSatisfy(isWordByte), let first = name.utf8.first { return first &- 0x30 >= 10 }
    let scalars = name.unicodeScalars
    guard let first = scalars.first, isFirst(first) else { return false }
    return scalars.allSatisfy(isLater)
  }
}

// MARK: - Literals

extension FormatLexer {
  private func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

  private mutating func number() throws(Fault) -> FormatToken.Kind {
    let start = at
    let base = peek() == UInt8(ascii: "0") ? peek(1) | 0x20 : 0
    let isOtherBase =
      base == UInt8(ascii: "x") || base == UInt8(ascii: "o") || base == UInt8(ascii: "b")
    var isWellFormed = true
    if isOtherBase {
      at &+= 2
      isWellFormed = at < text.count && Self.isWordByte(text[at])
    } else {
      skipDigits()
      if peek() == UInt8(ascii: ".") {
        at &+= 1
        isWellFormed = isDigit(peek())
        skipDigits()
      }
      if peek() | 0x20 == UInt8(ascii: "e") {
        at &+= 1
        if peek() == UInt8(ascii: "+") || peek() == UInt8(ascii: "-") { at &+= 1 }
        isWellFormed = isWellFormed && isDigit(peek())
        skipDigits()
      }
    }
    let end = at
    // Letters, and wrong digits of other bases, belong to the malformed token.
    while at < text.count, Self.isWordByte(text[at]) || text[at] >= 0x80 { at &+= 1 }
    guard isWellFormed, isOtherBase || at == end else {
      throw Fault(start: start, end: at, expected: "a number such as 12, 1.5, 2e10 or 0x1F")
    }
    return .number
  }

  private mutating func skipDigits() {
    while at < text.count, isDigit(text[at]) { at &+= 1 }
  }

  private mutating func string(quote: UInt8) throws(Fault) -> FormatToken.Kind {
    let start = at
    var hasEscapes = false
    at &+= 1
    while at < text.count {
      let byte = text[at]
      if byte == quote {
        at &+= 1
        return .string(hasEscapes: hasEscapes)
      }
      if byte == UInt8(ascii: "\\") {
        hasEscapes = true
        at &+= 1
      }
      at &+= 1
    }
    at = text.count
    throw Fault(start: start, end: at, expected: "a string that ends with its quote")
  }
}

internal import LodestoreFormat

/// A pattern of LIKE: `?` stands for one `Character`, `*` for any number, also none; a backslash
/// takes the meaning from the one after it.
///
/// It is matched with the whole text in time O(pattern × text), without recursion.
struct LikePattern: Sendable {
  static let longest = 1_000

  fileprivate enum Kind: UInt8, Sendable { case one, many, literal }

  fileprivate struct Token: Sendable {
    var kind: Kind
    /// Of the character in ``characters``.
    var start: Int32 = 0
    var end: Int32 = 0
  }

  private var tokens: [Token] = []
  /// The UTF-8 of all literal characters, folded.
  private var characters: [UInt8] = []
  /// Only the options and the way to fold.
  private let folding: TextNeedle

  init(_ pattern: String, options: TextOptions) throws(PatternError) {
    let length = pattern.utf8.count
    guard length <= Self.longest else {
      throw PatternError(
        "a pattern of LIKE has \(length) bytes, at most \(Self.longest) are allowed")
    }
    folding = TextNeedle("", options)
    // Literal characters are folded together, as folding may join and part them.
    var literal = ""
    var isEscaped = false
    for character in pattern {
      switch character {
      case _ where isEscaped:
        literal.append(character)
        isEscaped = false
      case "\\": isEscaped = true
      case "?":
        append(literal: &literal)
        tokens.append(Token(kind: .one))
      case "*":
        append(literal: &literal)
        if tokens.last?.kind != .many { tokens.append(Token(kind: .many)) }
      default: literal.append(character)
      }
    }
    guard !isEscaped else {
      throw PatternError(
        "the backslash at the end escapes nothing, write two for one backslash", at: length - 1)
    }
    append(literal: &literal)
  }

  private mutating func append(literal: inout String) {
    var folded: [UInt8] = []
    Array(literal.utf8).withUnsafeBytes {
      TextFolding.folded($0, options: folding.options, to: &folded)
    }
    for character in String(decoding: folded, as: UTF8.self) {
      let start = Int32(truncatingIfNeeded: characters.count)
      characters += character.utf8
      let end = Int32(truncatingIfNeeded: characters.count)
      tokens.append(Token(kind: .literal, start: start, end: end))
    }
    literal = ""
  }

  func admits(_ utf8: UnsafeRawBufferPointer) -> Bool {
    characters.withUnsafeBytes { literals in
      if folding.isFolding ? utf8.isASCII : utf8.isPlainText {
        let text = PlainCharacters(utf8: utf8, isCaseless: folding.isCaseless)
        return admits(text, literals)
      }
      return folding.withNormal(utf8) { normal in
        var text = String(decoding: normal, as: UTF8.self)
        var boundaries = CharacterBoundaries(text)
        var offsets = [0]
        while let next = boundaries.next() { offsets.append(next) }
        return text.withUTF8 {
          let bytes = UnsafeRawBufferPointer($0)
          return admits(SegmentedCharacters(utf8: bytes, offsets: offsets), literals)
        }
      }
    }
  }

  @inline(__always)
  private func admits(_ text: some CharacterSteps, _ literals: UnsafeRawBufferPointer) -> Bool {
    var token = 0
    var place = 0
    // What to go back to: the last `*`, and the place up to which it stands for the text.
    var star: (token: Int, place: Int)?
    while place < text.end {
      let next = text.place(after: place)
      if token < tokens.count {
        let current = tokens[token]
        switch current.kind {
        case .many:
          star = (token, place)
          token += 1
          continue
        case .literal where !text.isLiteral(place..<next, literals, current.start, current.end):
          break
        case .one, .literal:
          token += 1
          place = next
          continue
        }
      }
      guard let (starToken, starPlace) = star else { return false }
      place = text.place(after: starPlace)
      star = (starToken, place)
      token = starToken + 1
    }
    return tokens[token...].allSatisfy { $0.kind == .many }
  }
}

/// Text as a sequence of characters, with places in it.
private protocol CharacterSteps {
  var end: Int { get }
  /// `place` must be before the end.
  func place(after place: Int) -> Int
  func isLiteral(
    _ places: Range<Int>, _ literals: UnsafeRawBufferPointer, _ start: Int32, _ end: Int32
  ) -> Bool
}

/// Text with scalars below U+0300 only, whose places are offsets.
private struct PlainCharacters: CharacterSteps {
  let utf8: UnsafeRawBufferPointer
  let isCaseless: Bool

  var end: Int { utf8.count }

  @inline(__always)
  func place(after place: Int) -> Int {
    let byte = utf8[place]
    let isLong = byte >= 0xc0 || (byte == 0x0d && place &+ 1 < end && utf8[place &+ 1] == 0x0a)
    return min(end, place &+ (isLong ? 2 : 1))
  }

  @inline(__always)
  func isLiteral(
    _ places: Range<Int>, _ literals: UnsafeRawBufferPointer, _ start: Int32, _ end: Int32
  ) -> Bool {
    guard places.count == Int(end &- start) else { return false }
    for index in 0..<places.count {
      let byte = utf8[places.lowerBound &+ index]
      if (isCaseless ? ASCIIWord.lowercased(byte) : byte) != literals[Int(start) &+ index] {
        return false
      }
    }
    return true
  }
}

/// Any text, whose places are indices of its boundaries.
private struct SegmentedCharacters: CharacterSteps {
  let utf8: UnsafeRawBufferPointer
  let offsets: [Int]

  var end: Int { offsets.count - 1 }

  func place(after place: Int) -> Int { place + 1 }

  func isLiteral(
    _ places: Range<Int>, _ literals: UnsafeRawBufferPointer, _ start: Int32, _ end: Int32
  ) -> Bool {
    let bytes = offsets[places.lowerBound]..<offsets[places.upperBound]
    return UnsafeRawBufferPointer(rebasing: utf8[bytes]).isEqual(
      to: UnsafeRawBufferPointer(rebasing: literals[Int(start)..<Int(end)]))
  }
}

internal import LodestoreBytes
internal import LodestoreFormat

/// A pattern of LIKE: `?` matches one `Character`, `*` any number of them, including none.
///
/// A backslash makes the next character a literal.
///
/// The whole text is matched in time O(pattern × text), without recursion.
struct LikePattern: Sendable {
  static let longest = 1_000

  fileprivate enum Kind: UInt8, Sendable { case one, many, literal }

  fileprivate struct Token: Sendable {
    var kind: Kind
    /// The range of the literal character in ``characters``.
    var start: Int32 = 0
    var end: Int32 = 0
  }

  private var tokens: [Token] = []
  /// The UTF-8 bytes of all literal characters, folded.
  private var characters: [UInt8] = []
  /// The literals between stars, including empty ones at the ends, if they can be searched for as
  /// bytes.
  ///
  /// A search for bytes requires that there is no `?`, and that all literals are ASCII without line
  /// ends.
  private var pieces: [Token] = []
  /// An empty needle, used for its options and its folding.
  private let folding: TextNeedle

  init(_ pattern: String, options: TextOptions) throws(PatternError) {
    let length = pattern.utf8.count
    guard length <= Self.longest else {
      throw PatternError(
        "a pattern of LIKE has \(length) bytes, at most \(Self.longest) are allowed")
    }
    folding = TextNeedle("", options)
    // Adjacent literal characters are folded together, since folding may join or separate
    // characters.
    var literal = ""
    var isEscaped = false
    var hasPercent = false
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
      default:
        hasPercent = hasPercent || character == "%"
        literal.append(character)
      }
    }
    guard !isEscaped else {
      throw PatternError(
        "the backslash at the end escapes nothing, write two for one backslash", at: length - 1)
    }
    append(literal: &literal)
    guard !hasPercent || tokens.contains(where: { $0.kind != .literal }) else {
      throw PatternError(
        "'%' is no wildcard of LIKE: write * for any characters and ? for one, or \\% for the sign")
    }
    findPieces()
  }

  private mutating func findPieces() {
    guard tokens.allSatisfy({ $0.kind != .one }),
      characters.allSatisfy({ $0 < 0x80 && $0 != 0x0a && $0 != 0x0d })
    else { return }
    var piece = Token(kind: .literal)
    for token in tokens {
      if token.kind == .many {
        pieces.append(piece)
        piece.start = piece.end
      } else {
        piece.end = token.end
      }
    }
    pieces.append(piece)
  }

  private mutating func append(literal: inout String) {
    var folded: [UInt8] = []
    Array(literal.utf8)._withBytes { TextFolding.folded($0, options: folding.options, to: &folded) }
    for character in String(decoding: folded, as: UTF8.self) {
      let start = Int32(truncatingIfNeeded: characters.count)
      characters += character.utf8
      let end = Int32(truncatingIfNeeded: characters.count)
      tokens.append(Token(kind: .literal, start: start, end: end))
    }
    literal = ""
  }

  func admits(_ utf8: ByteView) -> Bool {
    characters._withBytes { literals in
      if folding.isFolding ? utf8.isASCII : utf8.isPlainText {
        if pieces.count > 1 { return hasPieces(utf8, literals) }
        let text = PlainCharacters(utf8: utf8, isCaseless: folding.isCaseless)
        return admits(text, literals)
      }
      return folding.withNormal(utf8) { normal in
        var text = String(decoding: normal, as: UTF8.self)
        var boundaries = CharacterBoundaries(text)
        var offsets = [0]
        while let next = boundaries.next() { offsets.append(next) }
        return text.withUTF8 {
          let bytes = ByteView($0)
          return admits(SegmentedCharacters(utf8: bytes, offsets: offsets), literals)
        }
      }
    }
  }

  /// Returns whether the pieces occur in order.
  ///
  /// The first piece must be at the start and the last at the end. Any other piece is taken at its
  /// first place after the previous piece.
  private func hasPieces(_ text: ByteView, _ literals: ByteView) -> Bool {
    let last = pieces.count - 1
    let (head, tail) = (literals.piece(pieces[0]), literals.piece(pieces[last]))
    let end = text.count - tail.count
    guard head.count <= end,
      folding.isEqual(head, text[..<head.count]),
      folding.isEqual(tail, text[end...])
    else { return false }
    let middle = text[..<end]
    var from = head.count
    for index in 1..<max(1, last) {
      let piece = literals.piece(pieces[index])
      let hit =
        folding.isCaseless
        ? ByteSearch.first(piece, in: middle, from: from, isCaseless: true)
        : ByteSearch.first(piece, in: middle, from: from)
      guard let hit else { return false }
      from = hit + piece.count
    }
    return true
  }

  @inline(__always)
  private func admits(_ text: some CharacterSteps, _ literals: ByteView) -> Bool {
    var token = 0
    var position = 0
    // The state to backtrack to: the last `*`, and the position in the text up to which it matches.
    var star: (token: Int, position: Int)?
    while position < text.end {
      let next = text.position(after: position)
      if token < tokens.count {
        let current = tokens[token]
        switch current.kind {
        case .many:
          star = (token, position)
          token += 1
          continue
        case .literal where !text.isLiteral(position..<next, literals, current.start, current.end):
          break
        case .one, .literal:
          token += 1
          position = next
          continue
        }
      }
      guard let (starToken, starPosition) = star else { return false }
      position = text.position(after: starPosition)
      star = (starToken, position)
      token = starToken + 1
    }
    return tokens[token...].allSatisfy { $0.kind == .many }
  }
}

extension ByteView {
  fileprivate func piece(_ token: LikePattern.Token) -> ByteView {
    self[Int(token.start)..<Int(token.end)]
  }
}

extension TextNeedle {
  /// Returns whether ASCII `text` equals `literal`, which is folded and of the same length.
  fileprivate func isEqual(_ literal: ByteView, _ text: ByteView) -> Bool {
    isCaseless
      ? TextOrder.asciiOrder(text, literal, isCaseless: true) == 0 : text.isEqual(to: literal)
  }
}

/// A text as a sequence of characters with positions.
private protocol CharacterSteps {
  var end: Int { get }
  /// Returns the position after `position`, which must be before the end.
  func position(after position: Int) -> Int
  func isLiteral(_ range: Range<Int>, _ literals: ByteView, _ start: Int32, _ end: Int32) -> Bool
}

/// A text of scalars below U+0300, whose positions are UTF-8 offsets.
private struct PlainCharacters: CharacterSteps {
  let utf8: ByteView
  let isCaseless: Bool

  var end: Int { utf8.count }

  @inline(__always)
  func position(after position: Int) -> Int {
    let byte = utf8[position]
    let isLong =
      byte >= 0xc0 || (byte == 0x0d && position &+ 1 < end && utf8[position &+ 1] == 0x0a)
    return min(end, position &+ (isLong ? 2 : 1))
  }

  @inline(__always)
  func isLiteral(_ range: Range<Int>, _ literals: ByteView, _ start: Int32, _ end: Int32) -> Bool {
    guard range.count == Int(end &- start) else { return false }
    for index in 0..<range.count {
      let byte = utf8[range.lowerBound &+ index]
      if (isCaseless ? ASCIIWord.lowercased(byte) : byte) != literals[Int(start) &+ index] {
        return false
      }
    }
    return true
  }
}

/// Any text, whose positions are indices of its character boundaries.
private struct SegmentedCharacters: CharacterSteps {
  let utf8: ByteView
  let offsets: [Int]

  var end: Int { offsets.count - 1 }

  func position(after position: Int) -> Int { position + 1 }

  func isLiteral(_ range: Range<Int>, _ literals: ByteView, _ start: Int32, _ end: Int32) -> Bool {
    let bytes = offsets[range.lowerBound]..<offsets[range.upperBound]
    return utf8[bytes].isEqual(to: literals[Int(start)..<Int(end)])
  }
}

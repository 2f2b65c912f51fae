import LodestoreBytes

extension TextAnalyzer {
  /// The kind of a byte of ASCII: a digit of ``kinds``, whose bits can be combined.
  private enum Kind {
    static let separator = UInt8(ascii: "0")
    static let small = UInt8(ascii: "1")
    static let capital = UInt8(ascii: "2")
    static let digit = UInt8(ascii: "4")
    /// The byte can join the letters or digits on both sides.
    static let connector = UInt8(ascii: "8")
  }

  /// The kind of each byte below 128.
  private static let kinds: StaticString = """
    0000000000000000000000000000000000000008000088804444444444880000\
    0222222222222222222222222220000801111111111111111111111111100000
    """

  /// Takes the separators or the plain word at the offset.
  ///
  /// A plain word is in ASCII, has one part, and nothing joins it to its neighbours. Returns false
  /// if something else is at the offset, which ``takeSegment()`` must take.
  mutating func takeASCII() -> Bool {
    let kinds = ByteView(Self.kinds)
    let count = text.count
    var end = offset
    var kind = Kind.separator
    repeat {
      let byte = text[end]
      guard byte < 0x80 else { break }
      kind = kinds[Int(byte)]
      guard kind == Kind.separator || kind == Kind.connector else { break }
      end &+= 1
    } while end < count
    guard end == offset else {
      offset = end
      return true
    }
    guard text[end] < 0x80 else { return false }
    let start = used
    let limit = min(count, offset &+ TextAnalysis.partLimit)
    let first = kind
    var others: UInt8 = 0
    append(text[end] | (first == Kind.capital ? 0x20 : 0))
    end &+= 1
    while end < limit {
      let byte = text[end]
      guard byte < 0x80 else { break }
      kind = kinds[Int(byte)]
      guard kind != Kind.separator, kind != Kind.connector else { break }
      others |= kind
      memory[used] = byte | (kind == Kind.capital ? 0x20 : 0)
      used &+= 1
      end &+= 1
    }
    let isOnePart =
      others == 0 || others == first || (first == Kind.capital && others == Kind.small)
    guard isOnePart, isSeparated(at: end, kinds) else {
      used = start
      return false
    }
    add(start..<used, .part, at: position, offset..<end)
    position &+= 1
    word &+= 1
    offset = end
    return true
  }

  /// Whether the word that ends here is joined to nothing after it.
  @inline(__always)
  private func isSeparated(at end: Int, _ kinds: ByteView) -> Bool {
    guard end < text.count else { return true }
    let byte = text[end]
    guard byte < 0x80 else { return false }
    let kind = kinds[Int(byte)]
    if kind == Kind.separator { return true }
    guard kind == Kind.connector else { return false }
    guard end &+ 1 < text.count else { return true }
    let next = text[end &+ 1]
    guard next < 0x80, next != UInt8(ascii: "_") else { return false }
    return kinds[Int(next)] == Kind.separator || kinds[Int(next)] == Kind.connector
  }
}

public import LodestoreBytes

extension StoredText {
  /// The number of UTF-8 bytes.
  @inlinable public var utf8Count: Int { utf8.count }

  /// Whether the text has no characters.
  @inlinable public var isEmpty: Bool { utf8.isEmpty }

  /// A copy of the text that owns its bytes.
  @inlinable public var string: String { String(decoding: utf8, as: UTF8.self) }

  /// Calls `body` with the UTF-8 bytes, which are valid until it returns.
  @inlinable
  public func withUTF8<R, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try body(utf8.unsafeBytes)
  }

  /// Whether the texts are canonically equivalent, as with `String`.
  @inlinable
  public static func == (text: borrowing StoredText, other: String) -> Bool {
    var other = other
    return other.withUTF8 { areEquivalent(text.utf8, ByteView($0)) }
  }

  /// Whether the texts are not canonically equivalent, as with `String`.
  @inlinable
  public static func != (text: borrowing StoredText, other: String) -> Bool { !(text == other) }

  /// Whether the texts are canonically equivalent, as with `String`.
  @inlinable
  public static func == (text: borrowing StoredText, other: borrowing StoredText) -> Bool {
    areEquivalent(text.utf8, other.utf8)
  }

  /// Whether the texts are not canonically equivalent, as with `String`.
  @inlinable
  public static func != (text: borrowing StoredText, other: borrowing StoredText) -> Bool {
    !(text == other)
  }

  @usableFromInline
  static func areEquivalent(_ a: ByteView, _ b: ByteView) -> Bool {
    let common = min(a.count, b.count)
    var index = 0
    while index < common, a[index] == b[index] { index += 1 }
    if index == a.count, index == b.count { return true }
    // An ASCII scalar keeps its value and its place in every normal form. So if the first
    // difference is between two of them, or between one and the end, the texts are not equivalent.
    let first = index < a.count ? a[index] : 0
    let second = index < b.count ? b[index] : 0
    if first < 0x80, second < 0x80 { return false }
    return String(decoding: a, as: UTF8.self) == String(decoding: b, as: UTF8.self)
  }

  /// Returns whether the text begins with `prefix`, compared by characters as with `String`.
  public func hasPrefix(_ prefix: String) -> Bool {
    // One more byte than the prefix is checked, since it may belong to the prefix's last character.
    let beginning = utf8.prefix(prefix.utf8.count + 1)
    guard Self.isPlain(beginning), prefix.utf8.allSatisfy({ $0 < 0x80 && $0 != 0x0d }) else {
      return string.hasPrefix(prefix)
    }
    return utf8.starts(with: prefix.utf8)
  }

  /// Returns whether each byte is certainly a character; a carriage return may not be.
  private static func isPlain(_ utf8: ByteView) -> Bool {
    utf8.allSatisfy { $0 < 0x80 && $0 != 0x0d }
  }
}

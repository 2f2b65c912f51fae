internal import LodestoreBytes
internal import LodestoreFormat

/// The order of texts as by Swift's `<`, or the order of the texts folded by options.
///
/// Texts are compared by their scalars in NFC, like index keys.
enum TextOrder {
  /// Returns a negative number, zero or a positive number if `a` is before, equal to or after `b`.
  static func compare(_ a: ByteView, _ b: ByteView, options: TextOptions) -> Int {
    if options.contains(.normalized) { return compareKeys(a, b) }
    let isCaseless = options.contains(.caseInsensitive)
    if let order = asciiOrder(a, b, isCaseless: isCaseless) { return order }
    var (left, right) = ([UInt8](), [UInt8]())
    TextFolding.folded(a, options: options, to: &left)
    TextFolding.folded(b, options: options, to: &right)
    return left._withBytes { left in right._withBytes { compareKeys(left, $0) } }
  }

  /// Appends bytes that are ordered like the texts compared with `options`.
  static func appendSortKey(of utf8: ByteView, options: TextOptions, to bytes: inout [UInt8]) {
    TextFolding.folded(utf8, options: options, to: &bytes)
  }

  /// Returns the order of the texts if the bytes around the first difference are ASCII, which
  /// decides the order; otherwise `nil`.
  ///
  /// A scalar before ASCII, or at the end, composes with nothing after it. ASCII composes with
  /// nothing before it.
  static func asciiOrder(_ a: ByteView, _ b: ByteView, isCaseless: Bool) -> Int? {
    let length = min(a.count, b.count)
    var offset = 0
    while length &- offset >= 8 {
      let left = ASCIIWord.load(a, at: offset)
      let right = ASCIIWord.load(b, at: offset)
      guard (left | right) & ASCIIWord.highBits == 0 else { break }
      let isSame =
        isCaseless
        ? ASCIIWord.lowercased(left) == ASCIIWord.lowercased(right) : left == right
      if !isSame { break }
      offset &+= 8
    }
    while offset < length {
      var (left, right) = (a[offset], b[offset])
      if (left | right) >= 0x80 { return nil }
      if isCaseless { (left, right) = (ASCIIWord.lowercased(left), ASCIIWord.lowercased(right)) }
      offset &+= 1
      if left != right {
        return isASCIIOrEnd(a, offset) && isASCIIOrEnd(b, offset) ? (left < right ? -1 : 1) : nil
      }
    }
    guard isASCIIOrEnd(a, offset), isASCIIOrEnd(b, offset) else { return nil }
    return (a.count - b.count).signum()
  }

  @inline(__always)
  private static func isASCIIOrEnd(_ text: ByteView, _ offset: Int) -> Bool {
    offset >= text.count || text[offset] < 0x80
  }
}

internal import LodestoreBytes
internal import LodestoreFormat

/// The constant side of a text comparison, folded and classified once.
struct TextNeedle: Sendable {
  let options: TextOptions
  /// The constant folded by the options, in NFC unless the option is `[n]`.
  let bytes: [UInt8]
  let isPlain: Bool
  let isASCII: Bool
  /// Whether no other bytes are canonically equivalent to the constant.
  ///
  /// True for ASCII without K, ; and \`, to which the Kelvin sign, the Greek question mark and the
  /// Greek varia are equivalent.
  let hasOneSpelling: Bool
  let isBytewise: Bool
  let isCaseless: Bool
  let isFolding: Bool

  init(_ text: String, _ options: TextOptions) {
    self.options = options
    isBytewise = options.contains(.normalized)
    isCaseless = !isBytewise && options.contains(.caseInsensitive)
    isFolding = isCaseless || (!isBytewise && options.contains(.diacriticInsensitive))
    var bytes: [UInt8] = []
    Array(text.utf8)._withBytes { TextFolding.folded($0, options: options, to: &bytes) }
    self.bytes = bytes
    isPlain = bytes._withBytes { $0.isPlainText }
    isASCII = bytes._withBytes { $0.isASCII }
    hasOneSpelling = isASCII && !bytes.contains { $0 == 0x4b || $0 == 0x3b || $0 == 0x60 }
  }

  func isEqual(to utf8: ByteView) -> Bool {
    bytes._withBytes { needle in
      if !isFolding {
        if utf8.isEqual(to: needle) { return true }
        if isBytewise || hasOneSpelling { return false }
      }
      if let order = TextOrder.asciiOrder(utf8, needle, isCaseless: isCaseless) {
        return order == 0
      }
      return withNormal(utf8) { $0.isEqual(to: needle) }
    }
  }

  /// Returns a negative number, zero or a positive number if `utf8` is before, equal to or after
  /// the constant.
  func order(of utf8: ByteView) -> Int {
    bytes._withBytes { needle in
      if isBytewise { return compareKeys(utf8, needle) }
      if let order = TextOrder.asciiOrder(utf8, needle, isCaseless: isCaseless) { return order }
      return withNormal(utf8) { compareKeys($0, needle) }
    }
  }

  /// Calls `body` with the text folded like the constant.
  func withNormal<Result>(_ utf8: ByteView, _ body: (ByteView) -> Result) -> Result {
    if isBytewise || (!isFolding && Normalization.isCertainlyNFC(utf8)) { return body(utf8) }
    var normal: [UInt8] = []
    TextFolding.folded(utf8, options: options, to: &normal)
    return normal._withBytes { body($0) }
  }
}

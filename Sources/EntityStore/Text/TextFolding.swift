internal import LodestoreBytes
internal import LodestoreFormat

/// Removes differences in case and diacritics from texts, for `[c]` and `[d]`.
///
/// Folding uses the tables of the standard library, which change with its version. So folded texts
/// must not be stored.
enum TextFolding {
  /// Appends `utf8` folded by `options` in NFC, or unchanged with `[n]`.
  ///
  /// `[c]` maps each scalar to lower case, then upper case, then lower case. So "ß" becomes "ss", a
  /// final sigma becomes a sigma, and "ı", whose upper case is "I", becomes "i". `[d]` removes
  /// nonspacing marks from the decomposed text; letters without a decomposition, such as "ø", stay.
  static func folded(_ utf8: ByteView, options: TextOptions, to bytes: inout [UInt8]) {
    if options.contains(.normalized) {
      bytes.append(contentsOf: utf8)
      return
    }
    let isCaseless = options.contains(.caseInsensitive)
    if utf8.isASCII {
      bytes.reserveCapacity(bytes.count + utf8.count)
      for byte in utf8 { bytes.append(isCaseless ? ASCIIWord.lowercased(byte) : byte) }
      return
    }
    guard isCaseless || options.contains(.diacriticInsensitive) else {
      Normalization.appendNFC(of: utf8, to: &bytes)
      return
    }
    if utf8.isPlainText { return PlainFolds.of(options).append(utf8, to: &bytes) }
    appendFolded(utf8, options, to: &bytes)
  }

  fileprivate static func appendFolded(
    _ utf8: ByteView, _ options: TextOptions, to bytes: inout [UInt8]
  ) {
    var decomposed: [UInt8] = []
    Normalization.appendNFD(of: utf8, to: &decomposed)
    var changed: [UInt8] = []
    changed.reserveCapacity(decomposed.count)
    decomposed._withBytes { appendChanged($0, options, to: &changed) }
    changed._withBytes { Normalization.appendNFC(of: $0, to: &bytes) }
  }

  private static func appendChanged(
    _ decomposed: ByteView, _ options: TextOptions, to bytes: inout [UInt8]
  ) {
    let isCaseless = options.contains(.caseInsensitive)
    let isMarkless = options.contains(.diacriticInsensitive)
    var offset = 0
    while offset < decomposed.count {
      let (value, length) = UTF8Scalar.decode(decomposed, at: offset)
      defer { offset += length }
      guard value != UTF8Scalar.invalid, let scalar = Unicode.Scalar(value) else {
        bytes.append(decomposed[offset])
        continue
      }
      if isMarkless, isNonspacingMark(scalar) { continue }
      if !isCaseless {
        UTF8Scalar.append(value, to: &bytes)
      } else if let simple = knownFold(value) {
        UTF8Scalar.append(simple, to: &bytes)
      } else {
        bytes.append(contentsOf: fullFold(scalar).utf8)
      }
    }
  }

  static func isNonspacingMark(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value >= 0x300 && scalar.properties.generalCategory == .nonspacingMark
  }

  /// Returns the one scalar that stands for `value` and its other cases.
  ///
  /// If the full folding has several scalars, this is the lower case, or the scalar itself.
  static func simpleFold(_ value: UInt32) -> UInt32 {
    if let known = knownFold(value) { return known }
    guard let scalar = Unicode.Scalar(value) else { return value }
    let folds = [fullFold(scalar), scalar.properties.lowercaseMapping]
    return folds.lazy.compactMap(onlyScalar).first ?? value
  }

  static func fullFold(_ scalar: Unicode.Scalar) -> String {
    let upper = scalar.properties.lowercaseMapping.unicodeScalars.map(\.properties.uppercaseMapping)
    return upper.joined().unicodeScalars.map(\.properties.lowercaseMapping).joined()
  }

  static func onlyScalar(_ text: String) -> UInt32? {
    let scalars = text.unicodeScalars
    guard let first = scalars.first, scalars.count == 1 else { return nil }
    return first.value
  }

  /// A table for Latin, Greek, Cyrillic and Armenian, since a mapping of the library is slow.
  private static let knownFolds: [UInt32] = (0..<0x600).map { value in
    Unicode.Scalar(UInt32(value)).flatMap { onlyScalar(fullFold($0)) } ?? .max
  }

  @inline(__always)
  private static func knownFold(_ value: UInt32) -> UInt32? {
    guard value < 0x600 else { return nil }
    let fold = knownFolds[Int(value)]
    return fold == .max ? nil : fold
  }
}

/// The foldings of the scalars below U+0300.
///
/// Such scalars do not compose with each other, so a text of them is folded scalar by scalar.
private struct PlainFolds {
  private static let caseless = PlainFolds(.caseInsensitive)
  private static let markless = PlainFolds(.diacriticInsensitive)
  private static let both = PlainFolds([.caseInsensitive, .diacriticInsensitive])

  private var bytes: [UInt8] = []
  /// The offset in ``bytes`` of each scalar's folding, and the end.
  private var starts: [Int] = [0]

  static func of(_ options: TextOptions) -> PlainFolds {
    if !options.contains(.caseInsensitive) { return markless }
    return options.contains(.diacriticInsensitive) ? both : caseless
  }

  private init(_ options: TextOptions) {
    for value in UInt32(0)..<0x300 {
      var scalar: [UInt8] = []
      UTF8Scalar.append(value, to: &scalar)
      scalar._withBytes { TextFolding.appendFolded($0, options, to: &bytes) }
      starts.append(bytes.count)
    }
  }

  func append(_ plain: ByteView, to result: inout [UInt8]) {
    result.reserveCapacity(result.count + plain.count)
    var offset = 0
    while offset < plain.count {
      let (value, length) = UTF8Scalar.decode(plain, at: offset)
      let index = Int(value)
      if index < 0x300 {
        for byte in starts[index]..<starts[index &+ 1] { result.append(bytes[byte]) }
      } else {
        result.append(plain[offset])
      }
      offset &+= length
    }
  }
}

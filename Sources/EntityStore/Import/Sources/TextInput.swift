/// Converts the bytes of a file to text.
///
/// Decompresses gzip, which the first bytes indicate, and refuses other compressions. Converts
/// UTF-16 and UTF-32 to UTF-8 on request.
///
///     input.append(bytes)
///     while let text = try input.next() { … }
struct TextInput: Sendable {
  /// Whether the compression has been determined from the first bytes.
  private var isKnown = false
  /// Decompresses the bytes; `nil` when they are not compressed.
  private var gzip: GzipReader?
  private var decoder: TextDecoder?
  private var pending: [UInt8] = []
  private var isFinished = false
  private var isDecoded = false
  /// The error for truncated compressed bytes, set after all text before it was returned.
  private(set) var cutError: GzipError?
  /// The number of bytes of text returned so far.
  private(set) var textCount = 0

  /// - Parameter decodes: whether UTF-16 is converted to UTF-8; a ``CSVReader`` does this itself.
  init(decodes: Bool) { decoder = decodes ? TextDecoder(.automatic) : nil }

  /// Appends the next bytes of the file; call ``next()`` afterwards until it returns nil.
  mutating func append(_ bytes: [UInt8]) {
    if gzip == nil {
      pending = pending.isEmpty ? bytes : pending + bytes
    } else {
      gzip?.append(bytes)
    }
  }

  /// Ends the input.
  mutating func finish() {
    isFinished = true
    gzip?.finish()
  }

  /// Returns the next part of the text; nil when more bytes are needed, and at the end after
  /// ``finish()``.
  ///
  /// Truncated compressed bytes do not throw; they set ``cutError``.
  mutating func next() throws(GzipError) -> [UInt8]? {
    let text = try nextPart()
    textCount += text?.count ?? 0
    return text
  }

  private mutating func nextPart() throws(GzipError) -> [UInt8]? {
    while let part = try inflated() {
      guard let decoder, !decoder.isPassing else { return part }
      var text: [UInt8] = []
      self.decoder?.decode(part, to: &text)
      if !text.isEmpty { return text }
    }
    guard isFinished, !isDecoded else { return nil }
    isDecoded = true
    var text: [UInt8] = []
    decoder?.finish(to: &text)
    return text.isEmpty ? nil : text
  }

  private static let longestMark = 10

  /// The name of the compression whose files begin with `bytes`; nil for other bytes.
  ///
  /// Any bytes are valid separated values in a single-byte encoding. Without this check, a
  /// compressed file would be imported as text.
  private static func otherCompression(_ bytes: [UInt8]) -> String? {
    if bytes.starts(with: [0x50, 0x4B, 0x03, 0x04]) { return "zip" }
    if bytes.starts(with: [0x28, 0xB5, 0x2F, 0xFD]) { return "Zstandard" }
    if bytes.starts(with: [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00]) { return "xz" }
    // The mark is "BZh", a digit, and the first digits of pi.
    let isBzip = bytes.starts(with: [0x42, 0x5A, 0x68])
    return isBzip && bytes.dropFirst(4).starts(with: [0x31, 0x41, 0x59, 0x26, 0x53, 0x59])
      ? "bzip2" : nil
  }

  private mutating func inflated() throws(GzipError) -> [UInt8]? {
    if !isKnown {
      guard pending.count >= Self.longestMark || isFinished else { return nil }
      try findCompression()
    }
    guard gzip != nil else {
      defer { pending = [] }
      return pending.isEmpty ? nil : pending
    }
    if cutError != nil { return nil }
    do throws(GzipError) {
      return try gzip?.next()
    } catch {
      guard error.reason == .cutOff else { throw error }
      cutError = error
      return nil
    }
  }

  private mutating func findCompression() throws(GzipError) {
    if pending.starts(with: GzipReader.mark) {
      var reader = GzipReader()
      reader.append(pending)
      if isFinished { reader.finish() }
      pending = []
      gzip = reader
    } else if let name = Self.otherCompression(pending) {
      throw GzipError(reason: .otherCompression(name), offset: 0)
    }
    isKnown = true
  }
}

/// Makes the text of a file of its bytes.
///
/// Takes off compression by gzip, which the first bytes show, and refuses other compressions. Where
/// asked, makes UTF-8 of UTF-16 and UTF-32.
///
///     input.append(bytes)
///     while let text = try input.next() { … }
struct TextInput: Sendable {
  /// Whether the first bytes have shown a compression, or none.
  private var isKnown = false
  /// Takes off the compression; `nil` where there is none.
  private var gzip: GzipReader?
  private var decoder: TextDecoder?
  private var pending: [UInt8] = []
  private var isFinished = false
  private var isDecoded = false
  /// The error of compressed bytes that lack their end; set once all text before it was given.
  private(set) var cutError: GzipError?
  /// The number of bytes of text given so far.
  private(set) var textCount = 0

  /// - Parameter decodes: whether UTF-16 becomes UTF-8; a ``CSVReader`` does that itself.
  init(decodes: Bool) {
    decoder = decodes ? TextDecoder(.automatic) : nil
  }

  /// Takes the next bytes of the file; then call ``next()`` until it gives nil.
  mutating func append(_ bytes: [UInt8]) {
    if gzip == nil {
      pending = pending.isEmpty ? bytes : pending + bytes
    } else {
      gzip?.append(bytes)
    }
  }

  /// Tells that no bytes follow.
  mutating func finish() {
    isFinished = true
    gzip?.finish()
  }

  /// The next part of the text; nil when more bytes are needed or, after ``finish()``, at the end.
  ///
  /// Compressed bytes that lack their end are no error: ``cutError`` tells.
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

  /// The name of the compression whose files begin so; nil for other bytes.
  ///
  /// Separated values in an encoding of single bytes could else be read of any file.
  private static func otherCompression(_ bytes: [UInt8]) -> String? {
    if bytes.starts(with: [0x50, 0x4B, 0x03, 0x04]) { return "zip" }
    if bytes.starts(with: [0x28, 0xB5, 0x2F, 0xFD]) { return "Zstandard" }
    if bytes.starts(with: [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00]) { return "xz" }
    // "BZh", a digit, and the first digits of pi.
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

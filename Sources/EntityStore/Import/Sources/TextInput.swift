/// Makes the text of a file of its bytes.
///
/// Takes off compression by gzip, which the first bytes show. Where
/// asked, makes UTF-8 of UTF-16 with a byte order mark.
///
///     input.append(bytes)
///     while let text = try input.next() { … }
struct TextInput: Sendable {
  private enum Compression {
    case unknown
    case none
    case gzip(GzipReader)
  }

  private var compression = Compression.unknown
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
    guard case .gzip(var reader) = compression else {
      pending = pending.isEmpty ? bytes : pending + bytes
      return
    }
    compression = .none
    reader.append(bytes)
    compression = .gzip(reader)
  }

  /// Tells that no bytes follow.
  mutating func finish() {
    isFinished = true
    guard case .gzip(var reader) = compression else { return }
    compression = .none
    reader.finish()
    compression = .gzip(reader)
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

  private mutating func inflated() throws(GzipError) -> [UInt8]? {
    switch compression {
    case .unknown:
      let mark = GzipReader.mark
      guard pending.count >= mark.count || isFinished else { return nil }
      guard pending.starts(with: mark) else {
        compression = .none
        return try inflated()
      }
      var reader = GzipReader()
      reader.append(pending)
      if isFinished { reader.finish() }
      pending = []
      compression = .gzip(reader)
      return try inflated()
    case .none:
      defer { pending = [] }
      return pending.isEmpty ? nil : pending
    case .gzip(var reader):
      if cutError != nil { return nil }
      compression = .none
      defer { compression = .gzip(reader) }
      do throws(GzipError) {
        return try reader.next()
      } catch {
        guard error.reason == .cutOff else { throw error }
        cutError = error
        return nil
      }
    }
  }
}

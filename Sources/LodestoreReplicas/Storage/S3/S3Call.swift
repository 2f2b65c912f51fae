internal import LodestoreBytes
internal import LodestoreEssentials
internal import LodestorePages
internal import LodestoreFormat
internal import LodestoreSystem
internal import LodestoreWeb

/// One call of a storage as a request, before it is signed.
struct S3Call: Sendable {
  var operation: StorageError.Operation
  var method: String
  /// The key; empty for the bucket.
  var key: String
  /// The key or prefix for messages.
  var shownKey: String
  var query: [(name: String, value: String)] = []
  var fields: [(name: String, value: String)] = []
  var body = WebRequests.Body.none
  /// The SHA-256 of the body as hexadecimal text.
  var bodyHash = RequestSigner.emptyHash
  var byteLimit = 64 << 10
  var range: ClosedRange<Int>?
  var isConditional = false

  init(
    _ operation: StorageError.Operation, _ method: String, key: String,
    query: [(name: String, value: String)] = []
  ) {
    self.operation = operation
    self.method = method
    self.key = key
    self.query = query
    shownKey = key
    if method == "HEAD" { byteLimit = .max }
  }

  static func get(
    _ key: ObjectKey, range: Range<UInt64>?, byteLimit: UInt64, in bucket: S3Place
  ) throws(StorageError) -> S3Call {
    var call = S3Call(.get, "GET", key: key.text)
    call.byteLimit = Int(clamping: byteLimit)
    guard let range else { return call }
    guard !range.isEmpty, range.upperBound <= UInt64(Int.max) else {
      throw StorageError(
        .badRange, .get, key: key.text, place: bucket.words,
        reason: "found the range \(range), expected one that is not empty")
    }
    call.range = Int(range.lowerBound)...Int(range.upperBound - 1)
    let (first, last) = (range.lowerBound, range.upperBound - 1)
    call.fields = [(name: "Range", value: "bytes=\(first)-\(last)")]
    return call
  }

  static func put(
    _ content: ObjectContent, at key: ObjectKey, if condition: PutCondition, in bucket: S3Place
  ) throws(StorageError) -> S3Call {
    func failure(_ kind: StorageError.Kind, _ reason: String) -> StorageError {
      StorageError(kind, .put, key: key.text, place: bucket.words, reason: reason)
    }
    var call = S3Call(.put, "PUT", key: key.text)
    switch condition {
    case .none: break
    case .absent: call.fields = [(name: "If-None-Match", value: "*")]
    case .matches(let tag):
      guard !tag.text.hasPrefix("W/") else {
        throw failure(.badRequest, "the weak tag \(tag.text) matches no object")
      }
      call.fields = [(name: "If-Match", value: tag.text)]
    }
    call.isConditional = condition != .none
    switch content {
    case .bytes(let bytes):
      call.setBody(bytes)
    case .file(let path, let known):
      let file = open(path, O_RDONLY | O_CLOEXEC)
      defer { if file >= 0 { close(file) } }
      guard file >= 0, let status = stat(of: file), status.isRegularFile else {
        throw failure(.badRequest, "the file '\(path)' cannot be read")
      }
      let count = Int(status.st_size)
      guard UInt64(count) <= S3Answers.objectByteLimit else {
        throw failure(
          .tooLarge,
          "found \(count) bytes, expected at most \(S3Answers.objectByteLimit), which one request "
            + "can write")
      }
      guard let hash = known ?? Self.hash(ofFile: file) else {
        throw failure(.badRequest, "the file '\(path)' cannot be read")
      }
      call.body = .file(path: path, count: count)
      call.bodyHash = RequestText.hex(hash)
    }
    return call
  }

  mutating func setBody(_ bytes: [UInt8]) {
    body = .bytes(bytes)
    bodyHash = RequestText.hex(bytes._withBytes { SHA256Digest.digest(of: $0) })
  }

  // MARK: Files

  /// The size of a regular file; `nil` for everything else.
  static func size(ofFileAt path: String) -> UInt64? {
    guard let status = stat(at: path), status.isRegularFile else { return nil }
    return UInt64(max(status.st_size, 0))
  }

  /// The SHA-256 of a part of a file; `nil` if the part cannot be read or the file is too short.
  static func hash(ofFileAt path: String, _ range: Range<UInt64>) -> [UInt8]? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var hash = SHA256Digest()
    var offset = Int(range.lowerBound)
    var rest = Int(range.upperBound - range.lowerBound)
    var piece = [UInt8](repeating: 0, count: 256 << 10)
    while rest > 0 {
      let read = piece._withMutableBytes { $0.fill(from: file, at: offset) }
      let count = min(read, rest)
      guard count > 0 else { return nil }
      piece[..<count]._withBytes { hash.update($0) }
      offset += count
      rest -= count
    }
    return hash.finalize()
  }

  /// The SHA-256 of an open file; `nil` if it cannot be read.
  private static func hash(ofFile file: Int32) -> [UInt8]? {
    var hash = SHA256Digest()
    var offset = 0
    var piece = [UInt8](repeating: 0, count: 256 << 10)
    while true {
      let count = piece._withMutableBytes { $0.fill(from: file, at: offset) }
      guard count >= 0 else { return nil }
      piece[..<count]._withBytes { hash.update($0) }
      guard count == piece.count else { return hash.finalize() }
      offset += count
    }
  }
}

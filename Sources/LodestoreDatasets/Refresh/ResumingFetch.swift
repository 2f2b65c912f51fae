internal import LodestoreBytes
internal import LodestoreWeb

/// Receives the bytes of one file from one or more answers.
protocol FetchSink: Sendable {
  /// The offset in the file of the next byte that is missing.
  var taken: UInt64 { get }

  /// Begins an answer, which may start earlier in the file than requested.
  func begin(at start: Int, requested: Int)

  /// Takes the next bytes of the answer.
  func take(_ bytes: ByteView) throws
}

/// Fetches one file of a published dataset, and continues with a Range request after a broken
/// connection.
///
/// The names of such files are never reused, so the bytes of two answers belong together. Later
/// requests demand the entity tag of the first answer. The caller checks the digest.
struct ResumingFetch {
  let files: PublishedFiles
  let path: String
  /// The number of bytes of the complete file.
  let length: UInt64
  let byteLimit: UInt64
  /// The number of further requests that are allowed after answers that brought fewer bytes than
  /// ``worthwhile``.
  let resumptions: Int

  /// The minimum number of bytes in an answer that makes a request worthwhile.
  private static let worthwhile: UInt64 = 4_096

  /// Passes the missing bytes to `sink`.
  ///
  /// - Throws: The error of the last request, if it brought nothing or must not be repeated.
  func run(into sink: some FetchSink) async throws {
    var left = resumptions
    var tag: String?
    while sink.taken < length {
      let before = sink.taken
      var failure: (any Error)?
      do {
        try await fetch(into: sink, from: before, &tag)
      } catch {
        failure = error
      }
      let now = sink.taken
      guard now < length || failure != nil else { break }
      // If the last answer brought no bytes, this mirror is not requested again. The next mirror
      // continues at the first missing byte.
      let mayGoOn = failure.map(Self.isInterruption) ?? true
      guard mayGoOn, now > before, left > 0 else {
        throw failure ?? DatasetError.shortFile(path, found: now, expected: length)
      }
      // Answers with enough bytes do not count towards the limit: a connection that breaks often
      // can still bring the file in useful parts.
      if now - before < Self.worthwhile { left -= 1 }
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  /// Requests the file from an offset.
  private func fetch(
    into sink: some FetchSink, from offset: UInt64, _ tag: inout String?
  ) async throws {
    var request = WebFiles.Request(path, byteLimit: Int(clamping: byteLimit))
    request.start = Int(clamping: offset)
    request.expectedTag = tag
    let start = request.start
    let pace = Pace(files.words)
    let answer = try await files.get(request) { begun in
      sink.begin(at: begun, requested: start)
    } take: { bytes in
      try sink.take(bytes)
      try pace.take(bytes.count)
    }
    if case .content(let head?) = answer { tag = head.entityTag }
  }

  private static func isInterruption(_ error: any Error) -> Bool {
    guard let error = error as? WebSourceError else { return false }
    return error.code == .truncated || error.code == .timedOut || error.code == .noConnection
  }
}

internal import LodestoreBytes
internal import LodestoreWeb

/// Takes the bytes of one file from one or more answers.
protocol FetchSink: Sendable {
  /// The offset of the next byte that is missing.
  var taken: UInt64 { get }

  /// Begins to take an answer, which may begin earlier in the file than asked.
  func begin(at start: Int, asked: Int)

  /// Takes the next bytes of the answer.
  func take(_ bytes: ByteView) throws
}

/// Fetches one file of a published dataset, and goes on by Range where a connection broke off.
///
/// The names of such files are never reused, so the bytes of two answers belong together. The
/// entity tag of the first answer is asked for by the later ones. The caller checks the digest.
struct ResumingFetch {
  let files: PublishedFiles
  let path: String
  /// The number of bytes after which the file is complete.
  let length: UInt64
  let byteLimit: UInt64
  /// How often the fetch goes on after answers that brought few bytes.
  let resumptions: Int

  /// The bytes of a part that make a request worthwhile.
  private static let worthwhile: UInt64 = 4_096

  /// Gives `sink` the bytes that it lacks.
  ///
  /// - Throws: the error of the last request, when it brought nothing or may not be repeated.
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
      // A mirror that brings nothing more is not asked again; the next one goes on here.
      let mayGoOn = failure.map(Self.isInterruption) ?? true
      guard mayGoOn, now > before, left > 0 else {
        throw failure ?? DatasetError.shortFile(path, found: now, expected: length)
      }
      // A connection that breaks often still brings the file, part by part, when the parts are
      // worth a request.
      if now - before < Self.worthwhile { left -= 1 }
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  /// Requests the file from an offset on.
  private func fetch(
    into sink: some FetchSink, from offset: UInt64, _ tag: inout String?
  ) async throws {
    var request = WebFiles.Request(path, byteLimit: Int(clamping: byteLimit))
    request.start = Int(clamping: offset)
    request.expectedTag = tag
    let start = request.start
    let pace = Pace(files.words)
    let answer = try await files.get(request) { begun in
      sink.begin(at: begun, asked: start)
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

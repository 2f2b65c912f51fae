internal import LodestoreBytes
internal import LodestoreWeb
internal import Synchronization

/// Fetches a patch, and continues an earlier download of it.
///
/// The bytes cannot be checked before the patch is complete. A complete patch with wrong bytes is
/// fetched once more.
struct PatchDownload {
  let files: PublishedFiles
  let patch: DatasetManifest.PatchFile
  /// The path of the file that receives the bytes of this patch.
  let path: String
  let resumptions: Int
  let report: @Sendable (RefreshProgress) -> Void
  private(set) var bytesFetched = 0
  private(set) var bytesResumed = 0

  /// The number of bytes of a patch that the file at `path` already has; 0 if the file is longer
  /// than the patch.
  static func bytesHere(at path: String, of patch: DatasetManifest.PatchFile) -> UInt64 {
    let length = SystemFile.stamp(of: path)?.length ?? 0
    return UInt64(exactly: length).flatMap { $0 <= patch.length ? $0 : nil } ?? 0
  }

  /// Fetches the missing bytes.
  ///
  /// - Throws: `DatasetError` with the code `damaged` if the file has other bytes than the signed
  ///   ones; the file is then removed. After an error of the network the file stays.
  mutating func run() async throws {
    let here = Self.bytesHere(at: path, of: patch)
    bytesResumed = Int(clamping: here)
    do {
      try await fetch(from: here)
    } catch let error as DatasetError where error.code == .damaged {
      SystemFile.remove(path)
      guard here > 0 else { throw error }
      bytesResumed = 0
      try await fetch(from: 0)
    }
  }

  private mutating func fetch(from start: UInt64) async throws {
    let file = try SystemFile.openForWriting(path, isNew: start == 0)
    let sink = PatchSink(file, at: path, from: start, of: patch, report)
    defer { bytesFetched += sink.received }
    let fetch = ResumingFetch(
      files: files, path: patch.path, length: patch.length, byteLimit: patch.length,
      resumptions: resumptions)
    try await fetch.run(into: sink)
    try DatasetPatch.check(path, is: patch)
  }
}

/// Writes the bytes of a patch to a file.
private final class PatchSink: FetchSink {
  private struct State {
    var taken: UInt64
    /// The number of further bytes to drop when they arrive, because an earlier download has
    /// already stored them.
    var skipped = 0
    var received = 0
  }

  private let state: Mutex<State>
  private let file: OpenFile
  private let path: String
  private let total: Int
  private let report: @Sendable (RefreshProgress) -> Void

  init(
    _ file: OpenFile, at path: String, from start: UInt64, of patch: DatasetManifest.PatchFile,
    _ report: @escaping @Sendable (RefreshProgress) -> Void
  ) {
    self.file = file
    self.path = path
    self.report = report
    total = Int(clamping: patch.length)
    state = Mutex(State(taken: start))
  }

  /// The number of received bytes.
  var received: Int { state.withLock { $0.received } }

  var taken: UInt64 { state.withLock { $0.taken } }

  func begin(at start: Int, requested: Int) {
    state.withLock { $0.skipped = max(requested - start, 0) }
  }

  func take(_ bytes: ByteView) throws {
    let taken = try state.withLock { state in
      state.received += bytes.count
      let known = min(state.skipped, bytes.count)
      state.skipped -= known
      let new = bytes.dropFirst(known)
      try FileBytes.write(new, to: file.descriptor, at: state.taken, path: path)
      state.taken += UInt64(new.count)
      return state.taken
    }
    report(RefreshProgress(step: .fetching, completed: Int(clamping: taken), total: total))
  }
}

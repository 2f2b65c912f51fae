internal import Foundation
internal import LodestoreBytes
internal import LodestoreWeb
internal import Synchronization

/// Fetches a whole generation frame by frame, and continues an earlier download.
///
/// An existing part is trusted only by its bytes: each of its frames must have its signed digest.
/// Another mirror, a later process, and a file left by a power cut can therefore all continue at
/// the first missing frame.
struct WholeDownload {
  let files: PublishedFiles
  let manifest: DatasetManifest
  let part: String
  let resumptions: Int
  let onStep: @Sendable (RefreshStep) -> Void
  let report: @Sendable (RefreshProgress) -> Void
  private(set) var bytesFetched = 0
  private(set) var bytesResumed = 0

  mutating func run(tablePath: String) async throws {
    let table = try await table(tablePath)
    onStep(.tableFetched)
    let file = try SystemFile.openForWriting(part, isNew: false)
    let completed = try FrameUnpacker.completeFrames(in: file.descriptor, table: table, path: part)
    bytesResumed = Int(clamping: table.compressedOffset(of: completed))
    let sink = FrameSink(
      try FrameUnpacker(table, to: file.descriptor, path: part, skippingFrames: completed),
      of: manifest, onStep, report)
    defer { bytesFetched += sink.received }
    let fetch = ResumingFetch(
      files: files, path: manifest.whole.path, length: table.compressedLength,
      byteLimit: manifest.whole.length, resumptions: resumptions)
    try await fetch.run(into: sink)
    try sink.finish()
    try FileBytes.sync(file.descriptor, path: part)
    onStep(.unpacked)
  }

  /// Returns the table of frames: the file of an earlier download, or else fetched.
  private mutating func table(_ path: String) async throws -> FrameTable {
    let limit = Int(clamping: manifest.whole.frames.length)
    if let kept = try? SystemFile.bytes(of: path, atMost: limit),
      let table = try? kept._withBytes({ try FrameTable(reading: $0, of: manifest) })
    {
      return table
    }
    let bytes = Mutex<[UInt8]>([])
    let pace = Pace(files.words)
    _ = try await files.get(WebFiles.Request(manifest.whole.frames.path, byteLimit: limit)) {
      piece in
      bytes.withLock { $0.append(contentsOf: piece) }
      try pace.take(piece.count)
    }
    let fetched = bytes.withLock { $0 }
    bytesFetched += fetched.count
    let table = try fetched._withBytes { try FrameTable(reading: $0, of: manifest) }
    try SystemFile.replace(path, with: fetched)
    return table
  }
}

/// Receives the bytes of a compressed generation and unpacks them.
///
/// `lock` guards everything, because the transfer calls on its own threads, one call after the
/// other.
private final class FrameSink: FetchSink, @unchecked Sendable {
  private let lock = NSLock()
  private let unpacker: FrameUnpacker
  /// The number of further bytes to drop when they arrive, because an earlier download has already
  /// stored them.
  private var skipped = 0
  private var receivedBytes = 0

  private let total: Int
  private let onStep: @Sendable (RefreshStep) -> Void
  private let report: @Sendable (RefreshProgress) -> Void

  init(
    _ unpacker: sending FrameUnpacker, of manifest: DatasetManifest,
    _ onStep: @escaping @Sendable (RefreshStep) -> Void,
    _ report: @escaping @Sendable (RefreshProgress) -> Void
  ) {
    self.unpacker = unpacker
    total = Int(clamping: manifest.whole.length)
    self.onStep = onStep
    self.report = report
  }

  /// The number of received bytes.
  var received: Int { lock.withLock { receivedBytes } }

  var taken: UInt64 { lock.withLock { unpacker.takenBytes } }

  func begin(at start: Int, requested: Int) {
    lock.withLock { skipped = max(requested - start, 0) }
  }

  func take(_ bytes: ByteView) throws {
    let (hasFrame, done) = try lock.withLock {
      receivedBytes += bytes.count
      let known = min(skipped, bytes.count)
      skipped -= known
      let before = unpacker.completedFrames
      try unpacker.take(bytes.dropFirst(known))
      return (unpacker.completedFrames > before, unpacker.compressedBytesOfCompletedFrames)
    }
    guard hasFrame else { return }
    onStep(.frame)
    report(RefreshProgress(step: .fetching, completed: Int(clamping: done), total: total))
  }

  func finish() throws { try lock.withLock { try unpacker.finish() } }
}

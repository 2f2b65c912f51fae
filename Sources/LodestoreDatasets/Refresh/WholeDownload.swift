internal import Foundation
internal import LodestoreWeb
internal import Synchronization

/// Fetches a whole generation frame by frame, and goes on where an earlier download ended.
///
/// The part that is here is believed by its bytes alone: each of its frames must have its signed
/// digest. So another mirror, a later process and a file left by a power cut all go on at the first
/// frame that is missing.
struct WholeDownload {
  let files: PublishedFiles
  let manifest: DatasetManifest
  let part: String
  let resumptions: Int
  let onStep: @Sendable (RefreshStep) -> Void
  let report: @Sendable (RefreshProgress) -> Void
  private(set) var bytesFetched = 0
  private(set) var bytesResumed = 0

  init(
    files: PublishedFiles, manifest: DatasetManifest, part: String, resumptions: Int,
    onStep: @escaping @Sendable (RefreshStep) -> Void,
    report: @escaping @Sendable (RefreshProgress) -> Void
  ) {
    self.files = files
    self.manifest = manifest
    self.part = part
    self.resumptions = resumptions
    self.onStep = onStep
    self.report = report
  }

  mutating func run(tablePath: String) async throws {
    let table = try await table(tablePath)
    onStep(.tableFetched)
    let file = try SystemFile.openForWriting(part, isNew: false)
    let completed = try FrameUnpacker.completeFrames(
      in: file.descriptor, table: table, path: part)
    bytesResumed = Int(clamping: table.compressedOffset(of: completed))
    let sink = FrameSink(
      try FrameUnpacker(table, to: file.descriptor, path: part, skippingFrames: completed),
      of: manifest, onStep, report)
    defer { bytesFetched += sink.received }
    var left = resumptions
    var tag: String?
    while sink.taken < table.compressedLength {
      let before = sink.taken
      var failure: (any Error)?
      do {
        try await fetch(into: sink, from: before, &tag)
      } catch {
        failure = error
      }
      let now = sink.taken
      guard now < table.compressedLength || failure != nil else { break }
      // A mirror that brings nothing more is not asked again; the next one goes on here.
      let mayGoOn = failure.map(Self.isInterruption) ?? true
      guard mayGoOn, now > before, left > 0 else {
        throw failure
          ?? DatasetError.damagedFrames(found: now, expected: table.compressedLength)
      }
      // A connection that breaks often still brings the file, part by part, when the parts are
      // worth a request.
      if now - before < Self.worthwhile { left -= 1 }
      try await Task.sleep(for: .milliseconds(20))
    }
    try sink.finish()
    try FileBytes.sync(file.descriptor, path: part)
    onStep(.unpacked)
  }

  /// The bytes of a part that make a request worthwhile.
  private static let worthwhile: UInt64 = 4_096

  /// Requests the file from an offset on.
  private func fetch(
    into sink: FrameSink, from offset: UInt64, _ tag: inout String?
  ) async throws {
    var request = WebFiles.Request(
      manifest.whole.path, byteLimit: Int(clamping: manifest.whole.length))
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

  /// The table of frames: kept from an earlier download, or fetched.
  private mutating func table(_ path: String) async throws -> FrameTable {
    let limit = Int(clamping: manifest.whole.frames.length)
    if let kept = try? SystemFile.bytes(of: path, atMost: limit),
      let table = try? kept.withUnsafeBytes({ try FrameTable(reading: $0, of: manifest) })
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
    let table = try fetched.withUnsafeBytes { try FrameTable(reading: $0, of: manifest) }
    try SystemFile.replace(path, with: fetched)
    return table
  }
}

/// Takes the bytes of a compressed generation and unpacks them.
///
/// `lock` guards all: the transfer calls on threads of its own, one call after the other.
private final class FrameSink: @unchecked Sendable {
  private let lock = NSLock()
  private let unpacker: FrameUnpacker
  /// Bytes that come although they are here already.
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

  /// The bytes that came.
  var received: Int { lock.withLock { receivedBytes } }

  /// The offset of the next byte that is missing.
  var taken: UInt64 { lock.withLock { unpacker.takenBytes } }

  /// Begins to take an answer, which may begin earlier in the file than asked.
  func begin(at start: Int, asked: Int) {
    lock.withLock { skipped = max(asked - start, 0) }
  }

  func take(_ bytes: UnsafeRawBufferPointer) throws {
    let (hasFrame, done) = try lock.withLock {
      receivedBytes += bytes.count
      let known = min(skipped, bytes.count)
      skipped -= known
      let before = unpacker.completedFrames
      try unpacker.take(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(known)))
      return (unpacker.completedFrames > before, unpacker.compressedBytesOfCompletedFrames)
    }
    guard hasFrame else { return }
    onStep(.frame)
    report(RefreshProgress(step: .fetching, completed: Int(clamping: done), total: total))
  }

  func finish() throws { try lock.withLock { try unpacker.finish() } }
}

internal import EntityStore
internal import LodestoreBytes
internal import LodestoreDatasets
internal import LodestoreFormat
internal import LodestoreSystem
internal import Synchronization

/// Downloads a base, verifies it, and makes a store of it.
struct BaseDownload: Sendable {
  /// A file of the base is absent or has other bytes; another base may be usable.
  struct Unusable: Error {
    let error: ReplicaError
  }

  let client: ReplicaClient
  let onProgress: @Sendable (ReplicaProgress) -> Void

  /// Downloads the sealed file of a base to `path`.
  ///
  /// A file that an earlier download has left is continued after its last whole frame. All frames
  /// have the digests of the table, and the table has the digest in the head.
  ///
  /// - Throws: ``Unusable``; ``ReplicaError``.
  func sealedFile(of head: BaseHead, to path: String) async throws {
    let table = try await table(of: head)
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw ReplicaError.system(errno, "write", path) }
    defer { close(descriptor) }
    do {
      let completed = try FrameUnpacker.completeFrames(
        in: descriptor, table: table, path: path)
      let unpacker = try FrameUnpacker(
        table, to: descriptor, path: path, skippingFrames: completed)
      try await fetch(head, into: FrameTaker(unpacker, head.packed.length, onProgress))
      guard fsync(descriptor) == 0 else { throw ReplicaError.system(errno, "sync", path) }
    } catch let error as DatasetError {
      if error.code == .damaged { throw Unusable(error: ReplicaError(error)) }
      throw ReplicaError(error)
    }
  }

  private func table(of head: BaseHead) async throws -> FrameTable {
    let name = head.name(of: .frames)
    // The length of the file states that of its table, so a head cannot ask for more memory.
    let length = FrameTable.byteCount(of: head.length)
    guard head.frames.length == length else { throw Unusable(error: .wrongBytes(name)) }
    let limit = Int(clamping: length)
    guard let bytes = try await client.object(name, byteLimit: limit) else {
      throw Unusable(error: .missing(name))
    }
    do {
      guard SHA256.hash(bytes) == head.frames.sha256.bytes else {
        throw Unusable(error: .wrongBytes(name))
      }
      let table = try bytes._withBytes { try FrameTable(reading: $0, named: name.text) }
      guard table.fileLength == head.length, table.compressedLength == head.packed.length,
        table.fileDigest == head.verity
      else { throw Unusable(error: .wrongBytes(name)) }
      return table
    } catch let error as DatasetError { throw Unusable(error: ReplicaError(error)) }
  }

  private func fetch(_ head: BaseHead, into taker: FrameTaker) async throws {
    let name = head.name(of: .file)
    var failures = 0
    while taker.offset < head.packed.length {
      try Task.checkCancellation()
      let start = taker.offset
      do throws(StorageError) {
        _ = try await client.storage.download(
          name.key, range: start..<head.packed.length, byteLimit: head.packed.length
        ) { (bytes) throws(StorageError) in
          guard taker.take(bytes) else {
            throw StorageError(
              .badAnswer, .get, key: name.text, place: client.place,
              reason: "the bytes are not those of its frames")
          }
        }
      } catch {
        // Wrong bytes have ended the download.
        try taker.check()
        if error.kind == .notFound { throw Unusable(error: .missing(name)) }
        if error.kind == .badRange { throw Unusable(error: .wrongBytes(name)) }
        guard error.isWorthRepeating else { throw ReplicaClient.converted(error) }
        failures = taker.offset > start ? 1 : failures + 1
        try await client.waitForRepetition(failures, error)
      }
      try taker.check()
      // A service that answers with no bytes of a range that it has would be asked for ever.
      if taker.offset == start {
        failures += 1
        guard failures < 8 else { throw Unusable(error: .wrongBytes(name)) }
      }
    }
    try taker.finish()
  }
}

/// Passes the bytes of a download to an unpacker, and keeps the first failure.
private final class FrameTaker: Sendable {
  private struct State {
    let unpacker: FrameUnpacker
    var failure: DatasetError?
  }

  private let state: Mutex<State>
  private let length: UInt64
  private let onProgress: @Sendable (ReplicaProgress) -> Void

  init(
    _ unpacker: sending FrameUnpacker, _ length: UInt64,
    _ onProgress: @escaping @Sendable (ReplicaProgress) -> Void
  ) {
    state = Mutex(State(unpacker: unpacker))
    self.length = length
    self.onProgress = onProgress
  }

  /// The offset of the next byte to fetch.
  var offset: UInt64 { state.withLock { $0.unpacker.takenBytes } }

  /// Takes the next bytes; returns whether they are sound and could be written.
  func take(_ bytes: [UInt8]) -> Bool {
    let isTaken = state.withLock { state in
      guard state.failure == nil else { return false }
      do throws(DatasetError) {
        try bytes._withBytes { (bytes) throws(DatasetError) in try state.unpacker.take(bytes) }
        return true
      } catch {
        state.failure = error
        return false
      }
    }
    onProgress(ReplicaProgress(.downloading, completed: offset, total: length))
    return isTaken
  }

  func check() throws(DatasetError) {
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }

  func finish() throws(DatasetError) {
    let failure = state.withLock { state -> DatasetError? in
      do throws(DatasetError) {
        try state.unpacker.finish()
        return nil
      } catch { return error }
    }
    if let failure { throw failure }
  }
}

extension ReplicaError {
  static func missing(_ name: ReplicaName) -> ReplicaError {
    ReplicaError(
      .damaged,
      "cannot read '\(name.text)': it does not exist; a collection may have deleted it, so begin "
        + "again at a newer base", slot: name.collectedSlot)
  }

  static func wrongBytes(_ name: ReplicaName) -> ReplicaError {
    ReplicaError(
      .damaged,
      "cannot use '\(name.text)': it does not have the bytes that its base's head describes; use "
        + "another base", slot: name.collectedSlot)
  }
}

internal import EntityStore
internal import LMDB
internal import LodestoreBytes
internal import LodestoreDatasets
internal import LodestoreFormat
internal import LodestoreSystem
internal import Synchronization

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Seals one commit of a store and uploads it as a base.
struct BaseUpload: Sendable {
  let client: ReplicaClient
  /// The path of the store; scratch files are created in its folder.
  let path: String
  let compressionLevel: Int
  let onProgress: @Sendable (ReplicaProgress) -> Void

  /// A base whose file is in the storage, without its head.
  struct Uploaded: Sendable {
    var verity: FileDigest
    var length: UInt64
    var packed: BaseHead.File
    var frames: BaseHead.File
    var entities: [EntityNumber: BaseHead.Entity]

    /// The head that makes the base exist.
    func head(
      at position: ChainPosition, time: Double, schema: [UInt8], digests: ReplayDigests
    ) throws -> BaseHead {
      guard let entry = FileDigest(bytes: position.hash), let schema = FileDigest(bytes: schema)
      else { throw ReplicaError(.damaged, "cannot write a base: a digest has a wrong length") }
      var head = BaseHead(
        slot: position.slot, entry: entry, epoch: position.epoch, store: position.store,
        lastWrite: position.lastWrite, time: time, schema: schema,
        digests: digests.contentDigests, length: length, verity: verity, packed: packed,
        frames: frames)
      head.entities = entities
      return head
    }
  }

  /// The beginning of the names of scratch files.
  private var scratchPrefix: String { path + "-base-" }

  /// Removes scratch files of killed processes.
  func removeScratch() {
    let folder = Folder.path(of: path)
    let prefix = scratchPrefix.split(separator: "/").last.map(String.init) ?? scratchPrefix
    for name in Folder.names(in: folder) ?? [] where name.hasPrefix(prefix) {
      unlink("\(folder)/\(name)")
    }
  }

  /// Seals the commit, and uploads the file and the table of its frames for a slot.
  func upload(
    _ snapshot: ExactSnapshot, slot: UInt64, lastWrite: UInt64, time: Double
  ) async throws -> Uploaded {
    let scratch = scratchPrefix + String(UInt64.random(in: .min ... .max), radix: 36)
    let (sealed, packed) = (scratch + ".lodestore", scratch + ".zst")
    defer {
      unlink(sealed)
      unlink(packed)
    }
    let (report, level) = (onProgress, compressionLevel)
    let table = try await Self.onThread { isCancelled in
      _ = try snapshot.seal(
        to: sealed, name: "replica", generation: max(lastWrite, 1),
        dataAsOf: Date(timeIntervalSinceReferenceDate: time), sealedAt: Date()
      ) { done, total in
        report(ReplicaProgress(.sealing, completed: UInt64(done), total: UInt64(total)))
        return !isCancelled()
      }
      return try Self.pack(sealed, to: packed, level: level)
    }
    guard let verity = table.frames.fileDigest, let hash = FileDigest(bytes: table.sha256) else {
      throw ReplicaError(.damaged, "cannot write a base: the sealed file is too small")
    }
    let tableBytes = table.frames.bytes
    let tableHash = SHA256.hash(tableBytes)
    guard let framesHash = FileDigest(bytes: tableHash) else {
      throw ReplicaError(.damaged, "cannot write a base: a digest has a wrong length")
    }
    let entities = try await snapshot.snapshot.read { try $0.replayEntities() }
    let uploaded = Uploaded(
      verity: verity, length: table.frames.fileLength,
      packed: BaseHead.File(length: table.frames.compressedLength, sha256: hash),
      frames: BaseHead.File(length: UInt64(tableBytes.count), sha256: framesHash),
      entities: Dictionary(
        uniqueKeysWithValues: entities.map {
          ($0.number, BaseHead.Entity(name: $0.name, nextID: $0.nextID))
        }))
    await removeOldUploads()
    report(ReplicaProgress(.uploading, completed: 0, total: uploaded.packed.length))
    try await put(
      .file(path: packed, sha256: table.sha256), as: Self.name(slot, verity, .file))
    client.storage.noteSent(uploaded.packed.length)
    try await put(.bytes(tableBytes), as: Self.name(slot, verity, .frames))
    report(
      ReplicaProgress(
        .uploading, completed: uploaded.packed.length, total: uploaded.packed.length))
    return uploaded
  }

  /// Removes the parts of bases whose writers were killed more than a day ago.
  ///
  /// A failure only leaves the parts. Keys without the right to list uploads have this effect.
  private func removeOldUploads() async {
    _ = try? await client.storage.endOldWrites(
      prefix: "\(ReplicaFolder.base.rawValue)/", olderThan: .seconds(86_400))
  }

  static func name(
    _ slot: UInt64, _ verity: FileDigest, _ file: ReplicaName.BaseFile
  ) -> ReplicaName {
    let start = verity.bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    return .base(slot: slot, verity: start, file)
  }

  /// Writes the head, which makes the base exist.
  func finish(_ head: BaseHead) async throws {
    try await put(.bytes(head.bytes), as: head.name(of: .head))
  }

  /// Equal names have equal content, because names have the digest of the file.
  private func put(_ content: ObjectContent, as name: ReplicaName) async throws {
    try await client.replace(name, content)
  }

  private static func pack(
    _ path: String, to output: String, level: Int
  ) throws -> (frames: FrameTable, sha256: [UInt8]) {
    let descriptor = open(output, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw ReplicaError.system(errno, "write", output) }
    defer { close(descriptor) }
    do {
      let packed = try FramePacker.pack(
        try MappedBytes(reading: path), to: descriptor, at: output, level: level)
      return (packed.table, packed.sha256)
    } catch { throw ReplicaError(error) }
  }

  /// Runs work that blocks on a thread of its own.
  static func onThread<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await onThread { _ in try body() }
  }

  /// Runs work that blocks on a thread of its own; `isCancelled` tells whether it may end early.
  static func onThread<R: Sendable>(
    _ body: @escaping @Sendable (_ isCancelled: @escaping () -> Bool) throws -> R
  ) async throws -> R {
    try Task.checkCancellation()
    let flag = CancellationFlag()
    return try await withTaskCancellationHandler {
      do {
        return try await runOnNewThread { try body { flag.isSet } }
      } catch let error as StoreError where error.code == .cancelled {
        throw CancellationError()
      } catch let error as StoreError {
        throw ReplicaError(error)
      } catch let error as LMDBError { throw ReplicaError(StoreError(ofEngine: error)) }
    } onCancel: {
      flag.set()
    }
  }
}

/// Tells a thread that the task which waits for it was cancelled.
private final class CancellationFlag: Sendable {
  private let flag = Mutex(false)

  var isSet: Bool { flag.withLock { $0 } }

  func set() { flag.withLock { $0 = true } }
}

extension ReplayDigests {
  /// The digests of records and links, as heads have them.
  var contentDigests: [[UInt8]: ContentDigest] {
    contents.compactMapValues { bytes in bytes._withBytes { ContentDigest(bytes: $0) } }
  }
}

extension ReplicaError {
  init(_ error: DatasetError) {
    let code: Code =
      switch error.code {
      case .damaged, .malformed: .damaged
      case .newerFormat: .newerFormat
      case .busy: .busy
      case .unsupported: .unsupported
      default: .inputOutput
      }
    self.init(code, error.message, cause: error)
  }
}

#if Datasets
  import EntityStore
  import Foundation
  import LodestoreFormat
  import LoopbackWeb
  import Synchronization
  import Testing

  @testable import LodestoreDatasets

  /// A dataset of specs that is published into a folder.
  final class SpecPublication: Sendable {
    /// The number of records.
    ///
    /// A generation of 500 records is one frame, one of 12,000 records is several frames.
    let count: Int
    let key: SigningKey
    let keys: TrustedKeys
    let path: String

    init(_ folder: ScratchFolder, _ name: String = "published", count: Int = 500) throws {
      self.count = count
      key = try SigningKey(seed: [UInt8](repeating: 9, count: 32))
      keys = try TrustedKeys("1:\(key.publicKey)")
      path = folder.file(name)
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true)
    }

    /// Seals and publishes a generation.
    @discardableResult
    func publish(
      _ generation: Int, in folder: ScratchFolder, mirrors: [String]? = nil, key: SigningKey? = nil,
      to path: String? = nil
    ) throws -> PublishReport {
      let file = folder.file("sealed-\(generation)")
      if !FileManager.default.fileExists(atPath: file) {
        try SpecGenerations(folder, count: count).seal(generation, file: "sealed-\(generation)")
      }
      var options = DatasetPublisher.Options()
      options.compressionLevel = 1
      options.mirrors = mirrors
      return try DatasetPublisher(path ?? self.path, key: key ?? self.key, options: options)
        .publish(file, Self.facts(of: file))
    }

    /// Publishes any bytes as a generation with a valid signature, without checking them.
    func publish(bytes: [UInt8], as generation: UInt64, in folder: ScratchFolder) throws {
      let file = try folder.write(bytes, to: "bytes-\(generation)")
      let facts = PublishedFacts(
        name: SpecGenerations.name, generation: generation, dataAsOf: Date(), sealedAt: Date(),
        schemaFingerprint: "00", contentDigest: "00", formatVersion: 5, records: [:])
      _ = try DatasetPublisher(path, key: key).publish(file, facts)
    }

    static func facts(of file: String) throws -> PublishedFacts {
      let store = try Store(at: file, entities: [Spec.self], options: .reading)
      defer { store.close() }
      let seal = try #require(store.seal)
      return PublishedFacts(
        name: seal.name, generation: seal.generation, dataAsOf: seal.dataAsOf,
        sealedAt: seal.sealedAt, schemaFingerprint: "00ff", contentDigest: "00ff",
        formatVersion: 5, records: seal.recordCounts)
    }

    /// A server with the published folder; `change` makes it a bad one.
    func serving(
      _ change: @escaping @Sendable (LoopbackServer.Request, Answer) -> Answer = { $1 }
    ) throws -> (server: LoopbackServer, files: ServedFiles) {
      let files = ServedFiles(folder: path)
      let server = try LoopbackServer { change($0, files.answer(to: $0)) }
      return (server, files)
    }
  }

  extension StoreOptions {
    static var reading: StoreOptions {
      var options = StoreOptions()
      options.access = .readOnly
      return options
    }
  }

  /// A dataset in a folder with its origin, and waits that pass at once.
  func specDataset(
    _ folder: ScratchFolder, _ origin: DatasetOrigin, seed: String? = nil, cache: String = "cache",
    _ change: (inout CachedDataset.Options) -> Void = { _ in }
  ) throws -> CachedDataset {
    var options = CachedDataset.Options()
    options.requestTimeout = .seconds(60)
    options.fraction = { 1 }
    change(&options)
    return try CachedDataset(
      SpecGenerations.name, in: folder.file(cache), entities: [Spec.self], seed: seed,
      origin: origin, options: options)
  }

  extension CachedDataset {
    /// The error that a refresh ends with.
    func refreshError(
      now: Bool = true, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> DatasetError {
      try await #require(throws: DatasetError.self, sourceLocation: sourceLocation) {
        try await self.refresh(now: now)
      }
    }
  }
#endif

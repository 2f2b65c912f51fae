import LodestoreBytes

#if Datasets
  import Foundation
  import LodestorePages

  @testable import LodestoreDatasets

  /// A publisher, in a separate folder, of generations whose bytes follow from a seed.
  struct SamplePublisher {
    let folder: ScratchFolder
    let key: SigningKey
    var options = DatasetPublisher.Options()
    /// The bytes of each published generation.
    private(set) var generations: [UInt64: [UInt8]] = [:]

    var directory: String { folder.file("pods") }

    init() throws {
      folder = try ScratchFolder()
      key = try SigningKey(seed: [UInt8](repeating: 9, count: 32))
      options.compressionLevel = 1
    }

    static func facts(_ generation: UInt64, name: String = "pods") -> PublishedFacts {
      PublishedFacts(
        name: name, generation: generation, dataAsOf: Date(timeIntervalSinceReferenceDate: 8e8),
        sealedAt: Date(timeIntervalSinceReferenceDate: 8e8 + 60), schemaFingerprint: "ab",
        contentDigest: "cd", formatVersion: 6, records: ["Pod": 3])
    }

    /// Bytes that differ little from generation to generation.
    func bytes(of generation: UInt64, length: Int = 700_000) -> [UInt8] {
      var numbers = SeededNumbers(1)
      var bytes = numbers.bytes(length)
      for change in 0..<generation {
        var numbers = SeededNumbers(100 + change)
        for _ in 0..<10 { bytes[Int.random(in: 0..<length, using: &numbers)] ^= 0x80 }
      }
      return bytes
    }

    /// Writes the file of a generation, and publishes it.
    @discardableResult
    mutating func publish(_ generation: UInt64, now: Date = Date()) throws -> PublishReport {
      let bytes = bytes(of: generation)
      let path = try folder.write(bytes, to: "\(generation).lodestore")
      let report = try DatasetPublisher(directory, key: key, options: options)
        .publish(path, Self.facts(generation), now: now)
      generations[generation] = bytes
      return report
    }

    /// The names of the files in a part of the published folder, including hidden files.
    func names(in part: String) throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: "\(directory)/\(part)").sorted()
    }

    /// The manifest in the folder, verified by the key of the sample.
    func manifest() throws -> DatasetManifest {
      try DatasetManifest(
        verifying: ScratchFolder.bytes(of: "\(directory)/manifest.json"),
        with: TrustedKeys("1:\(key.publicKey)"), name: "pods")
    }

    /// Unpacks the whole generation that a manifest names.
    func unpacked(_ manifest: DatasetManifest) throws -> [UInt8] {
      let table = try ScratchFolder.bytes(of: "\(directory)/\(manifest.whole.frames.path)")
        ._withBytes { try FrameTable(reading: $0, of: manifest) }
      let output = folder.file("unpacked")
      try withNewFile(output) { descriptor in
        let unpacker = try FrameUnpacker(table, to: descriptor, path: output)
        try ScratchFolder.bytes(of: "\(directory)/\(manifest.whole.path)")[...]
          .taken(by: unpacker)
        try unpacker.finish()
      }
      return try ScratchFolder.bytes(of: output)
    }

    /// Applies a patch of a manifest to the generation that it starts from.
    func patched(_ patch: DatasetManifest.PatchFile, _ manifest: DatasetManifest) throws -> [UInt8]
    {
      let output = folder.file("patched")
      try withNewFile(output) { descriptor in
        try DatasetPatch.apply(
          "\(directory)/\(patch.path)", to: folder.file("\(patch.from).lodestore"),
          into: descriptor,
          at: output, as: patch, of: manifest)
      }
      return try ScratchFolder.bytes(of: output)
    }
  }
#endif

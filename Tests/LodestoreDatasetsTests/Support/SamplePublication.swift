import LodestoreBytes

#if Datasets
  import Foundation
  import LodestorePages
  import Testing

  @testable import LodestoreDatasets

  /// A generation, its compressed form, a patch from an older generation, and the signed manifest
  /// of all.
  struct SamplePublication: Sendable {
    let older: [UInt8]
    let newer: [UInt8]
    let compressed: [UInt8]
    let table: FrameTable
    let patch: [UInt8]
    let manifest: DatasetManifest
    let key: SigningKey
    let keys: TrustedKeys
    /// `manifest.json`.
    let signed: [UInt8]

    static let name = "pods"

    private static let made = Result { try SamplePublication(in: ScratchFolder()) }
    /// A sample for tests that need no files.
    static func shared() throws -> SamplePublication { try made.get() }

    init(in folder: ScratchFolder, length: Int = 1_300_000, seed: UInt64 = 1) throws {
      var numbers = SeededNumbers(seed)
      let older = numbers.bytes(length - 4_096)
      var newer = older + numbers.bytes(4_096)
      for _ in 0..<20 { newer[Int.random(in: 0..<newer.count, using: &numbers)] ^= 0xFF }
      let old = try MappedBytes(reading: folder.write(older, to: "older"))
      let new = try MappedBytes(reading: folder.write(newer, to: "newer"))
      let packed = try withNewFile(folder.file("compressed")) {
        try FramePacker.pack(new, to: $0, at: "compressed", level: 1)
      }
      compressed = try folder.read("compressed")
      table = packed.table
      patch =
        try DatasetPatch.make(
          from: old, to: new, level: 1, smallerThan: packed.table.compressedLength) ?? []
      try folder.write(patch, to: "patch")
      self.older = older
      self.newer = newer
      key = try SigningKey(seed: [UInt8](repeating: 7, count: 32))
      keys = try TrustedKeys("1:\(key.publicKey)")
      manifest = try Self.manifest(
        older: older, table: table, compressed: compressed, patch: patch)
      signed = try manifest.signed(by: [key])
    }

    private static func manifest(
      older: [UInt8], table: FrameTable, compressed: [UInt8], patch: [UInt8]
    ) throws -> DatasetManifest {
      DatasetManifest(
        name: name, generation: 42, dataAsOf: Date(timeIntervalSinceReferenceDate: 800_000_000),
        builtAt: Date(timeIntervalSinceReferenceDate: 800_000_100.5),
        publishedAt: Date(timeIntervalSinceReferenceDate: 800_000_200), keySet: 1,
        length: table.fileLength, digest: try #require(table.fileDigest), contentDigest: "00ff",
        schemaFingerprint: "ab12", formatVersion: 6, records: ["Pod": 11_028, "Author": 3],
        whole: DatasetManifest.WholeFile(
          name: "42-aa.lodestore.zst", length: UInt64(compressed.count),
          sha256: try sha256(compressed),
          frames: DatasetManifest.FrameFile(
            name: "42-aa.verity", length: UInt64(table.bytes.count),
            sha256: try sha256(table.bytes))),
        patches: [
          DatasetManifest.PatchFile(
            from: 41, fromDigest: try verity(older), fromLength: UInt64(older.count),
            name: "41-42-bb.zst", length: UInt64(patch.count), sha256: try sha256(patch))
        ], mirrors: ["https://mirror.example/pods/"])
    }

    static func sha256(_ bytes: [UInt8]) throws -> FileDigest {
      try #require(FileDigest(bytes: bytes._withBytes { SHA256Digest.digest(of: $0) }))
    }

    static func verity(_ bytes: [UInt8]) throws -> FileDigest {
      var tree = VerityTree()
      bytes._withBytes { tree.update($0) }
      tree.finish()
      return try #require(FileDigest(bytes: tree.digest))
    }
  }
#endif

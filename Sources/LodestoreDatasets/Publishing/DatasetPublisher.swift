package import Foundation

/// Publishes sealed files into a folder, which any static web server or bucket can serve.
///
/// One small signed file, `manifest.json`, names the newest generation. All other files have names
/// that are never reused, so caches may keep them forever. The manifest is replaced last, in one
/// step: a process that is killed leaves the old manifest or the new one, with all files that it
/// names. The next publisher removes the remains of a killed one.
///
/// Copy the folder to its server with `manifest.json` last, as `rsync` does with `--delay-updates`.
public struct DatasetPublisher: Sendable {
  /// Settings of a publisher.
  public struct Options: Sendable {
    /// Addresses of other servers with the folder; `nil` keeps the addresses in the last manifest.
    public var mirrors: [String]?
    /// The number of generations before the new one from which patches are made, at most 64.
    public var patchCount = 5
    /// The number of newest generations whose files stay, including the new one.
    public var keptGenerations = 10
    /// The time for which files of older generations stay after their replacement, for programs
    /// that are fetching them.
    public var keptFor = Duration.seconds(7 * 86_400)
    /// The level of zstd's compression, 1 to 19.
    ///
    /// Level 19 makes patches a third smaller than level 9, but takes forty times the time.
    public var compressionLevel = 9

    /// Creates options with the default values.
    public init() {}
  }

  /// The path of the folder.
  public let directory: String
  /// The settings of this publisher.
  public let options: Options
  let key: SigningKey

  /// Creates a publisher without touching any file.
  ///
  /// - Parameters:
  ///   - directory: The folder. ``publish(_:)`` creates it if it is missing.
  ///   - key: A key of the folder's newest key set. In a folder without keys it becomes the first
  ///     set.
  public init(_ directory: String, key: SigningKey, options: Options = Options()) {
    self.directory = directory
    self.key = key
    self.options = options
  }

  /// Publishes a file with known facts.
  package func publish(
    _ path: String, _ facts: PublishedFacts, now: Date = Date()
  ) throws(DatasetError) -> PublishReport {
    let folder = try PublishedFolder(directory)
    return try publish(path, facts, in: folder, removed: try folder.removeTemporaries(), now: now)
  }

  /// Publishes a file into the folder.
  ///
  /// This process must have locked the folder and removed the remains of other publishers.
  func publish(
    _ path: String, _ facts: PublishedFacts, in folder: PublishedFolder,
    removed temporaries: [String], now: Date = Date()
  ) throws(DatasetError) -> PublishReport {
    guard PublishedNames.isDatasetName(facts.name) else { throw .badName(facts.name) }
    guard facts.generation <= PublishedNames.numberLimit else {
      throw .outOfRange("generation", facts.generation, limit: PublishedNames.numberLimit)
    }
    let file = try MappedBytes(reading: path)
    var removed = temporaries
    let chain = try KeyChain(in: folder.path, name: facts.name)
    let last = try Self.manifest(in: folder.path, chain: chain)
    let keys = try signingKeys(folder, chain, name: facts.name, now: now)
    let newest = try Self.newest(in: folder.path, last)
    if facts.generation <= newest { throw .notNewer(facts.generation, than: newest) }
    removed += try Self.removeUnpublished(in: folder, above: newest)
    let whole = try writeCompressed(file, facts.generation, in: folder, path: path)
    let (patches, skipped) = try writePatches(
      file, to: facts.generation, in: folder, smallerThan: whole.entry.length)
    let manifest = DatasetManifest(
      name: facts.name, generation: facts.generation, dataAsOf: facts.dataAsOf,
      builtAt: facts.sealedAt, publishedAt: now, keySet: keys.number,
      length: whole.table.fileLength, digest: whole.digest, contentDigest: facts.contentDigest,
      schemaFingerprint: facts.schemaFingerprint, formatVersion: facts.formatVersion,
      records: facts.records, whole: whole.entry, patches: patches,
      mirrors: try mirrors(after: last))
    try Self.replace(manifest, in: folder, key: key, keys: keys)
    removed += removeOld(in: folder, newest: manifest, now: now)
    return PublishReport(
      manifest: manifest, previousGeneration: newest > 0 ? newest : nil, trustedKeys: keys,
      skippedPatches: skipped, removedFiles: removed)
  }

  /// The newest key set, which must contain the publisher's key.
  ///
  /// In a folder without keys, creates the first set.
  private func signingKeys(
    _ folder: PublishedFolder, _ chain: KeyChain, name: String, now: Date
  ) throws(DatasetError) -> TrustedKeys {
    if let keys = chain.trusted {
      guard keys.keys.contains(key.publicKey) else { throw .unlistedKey(key.publicKey, in: keys) }
      return keys
    }
    let set = KeySet(name: name, number: 1, createdAt: now, keys: [key.publicKey])
    try folder.write(try set.signed(by: [key]), in: PublishedNames.keys, as: "1.json")
    return TrustedKeys(set)
  }

  private func mirrors(after last: DatasetManifest?) throws(DatasetError) -> [String] {
    guard let mirrors = options.mirrors else { return last?.mirrors ?? [] }
    for mirror in mirrors {
      guard mirror.hasPrefix("https://") || mirror.hasPrefix("http://"), mirror.hasSuffix("/"),
        mirror.utf8.count <= DatasetManifest.mirrorByteLimit,
        mirrors.count <= DatasetManifest.mirrorLimit
      else { throw .badMirror(mirror) }
    }
    return mirrors
  }

  // MARK: The manifest

  /// The newest generation number, which the next publication's number must exceed; 0 for none.
  ///
  /// If the manifest is lost, the files determine it, because readers refuse a lower number. A
  /// single generation without a manifest is ignored, because it may be left from a first
  /// publication that was killed.
  static func newest(in folder: String, _ last: DatasetManifest?) throws(DatasetError) -> UInt64 {
    if let last { return last.generation }
    let here = Set(try GenerationFile.all(in: folder).map(\.generation))
    return here.count > 1 ? here.max() ?? 0 : 0
  }

  /// Reads and verifies the folder's manifest; `nil` if there is none.
  ///
  /// The manifest is signed under the newest key set. If a key rotation was killed before it signed
  /// the manifest again, an older set has signed it.
  static func manifest(
    in folder: String, chain: KeyChain
  ) throws(DatasetError) -> DatasetManifest? {
    guard
      let bytes = try PublishedFolder.contents(
        of: "\(folder)/\(PublishedNames.manifest)", atMost: SignedFile.manifest.byteLimit)
    else { return nil }
    let claimed = try DatasetManifest.claimedKeySet(in: bytes)
    guard let link = chain.links.first(where: { $0.set.number == claimed }) ?? chain.links.last
    else { throw .noKeys(folder) }
    return try DatasetManifest(verifying: bytes, with: TrustedKeys(link.set), name: link.set.name)
  }

  /// Signs a manifest and replaces the last one, after all files that it names are on the disk.
  static func replace(
    _ manifest: DatasetManifest, in folder: PublishedFolder, key: SigningKey, keys: TrustedKeys
  ) throws(DatasetError) {
    let bytes = try manifest.signed(by: [key])
    // The new manifest is read back as a program would read it, so that an unreadable one never
    // replaces the published one.
    let read = try DatasetManifest(verifying: bytes, with: keys, name: manifest.name)
    guard read.digest == manifest.digest, bytes.count <= SignedFile.manifest.byteLimit else {
      throw .outOfRange(
        "a manifest with bytes", UInt64(bytes.count), limit: UInt64(SignedFile.manifest.byteLimit))
    }
    try folder.syncNames()
    try folder.write(bytes, in: "", as: PublishedNames.manifest)
    try folder.syncNames()
  }
}

extension DatasetManifest {
  /// The version of manifests that this library reads and writes.
  static let version: UInt64 = 1
  /// The maximum number of patches in a manifest.
  static let patchLimit = 64
  /// The maximum number of mirrors in a manifest.
  static let mirrorLimit = 16
  /// The maximum length of a mirror's address in bytes.
  static let mirrorByteLimit = 2_048
  /// The maximum number of entities in a manifest.
  static let entityLimit = 4_096

  /// Reads `manifest.json` after verifying its signature.
  ///
  /// - Parameters:
  ///   - bytes: The file's content.
  ///   - keys: The key set that must have signed it. If `claimedKeySet(in:)` is higher than its
  ///     number, fetch the sets between them first.
  ///   - name: The dataset's name.
  /// - Throws: `DatasetError` with the code `untrusted`, `malformed`, `newerFormat` or
  ///   `otherDataset`.
  public init(
    verifying bytes: some Collection<UInt8>, with keys: TrustedKeys, name: String
  ) throws(DatasetError) {
    let envelope = try SignedEnvelope(reading: bytes, as: .manifest)
    do throws(DatasetError) {
      try self.init(payload: try envelope.payload(verifiedBy: keys.keys, keys.words))
    } catch  where error.code == .untrusted {
      // If the key is unknown, the manifest may be signed by a key of another set. The thrown error
      // then states the number of that key set.
      if let claimed = try? Self.claimedKeySet(of: envelope) {
        if claimed < keys.number { throw .replacedKeySet(found: claimed, trusted: keys.number) }
        if claimed > keys.number { throw .laterKeySet(found: claimed, trusted: keys.number) }
      }
      throw error
    }
    guard keySet >= keys.number else { throw .replacedKeySet(found: keySet, trusted: keys.number) }
    guard keySet == keys.number else { throw .laterKeySet(found: keySet, trusted: keys.number) }
    guard self.name == name else {
      throw .otherDataset(.manifest, found: self.name, expected: name)
    }
  }

  /// Returns the number of the key set under which a manifest claims to be signed, before any
  /// verification.
  ///
  /// The number is not trusted: it only determines which `keys/N.json` to fetch. Each of these key
  /// sets is verified with a key of the set before it.
  package static func claimedKeySet(in bytes: some Collection<UInt8>) throws(DatasetError) -> Int {
    try claimedKeySet(of: try SignedEnvelope(reading: bytes, as: .manifest))
  }

  private static func claimedKeySet(of envelope: SignedEnvelope) throws(DatasetError) -> Int {
    let object = try SignedObject(parsing: envelope.payload, of: .manifest)
    do throws(DatasetError) {
      return Int(try object.number("keySet", in: 1...KeySet.numberLimit))
    } catch {
      // The signature is not verified yet, so an unknown version is not reported here, but after
      // the verification.
      do throws(DatasetError) {
        try object.requireVersion(Self.version)
      } catch  where error.code == .newerFormat {
        return 1
      }
      throw error
    }
  }

  /// Reads a payload with a verified signature.
  init(payload: [UInt8]) throws(DatasetError) {
    let object = try SignedObject(parsing: payload, of: .manifest)
    try object.requireVersion(Self.version)
    name = try object.datasetName("name")
    generation = try object.number("generation", in: 1...PublishedNames.numberLimit)
    dataAsOf = try object.date("dataAsOf")
    builtAt = try object.date("builtAt")
    publishedAt = try object.date("publishedAt")
    keySet = Int(try object.number("keySet", in: 1...KeySet.numberLimit))
    let file = try object.object("file")
    length = try file.number("length", in: FrameTable.lowestFileLength...PublishedNames.lengthLimit)
    digest = try file.digest("verity")
    contentDigest = try file.hexText("content")
    schemaFingerprint = try file.hexText("schema")
    formatVersion = Int(try file.number("formatVersion", in: 1...65_535))
    records = try file.counts("records", atMost: Self.entityLimit)
    whole = try WholeFile(try object.object("whole"), fileLength: length)
    patches = try Self.patches(object, generation: generation, wholeLength: whole.length)
    mirrors = try object.texts("mirrors", atMost: Self.mirrorLimit, bytes: Self.mirrorByteLimit)
  }

  private static func patches(
    _ object: SignedObject, generation: UInt64, wholeLength: UInt64
  ) throws(DatasetError) -> [PatchFile] {
    guard generation > 1 else { return [] }
    var patches: [PatchFile] = []
    for node in try object.elements("patches", atMost: patchLimit) {
      let patch = PatchFile(
        from: try node.number("from", in: 1...(generation - 1)),
        fromDigest: try node.digest("fromVerity"),
        fromLength: try node.number("fromLength", in: 1...PublishedNames.lengthLimit),
        name: try node.fileName("name"),
        // A patch that is larger than the compressed whole file is refused.
        length: try node.number("length", in: 1...wholeLength), sha256: try node.digest("sha256"))
      patches.append(patch)
    }
    return patches
  }
}

extension DatasetManifest.WholeFile {
  init(_ object: SignedObject, fileLength: UInt64) throws(DatasetError) {
    name = try object.fileName("name")
    length = try object.number("length", in: 1...FrameTable.compressedLimit(of: fileLength))
    sha256 = try object.digest("sha256")
    let table = try object.object("frames")
    let expected = FrameTable.byteCount(of: fileLength)
    frames = DatasetManifest.FrameFile(
      name: try table.fileName("name"), length: try table.number("length", in: expected...expected),
      sha256: try table.digest("sha256"))
  }
}

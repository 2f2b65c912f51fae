internal import LMDB
internal import LodestoreBytes
public import LodestoreEssentials
internal import LodestoreFormat
internal import LodestorePages

/// The facts of a sealed file: its dataset, its generation, its dates and its counts.
///
/// A seal is not a signature: the creator of a file writes its seal. See <doc:SealedFiles>.
public struct Seal: Sendable, Hashable {
  /// The name of the dataset.
  ///
  /// A name has 1 to 64 ASCII letters, digits, `.`, `-` and `_`, and begins with a letter or digit.
  public var name: String
  /// The number of this state of the dataset, from 1 to 2^63 − 1; later states have higher numbers.
  public var generation: UInt64
  /// The date to which the data is current, as its publisher states it; the file may be created
  /// later.
  public var dataAsOf: Date
  /// The date at which the file was created.
  public var sealedAt: Date
  /// The SHA-256 of the catalogue, in 64 hexadecimal digits.
  ///
  /// Two generations with equal fingerprints have equal entities, attributes and indexes.
  public var schemaFingerprint: String
  /// The number of records of each entity, by the entity's name.
  public var recordCounts: [String: Int]
  /// The digest of all records, links and buckets, in 32 hexadecimal digits.
  ///
  /// Two generations with equal digests and fingerprints have equal content.
  public var contentDigest: String

  /// Creates a seal from these facts, for example for tests and previews.
  public init(
    name: String, generation: UInt64, dataAsOf: Date, sealedAt: Date, schemaFingerprint: String,
    recordCounts: [String: Int], contentDigest: String
  ) {
    self.name = name
    self.generation = generation
    self.dataAsOf = dataAsOf
    self.sealedAt = sealedAt
    self.schemaFingerprint = schemaFingerprint
    self.recordCounts = recordCounts
    self.contentDigest = contentDigest
  }

  init(_ description: SealDescription) {
    self.init(
      name: description.name, generation: description.generation,
      dataAsOf: Date(timeIntervalSinceReferenceDate: description.dataAsOf),
      sealedAt: Date(timeIntervalSinceReferenceDate: description.sealedAt),
      schemaFingerprint: Self.hexadecimal(description.schema),
      recordCounts: description.counts.mapValues { Int(clamping: $0) },
      contentDigest: "\(description.digest)")
  }

  static func hexadecimal(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(
      decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  /// Reads the seal of the file at `path` without opening the file as a store.
  ///
  /// The call reads a few pages, and checks only these pages and the checksum of the seal. Use it
  /// to choose among files, such as a bundled one and a downloaded one.
  ///
  /// - Throws: ``StoreError/Code/notSealed`` for a file without a seal;
  ///   ``StoreError/Code/noSuchStore``, ``StoreError/Code/damaged``,
  ///   ``StoreError/Code/newerFormat``.
  public init(ofFileAt path: String) throws(StoreError) {
    do {
      self.init(try Self.description(ofFileAt: path))
    } catch {
      throw StoreError(readingSealOf: path, error)
    }
  }

  private static func description(ofFileAt path: String) throws -> SealDescription {
    let snapshot = try PageSnapshot(newestOf: PageMap(LodestorePages.PageFile(path: path)))
    func value(_ key: [UInt8], in tree: PageTree) throws -> ByteView? {
      try key._withBytes { (key) throws(PageError) in try tree.pages?.pair(of: key)?.value }
    }
    return try withExtendedLifetime(snapshot) {
      guard SealMark.isPresent(in: snapshot.map), let tree = try snapshot.tree(TreeName.seal.text),
        let header = try snapshot.tree(TreeName.header.text)
      else { throw StoreError.notSealed(path) }
      guard let format = try value(HeaderField.format.key, in: header),
        let body = try value(SealDescription.key, in: tree)
      else { throw FormatError("it has no seal", .sealPair) }
      try Catalogue.check(FormatRequirement(bytes: format), path: path, isWriting: false)
      return try SealDescription(body: body)
    }
  }
}

extension StoreError {
  fileprivate init(readingSealOf path: String, _ error: any Error) {
    switch error {
    case let error as VerificationError:
      self.init(LMDBError(error, operation: "read the seal of", path: path))
    case let error as PageError:
      self.init(LMDBError(error, operation: "read the seal of", path: path))
    default: self.init(wrapping: error)
    }
  }
}

import LodestoreBytes

/// The description of a sealed file, stored as the only pair of its tree `seal`.
///
/// See Format.md, "Sealed files".
package struct SealDescription: Sendable, Hashable {
  /// The name of the dataset.
  package var name: String
  /// The dataset's generation, from 1.
  ///
  /// A later state has a higher generation.
  package var generation: UInt64
  /// The date up to which the data is current, in seconds since 2001-01-01T00:00:00Z.
  package var dataAsOf: Double
  /// The date at which the file was made, in seconds since 2001-01-01T00:00:00Z.
  package var sealedAt: Double
  /// The ``SchemaFingerprint`` of the catalogue's pairs; 32 bytes.
  package var schema: [UInt8]
  /// The ``SchemaFingerprint`` of the header's pairs followed by the counters'; 32 bytes.
  package var header: [UInt8]
  /// The number of records of each entity, by the entity's name.
  package var counts: [String: UInt64]
  /// The digest of the store.
  package var digest: ContentDigest

  package init(
    name: String, generation: UInt64, dataAsOf: Double, sealedAt: Double, schema: [UInt8],
    header: [UInt8], counts: [String: UInt64], digest: ContentDigest
  ) {
    self.name = name
    self.generation = generation
    self.dataAsOf = dataAsOf
    self.sealedAt = sealedAt
    self.schema = schema
    self.header = header
    self.counts = counts
    self.digest = digest
  }

  /// The key of the only pair.
  package static let key = Array("seal".utf8)
  /// The lowest writer version in the header of a sealed file.
  ///
  /// No version has this number, so no program writes to the file.
  package static let lowestWriter = UInt32.max
  package static let highestGeneration = UInt64(Int64.max)

  /// Whether a dataset may have the name: 1 to 64 ASCII letters, digits, `.`, `-` and `_`,
  /// beginning with a letter or digit.
  ///
  /// Such a name is also valid in file names and in URLs.
  package static func isValidName(_ name: String) -> Bool {
    name.utf8.count <= 64 && isFileName(name)
  }

  /// Whether a text has only ASCII letters, digits, `.`, `-` and `_`, and begins with a letter or
  /// digit.
  package static func isFileName(_ name: String) -> Bool {
    func isAlphanumeric(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: false
      }
    }
    guard let first = name.utf8.first else { return false }
    return isAlphanumeric(first)
      && name.utf8.allSatisfy { isAlphanumeric($0) || ".-_".utf8.contains($0) }
  }
}

extension SealDescription {
  /// The body of the pair: a checksum, then a document.
  package var body: [UInt8] {
    let counts = counts.mapValues { Document.integer(Int64(clamping: $0)) }
    let document = Document.object([
      "name": .string(name), "generation": .integer(Int64(clamping: generation)),
      "dataAsOf": .date(dataAsOf), "sealedAt": .date(sealedAt), "schema": .data(schema),
      "header": .data(header), "digest": .data(digest.bytes), "counts": .object(counts),
    ])
    return Checksum.sealed(key: Self.key, content: document.encoded())
  }

  /// Reads the body of the pair and ignores unknown members.
  package init(body: ByteView) throws(FormatError) {
    let content = try Self.key._withBytes { (key) throws(FormatError) in
      try Checksum.unsealed(key: key, body: body)
    }
    let document = try Document(decoding: content)
    func wrong(_ what: String) -> FormatError {
      FormatError("the seal has no '\(what)' as it must be", .sealMembers)
    }
    guard case .string(let name)? = document["name"], Self.isValidName(name) else {
      throw wrong("name")
    }
    guard case .integer(let generation)? = document["generation"], generation >= 1 else {
      throw wrong("generation")
    }
    guard case .date(let dataAsOf)? = document["dataAsOf"], dataAsOf.isFinite else {
      throw wrong("dataAsOf")
    }
    guard case .date(let sealedAt)? = document["sealedAt"], sealedAt.isFinite else {
      throw wrong("sealedAt")
    }
    guard case .data(let schema)? = document["schema"], schema.count == SchemaFingerprint.size
    else { throw wrong("schema") }
    guard case .data(let header)? = document["header"], header.count == SchemaFingerprint.size
    else { throw wrong("header") }
    guard case .data(let bytes)? = document["digest"],
      let digest = bytes._withBytes({ ContentDigest(bytes: $0) })
    else { throw wrong("digest") }
    guard case .object(let members)? = document["counts"] else { throw wrong("counts") }
    var counts: [String: UInt64] = [:]
    for (entity, count) in members {
      guard case .integer(let number) = count, number >= 0 else { throw wrong("counts") }
      counts[entity] = UInt64(number)
    }
    self.init(
      name: name, generation: UInt64(generation), dataAsOf: dataAsOf, sealedAt: sealedAt,
      schema: schema, header: header, counts: counts, digest: digest)
  }
}

/// The SHA-256 of all pairs of a tree in their order, usually of the catalogue.
///
/// A pair is hashed as the u32 LE length of its key, the key, the u32 LE length of its body and the
/// body.
///
/// See Format.md, "Sealed files".
package struct SchemaFingerprint {
  package static let size = 32

  private var bytes: [UInt8] = []

  package init() {}

  /// Adds the next pair.
  package mutating func add(key: ByteView, body: ByteView) {
    bytes += littleEndianBytes(UInt32(truncatingIfNeeded: key.count))
    bytes += key
    bytes += littleEndianBytes(UInt32(truncatingIfNeeded: body.count))
    bytes += body
  }

  /// The fingerprint of the pairs so far.
  package var value: [UInt8] { SHA256.hash(bytes) }
}

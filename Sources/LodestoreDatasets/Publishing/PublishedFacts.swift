#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// The facts of a sealed file that its manifest repeats, except lengths and digests.
package struct PublishedFacts: Sendable, Hashable {
  package let name: String
  package let generation: UInt64
  package let dataAsOf: Date
  package let sealedAt: Date
  /// The schema's fingerprint in hexadecimal.
  package let schemaFingerprint: String
  /// The content's digest in hexadecimal.
  package let contentDigest: String
  /// The lowest version of Format.md that reads the file.
  package let formatVersion: Int
  package let records: [String: Int]

  package init(
    name: String, generation: UInt64, dataAsOf: Date, sealedAt: Date, schemaFingerprint: String,
    contentDigest: String, formatVersion: Int, records: [String: Int]
  ) {
    self.name = name
    self.generation = generation
    self.dataAsOf = dataAsOf
    self.sealedAt = sealedAt
    self.schemaFingerprint = schemaFingerprint
    self.contentDigest = contentDigest
    self.formatVersion = formatVersion
    self.records = records
  }
}

package import Foundation

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
  /// The lowest version of the format (Format.md) that a program must know to read the file.
  package let formatVersion: Int
  package let records: [String: Int]
}

internal import CChecksum
import LodestoreBytes

/// SHA-256 (FIPS 180-4) of bytes that arrive in pieces.
///
/// Uses the processor's SHA instructions if it has them. A copy continues independently.
package struct SHA256Digest: Sendable {
  /// The size of a digest in bytes.
  package static let size = 32

  private var hash = lodestore_sha256()

  package init() { lodestore_sha256_begin(&hash) }

  package mutating func update(_ bytes: ByteView) {
    lodestore_sha256_add(&hash, bytes.baseAddress, bytes.count)
  }

  /// Returns the digest of all bytes so far, ``size`` bytes.
  ///
  /// More bytes can be added afterwards.
  package func finalize() -> [UInt8] {
    var ending = hash
    return [UInt8](unsafeUninitializedCapacity: Self.size) { digest, count in
      guard let start = digest.baseAddress else { return }
      lodestore_sha256_end(&ending, start)
      count = Self.size
    }
  }

  package static func digest(of bytes: ByteView) -> [UInt8] {
    var hash = SHA256Digest()
    hash.update(bytes)
    return hash.finalize()
  }
}

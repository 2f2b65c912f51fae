import CChecksum
import LodestoreBytes

/// SHA-256 (FIPS 180-4) of bytes in memory.
///
/// See Format.md, "Index keys".
///
/// The hash is implemented here so that users of the library need not build a cryptography package
/// for keys that rarely occur.
package enum SHA256 {
  package static func hash(_ message: some Collection<UInt8>) -> [UInt8] {
    let bytes = Array(message)
    return [UInt8](unsafeUninitializedCapacity: 32) { digest, count in
      guard let start = digest.baseAddress else { return }
      var hash = lodestore_sha256()
      lodestore_sha256_begin(&hash)
      bytes._withBytes { lodestore_sha256_add(&hash, $0.baseAddress, $0.count) }
      lodestore_sha256_end(&hash, start)
      count = 32
    }
  }
}

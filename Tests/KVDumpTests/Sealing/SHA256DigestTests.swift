import CChecksum
import LodestoreBytes
import LodestorePages
import Testing

/// The messages and digests are those of FIPS 180-4's published examples.
@Suite("SHA-256 in pieces")
struct SHA256DigestTests {
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    (
      "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
        + "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
      "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
    ),
  ])
  func `SHA-256 hashes published examples`(message: String, digest: String) {
    var hash = SHA256Digest()
    Array(message.utf8)._withBytes { hash.update($0) }
    #expect(hash.finalize().hexadecimal == digest)
  }

  @Test func `SHA-256 hashes a million letters`() {
    var hash = SHA256Digest()
    let letters = [UInt8](repeating: UInt8(ascii: "a"), count: 1_000)
    for _ in 0..<1_000 { letters._withBytes { hash.update($0) } }
    #expect(
      hash.finalize().hexadecimal
        == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
  }

  @Test func `SHA-256 has one digest for all divisions of the bytes into pieces`() {
    var random = DamageGenerator(seed: 44)
    let bytes = (0..<1_000).map { _ in UInt8.random(in: 0...255, using: &random) }
    let whole = bytes._withBytes { SHA256Digest.digest(of: $0) }
    for _ in 0..<200 {
      var hash = SHA256Digest()
      var rest = bytes[...]
      while !rest.isEmpty {
        let piece = rest.prefix(Int.random(in: 0...150, using: &random))
        piece._withBytes { hash.update($0) }
        rest = rest.dropFirst(piece.count)
      }
      #expect(hash.finalize() == whole)
    }
  }

  /// On a processor without instructions for SHA-256, both results come from the same code.
  @Test func `SHA-256 is equal with and without the processor's instructions`() {
    var random = DamageGenerator(seed: 45)
    let bytes = (0..<64 * 33).map { _ in UInt8.random(in: 0...255, using: &random) }
    var fast: [UInt32] = (1...8).map { $0 * 0x0123_4567 }
    var portable = fast
    lodestore_sha256_compress(&fast, bytes, 33)
    lodestore_sha256_compress_portable(&portable, bytes, 33)
    #expect(fast == portable)
  }
}

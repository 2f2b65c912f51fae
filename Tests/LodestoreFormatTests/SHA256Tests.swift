import LodestoreFormat
import Testing

/// The messages and digests are those of FIPS 180-4's published examples.
@Suite struct SHA256Tests {
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
    #expect(SHA256.hash(message.utf8) == bytes(hexadecimal: digest))
  }

  /// A block with 56 bytes or more of the message needs a second block for its padding.
  ///
  /// FIPS's own examples have no length near 64 bytes.
  @Test(arguments: [
    (55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"),
    (56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"),
    (64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"),
  ])
  func `SHA-256 pads at block boundaries`(count: Int, digest: String) {
    let message = [UInt8](repeating: UInt8(ascii: "a"), count: count)
    #expect(SHA256.hash(message) == bytes(hexadecimal: digest))
  }
}

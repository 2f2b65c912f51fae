internal import LodestoreFormat

/// The public half of an Ed25519 key (RFC 8032), which verifies what a publisher has signed.
public struct PublicKey: Sendable, Hashable, CustomStringConvertible {
  /// The 32 bytes of the key.
  public let bytes: [UInt8]
  /// The key's name in signatures: the SHA-256 of its bytes as 64 hexadecimal digits.
  public let id: String

  /// Makes a key from its 32 bytes; `nil` for any other number of bytes.
  public init?(bytes: [UInt8]) {
    guard bytes.count == 32 else { return nil }
    self.bytes = bytes
    id = HexText.encoded(SHA256.hash(bytes))
  }

  /// Reads a key from its 44 letters of Base64; `nil` for any other text.
  public init?(_ text: String) {
    guard text.utf8.count == 44, let bytes = Base64Text.decoded(text) else { return nil }
    self.init(bytes: bytes)
  }

  /// The key as 44 letters of Base64.
  public var description: String { Base64Text.encoded(bytes) }

  /// The first 16 digits of the id, for people.
  public var shortID: String { String(id.prefix(16)) }
}

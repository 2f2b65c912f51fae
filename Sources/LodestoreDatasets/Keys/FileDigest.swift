/// A SHA-256 or an fs-verity digest: 32 bytes.
public struct FileDigest: Sendable, Hashable, CustomStringConvertible {
  /// The 32 bytes.
  public let bytes: [UInt8]

  /// Makes a digest from its 32 bytes; `nil` for any other number of bytes.
  public init?(bytes: [UInt8]) {
    guard bytes.count == 32 else { return nil }
    self.bytes = bytes
  }

  /// Reads 64 hexadecimal digits in lower case; `nil` for any other text.
  public init?(_ text: String) {
    guard text.utf8.count == 64, let bytes = HexText.decoded(text) else { return nil }
    self.bytes = bytes
  }

  /// The digest as 64 hexadecimal digits.
  public var description: String { HexText.encoded(bytes) }
}

/// The error for a compressed file that cannot be read.
struct GzipError: Error, Sendable, Hashable, CustomStringConvertible {
  enum Reason: Sendable, Hashable {
    /// The file ends inside the compressed text.
    case cutOff
    /// The bytes violate gzip (RFC 1952) or DEFLATE (RFC 1951).
    case malformed
    /// The length or checksum of the decompressed text differs from the one in the file.
    case wrongChecksum
    /// The end of a gzip member is followed by bytes that do not begin another member.
    case trailingContent
    /// The file decompresses to implausibly many bytes.
    case expandsTooMuch(limit: Int)
    /// The first bytes show that the file has another compression.
    case otherCompression(String)
  }

  let reason: Reason
  /// The offset in the compressed file, in bytes.
  let offset: Int

  var description: String {
    if case .otherCompression = reason { return words }
    return "cannot read gzip at byte \(offset): \(words)"
  }

  private var words: String {
    switch reason {
    case .cutOff: "the file ends inside the compressed text; fetch it again"
    case .malformed: "the bytes are no gzip; fetch the file again"
    case .wrongChecksum:
      "the length or the checksum of the text differs from that in the file; fetch it again"
    case .trailingContent: "other bytes follow the compressed text; remove them"
    case .expandsTooMuch(let limit):
      "the text is more than \(limit) times as long as the file; decompress it first if that is right"
    case .otherCompression(let name):
      "found a file compressed by \(name), expected text or gzip; decompress it first"
    }
  }
}

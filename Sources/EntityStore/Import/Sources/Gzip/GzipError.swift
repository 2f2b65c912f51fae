/// A compressed file that cannot be read.
struct GzipError: Error, Sendable, Hashable, CustomStringConvertible {
  enum Reason: Sendable, Hashable {
    /// The file ends inside the compressed text.
    case cutOff
    /// Bytes that neither gzip (RFC 1952) nor DEFLATE (RFC 1951) has.
    case malformed
    /// Another length or checksum than the file says.
    case wrongChecksum
    /// Bytes after the end that are no other member.
    case trailingContent
    /// More bytes come out than any text would need.
    case expandsTooMuch(limit: Int)
    /// A file of another compression, which its first bytes show.
    case otherCompression(String)
  }

  let reason: Reason
  /// Where in the compressed file, in bytes.
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
      "the text has another length or checksum than the file says; fetch it again"
    case .trailingContent: "other bytes follow the compressed text; take them away"
    case .expandsTooMuch(let limit):
      "the text is more than \(limit) times as long as the file; decompress it first if that is right"
    case .otherCompression(let name):
      "found a file compressed by \(name), expected text or gzip; decompress it first"
    }
  }
}

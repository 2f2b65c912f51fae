internal import LodestoreFormat

/// HMAC with SHA-256: RFC 2104.
///
/// The code is implemented here so that signed requests need no cryptography package.
enum HMAC {
  private static let blockSize = 64

  static func sha256(_ message: some Sequence<UInt8>, key: [UInt8]) -> [UInt8] {
    var block = key.count > blockSize ? SHA256.hash(key) : key
    block += [UInt8](repeating: 0, count: blockSize - block.count)
    let inner = SHA256.hash(block.map { $0 ^ 0x36 } + message)
    return SHA256.hash(block.map { $0 ^ 0x5C } + inner)
  }
}

#if canImport(CryptoKit)
  internal import CryptoKit
#elseif Datasets
  internal import Crypto
#endif

/// An Ed25519 private key (RFC 8032), with which a publisher signs manifests and key sets.
///
/// The text form is PEM of PKCS #8 (RFC 8410), as `openssl genpkey -algorithm ed25519` writes it.
/// The description shows only the public half.
public struct SigningKey: Sendable, CustomStringConvertible {
  private let seed: [UInt8]
  /// The public half.
  public let publicKey: PublicKey

  /// The bytes before the seed in PKCS #8: version 0, the algorithm 1.3.101.112, an octet string.
  private static let prefix: [UInt8] = [
    0x30, 0x2E, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
  ]
  private static let header = "-----BEGIN PRIVATE KEY-----"
  private static let footer = "-----END PRIVATE KEY-----"

  /// Makes a new key from the system's random numbers.
  ///
  /// - Throws: `DatasetError` with the code `unsupported` if the package was built without the
  ///   trait `Datasets`.
  public init() throws(DatasetError) {
    var generator = SystemRandomNumberGenerator()
    try self.init(seed: (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
  }

  /// Makes the key from a seed of 32 bytes.
  package init(seed: [UInt8]) throws(DatasetError) {
    self.seed = seed
    #if canImport(CryptoKit) || Datasets
      guard let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: seed),
        let publicKey = PublicKey(bytes: Array(key.publicKey.rawRepresentation))
      else { throw .badKeyFile("") }
      self.publicKey = publicKey
    #else
      throw .notBuilt
    #endif
  }

  /// Reads a key from PEM.
  ///
  /// - Parameters:
  ///   - text: The content of a key file.
  ///   - name: The file's name, for messages.
  /// - Throws: `DatasetError` with the code `badKey`.
  public init(pem text: String, name: String = "text") throws(DatasetError) {
    let lines = text.split(whereSeparator: \.isNewline).map { $0.filter { !$0.isWhitespace } }
      .filter { !$0.isEmpty }
    let frame = [Self.header, Self.footer].map { $0.filter { !$0.isWhitespace } }
    guard lines.count >= 3, lines.first == frame[0], lines.last == frame[1],
      let bytes = Base64Text.decoded(lines[1..<(lines.count - 1)].joined()),
      bytes.count == Self.prefix.count + 32, bytes.starts(with: Self.prefix)
    else { throw .badKeyFile(name) }
    try self.init(seed: Array(bytes.suffix(32)))
  }

  /// The key as PEM.
  ///
  /// This is the secret itself.
  public var pem: String {
    "\(Self.header)\n\(Base64Text.encoded(Self.prefix + seed))\n\(Self.footer)\n"
  }

  /// The public half.
  public var description: String { publicKey.description }

  /// Signs bytes.
  func signature(of bytes: [UInt8]) throws(DatasetError) -> [UInt8] {
    #if canImport(CryptoKit) || Datasets
      guard let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: seed),
        let signature = try? key.signature(for: bytes)
      else { throw .badKeyFile("") }
      return Array(signature)
    #else
      throw .notBuilt
    #endif
  }
}

extension PublicKey {
  /// Returns whether `signature` is this key's signature of `bytes`.
  func verifies(_ signature: [UInt8], of bytes: [UInt8]) throws(DatasetError) -> Bool {
    #if canImport(CryptoKit) || Datasets
      guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: self.bytes) else {
        return false
      }
      return key.isValidSignature(signature, for: bytes)
    #else
      throw .notBuilt
    #endif
  }
}

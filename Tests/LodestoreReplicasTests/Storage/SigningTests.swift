import Foundation
import Testing

@testable import LodestoreReplicas

/// Signatures of requests, against the values that the standards and Amazon publish.
@Suite struct SigningTests {
  // MARK: HMAC

  struct Case: Sendable {
    var key: [UInt8]
    var message: [UInt8]
    var code: String
  }

  /// The cases of RFC 4231, section 4; the fifth states only the first 128 bits.
  static let cases = [
    Case(
      key: [UInt8](repeating: 0x0B, count: 20), message: Array("Hi There".utf8),
      code: "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
    Case(
      key: Array("Jefe".utf8), message: Array("what do ya want for nothing?".utf8),
      code: "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
    Case(
      key: [UInt8](repeating: 0xAA, count: 20), message: [UInt8](repeating: 0xDD, count: 50),
      code: "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
    Case(
      key: Array(1...25), message: [UInt8](repeating: 0xCD, count: 50),
      code: "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"),
    Case(
      key: [UInt8](repeating: 0x0C, count: 20), message: Array("Test With Truncation".utf8),
      code: "a3b6167473100ee06e0c796c2955552b"),
    Case(
      key: [UInt8](repeating: 0xAA, count: 131),
      message: Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
      code: "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"),
    Case(
      key: [UInt8](repeating: 0xAA, count: 131),
      message: Array(
        ("This is a test using a larger than block-size key and a larger than block-size data. "
          + "The key needs to be hashed before being used by the HMAC algorithm.").utf8),
      code: "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"),
  ]

  @Test(arguments: cases)
  func `an HMAC is the one of RFC 4231`(of given: Case) {
    let code = RequestText.hex(HMAC.sha256(given.message, key: given.key))
    #expect(code.hasPrefix(given.code))
  }

  @Test func `a key of the block's size is used as it is`() {
    let key = [UInt8](repeating: UInt8(ascii: "a"), count: 64)
    // By Python: hmac.new(b'a' * 64, b'x', 'sha256').hexdigest().
    #expect(
      RequestText.hex(HMAC.sha256([UInt8(ascii: "x")], key: key))
        == "b65ca3a3235f948bc0e6bd747532c54a983b54ddad1a4d1bd8b958e065b1cab4")
  }

  // MARK: Amazon's examples

  /// The keys, the bucket and the time of the examples in Amazon's "Signature Calculations for the
  /// Authorization Header" (Transferring Payload in a Single Chunk).
  private static let signer = RequestSigner(
    credentials: S3Credentials(
      accessKey: "AKIAIOSFODNN7EXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    region: "us-east-1")
  private static let time = 1_369_353_600
  private static let host = (name: "host", value: "examplebucket.s3.amazonaws.com")

  private func authorization(_ request: RequestSigner.Request) -> String? {
    Self.signer.signedFields(of: request, at: Self.time).first { $0.name == "Authorization" }?.value
  }

  @Test func `reading a part of an object has Amazon's signature`() {
    let request = RequestSigner.Request(
      method: "GET", path: "/test.txt",
      fields: [Self.host, (name: "Range", value: "bytes=0-9")],
      bodyHash: RequestSigner.emptyHash)
    #expect(
      authorization(request)
        == "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
        + "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
        + "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
  }

  @Test func `writing an object has Amazon's signature`() {
    let request = RequestSigner.Request(
      method: "PUT", path: RequestText.encodedPath("/test$file.text"),
      fields: [
        Self.host, (name: "Date", value: "Fri, 24 May 2013 00:00:00 GMT"),
        (name: "x-amz-storage-class", value: "REDUCED_REDUNDANCY"),
      ],
      bodyHash: "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072")
    #expect(
      authorization(request)
        == "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
        + "SignedHeaders=date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class, "
        + "Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd")
  }

  @Test func `reading a bucket's lifecycle has Amazon's signature`() {
    let request = RequestSigner.Request(
      method: "GET", path: "/", query: [(name: "lifecycle", value: "")], fields: [Self.host],
      bodyHash: RequestSigner.emptyHash)
    #expect(
      authorization(request)?.hasSuffix(
        "Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543") == true)
  }

  @Test func `listing a bucket has Amazon's signature`() {
    let request = RequestSigner.Request(
      method: "GET", path: "/",
      query: [(name: "prefix", value: "J"), (name: "max-keys", value: "2")], fields: [Self.host],
      bodyHash: RequestSigner.emptyHash)
    #expect(
      authorization(request)?.hasSuffix(
        "Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7") == true)
  }

  @Test func `a session token is signed and sent`() throws {
    let credentials = S3Credentials(accessKey: "A", secretKey: "S", sessionToken: "T/+=")
    let request = RequestSigner.Request(
      method: "GET", path: "/", fields: [Self.host], bodyHash: RequestSigner.emptyHash)
    let fields = RequestSigner(credentials: credentials, region: "r").signedFields(
      of: request, at: 0)
    #expect(fields.contains { $0.name == "x-amz-security-token" && $0.value == "T/+=" })
    let authorization = try #require(fields.last).value
    #expect(authorization.contains(";x-amz-date;x-amz-security-token, "))
  }

  // MARK: Text

  @Test func `times are those of the system's calendar`() throws {
    let format = DateFormatter()
    format.locale = Locale(identifier: "en_US_POSIX")
    format.timeZone = TimeZone(identifier: "UTC")
    format.dateFormat = "yyyyMMdd'T'HHmmss'Z'"
    var random = SeededRandom(seed: 47)
    for _ in 0..<5_000 {
      let seconds = Int.random(in: 0...253_402_300_799, using: &random)
      let expected = format.string(from: Date(timeIntervalSince1970: Double(seconds)))
      try #require(RequestText.time(seconds) == expected, "\(seconds)")
    }
    #expect(RequestText.time(951_782_400) == "20000229T000000Z")
    #expect(RequestText.time(.min) == "19700101T000000Z")
    #expect(RequestText.time(.max) == "99991231T235959Z")
  }

  @Test func `paths keep slashes and encode every other reserved byte`() {
    #expect(RequestText.encodedPath("a b/ä+~*") == "a%20b/%C3%A4%2B~%2A")
    #expect(RequestText.encoded("a/b=c&d") == "a%2Fb%3Dc%26d")
  }
}

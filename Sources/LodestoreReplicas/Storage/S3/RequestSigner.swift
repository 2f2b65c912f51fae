internal import LodestoreFormat

/// Signs requests by AWS Signature Version 4, in header fields.
struct RequestSigner: Sendable {
  static let algorithm = "AWS4-HMAC-SHA256"
  /// The SHA-256 of no bytes, as hexadecimal text.
  static let emptyHash = RequestText.hex(SHA256.hash([]))

  let credentials: S3Credentials
  let region: String
  var service = "s3"

  /// A request as it is signed.
  struct Request: Sendable {
    var method: String
    /// The percent-encoded path as it is sent.
    var path: String
    /// Names and values of the query, not encoded.
    var query: [(name: String, value: String)] = []
    /// All header fields to sign, including `host`.
    var fields: [(name: String, value: String)]
    /// The SHA-256 of the body as hexadecimal text.
    var bodyHash: String

    /// The query as it is signed and sent: encoded, in the order of the encoded names.
    var encodedQuery: String {
      query.map { (RequestText.encoded($0.name), RequestText.encoded($0.value)) }
        .sorted { $0.0.utf8.elementsEqual($1.0.utf8) ? $0.1 < $1.1 : $0.0 < $1.0 }
        .map { "\($0.0)=\($0.1)" }.joined(separator: "&")
    }
  }

  /// Returns the fields of a request together with those of its signature.
  ///
  /// - Parameter seconds: The time of the request in seconds since 1970.
  func signedFields(of request: Request, at seconds: Int) -> [(name: String, value: String)] {
    let time = RequestText.time(seconds)
    var request = request
    request.fields.append((name: "x-amz-content-sha256", value: request.bodyHash))
    request.fields.append((name: "x-amz-date", value: time))
    if let token = credentials.sessionToken {
      request.fields.append((name: "x-amz-security-token", value: token))
    }
    let day = String(time.prefix(8))
    let scope = "\(day)/\(region)/\(service)/aws4_request"
    let (canonical, names) = Self.canonicalText(of: request)
    let text = [
      Self.algorithm, time, scope, RequestText.hex(SHA256.hash(canonical.utf8)),
    ].joined(separator: "\n")
    let signature = RequestText.hex(HMAC.sha256(text.utf8, key: signingKey(day)))
    let authorization =
      "\(Self.algorithm) Credential=\(credentials.accessKey)/\(scope), "
      + "SignedHeaders=\(names), Signature=\(signature)"
    return request.fields + [(name: "Authorization", value: authorization)]
  }

  /// The canonical request, and the names of its signed fields.
  static func canonicalText(of request: Request) -> (text: String, signedNames: String) {
    let fields = request.fields
      .map { (name: $0.name.lowercased(), value: trimmed($0.value)) }
      .sorted { $0.name < $1.name }
    let names = fields.map(\.name).joined(separator: ";")
    let lines =
      [request.method, request.path, request.encodedQuery]
      + fields.map { "\($0.name):\($0.value)" } + ["", names, request.bodyHash]
    return (lines.joined(separator: "\n"), names)
  }

  /// A field's value without outer spaces, and with single inner ones.
  private static func trimmed(_ value: String) -> String {
    value.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
  }

  private func signingKey(_ day: String) -> [UInt8] {
    [day, region, service, "aws4_request"]
      .reduce(Array("AWS4\(credentials.secretKey)".utf8)) { key, word in
        HMAC.sha256(word.utf8, key: key)
      }
  }
}

/// The parts of an HTTP request that the inspector reads.
struct Request: Sendable {
  var method: String
  /// The path and the query, as the client sent them.
  var target: String
  var host: String?
  var origin: String?
  var cookie: String?
  /// The relation of the page that made the request, which browsers send.
  var fetchSite: String?
  /// The key, for programs that keep no cookies.
  var authorization: String?
  var contentType: String?
  var hasBody = false
  var body: [UInt8] = []

  init(_ target: String, method: String = "GET") {
    self.target = target
    self.method = method
  }

  /// A request without its body.
  init(_ head: RequestHead) {
    self.init(head.target, method: head.method)
    host = head["host"]
    origin = head["origin"]
    cookie = head["cookie"]
    fetchSite = head["sec-fetch-site"]
    authorization = head["authorization"]
    contentType = head["content-type"]
    hasBody = head.bodyLength > 0
  }

  /// The forms of a body.
  enum BodyForm: Sendable {
    case json, form
  }

  /// The form of the body; `nil` for any other.
  var bodyForm: BodyForm? {
    let type = contentType?.split(separator: ";").first?.lowercased()
    return switch type?.split(separator: " ").first {
    case "application/json": .json
    case "application/x-www-form-urlencoded": .form
    default: nil
    }
  }
}

/// An HTTP response.
struct Response: Sendable {
  var status: Int
  var contentType = "text/plain; charset=utf-8"
  /// Further header fields by name.
  var fields: [(name: String, value: String)] = []
  /// The content, whose later parts are read while they are sent.
  var body: TwinPart

  init(_ status: Int, contentType: String, _ body: TwinPart) {
    self.status = status
    self.contentType = contentType
    self.body = body
  }

  /// Makes a response of one sentence.
  init(_ status: Int, _ text: String) {
    self.status = status
    body = TwinPart(Array((text + "\n").utf8))
  }

  /// The fields that every response has.
  ///
  /// The policy allows no frame, no address elsewhere and no script except the file of this server.
  /// Even markup that a fault let through could therefore run and send nothing. The policy for
  /// trusted types keeps that script from making markup from text. Browsers send the origin of a
  /// form only with a referrer policy that allows it; other origins get no referrer.
  static let safetyFields: [(name: String, value: String)] = [
    (
      "Content-Security-Policy",
      "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; "
        + "img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
        + "require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "same-origin"), ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    (
      "Permissions-Policy",
      "camera=(), geolocation=(), microphone=(), payment=(), usb=()"
    ),
    ("Cache-Control", "no-store"),
  ]

  var allFields: [(name: String, value: String)] {
    [("Content-Type", contentType)] + Self.safetyFields + fields
  }
}

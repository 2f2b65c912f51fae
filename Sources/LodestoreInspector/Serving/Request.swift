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
  var hasBody = false

  init(_ target: String, method: String = "GET") {
    self.target = target
    self.method = method
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
  /// trusted types keeps that script from making markup from text.
  static let safetyFields: [(name: String, value: String)] = [
    (
      "Content-Security-Policy",
      "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; "
        + "img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
        + "require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Opener-Policy", "same-origin"),
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

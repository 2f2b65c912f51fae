import Testing

@testable import LodestoreInspector

@Suite("Gate")
struct GateTests {
  private let gate = Gate(key: AccessKey(), port: 8_091)

  private func request(_ target: String = "/", _ change: (inout Request) -> Void = { _ in })
    -> Request
  {
    var request = Request(target)
    request.host = "127.0.0.1:8091"
    request.cookie = "theme=dark; lodestore-8091=\(gate.key.text)"
    change(&request)
    return request
  }

  private func status(_ request: Request) -> Int {
    switch gate.decide(request) {
    case .admitted: 200
    case .refused(let response): response.status
    }
  }

  private func field(_ name: String, _ request: Request) -> String? {
    guard case .refused(let response) = gate.decide(request) else { return nil }
    return response.allFields.first { $0.name == name }?.value
  }

  @Test func `a request of its own pages is admitted`() {
    #expect(status(request()) == 200)
    #expect(status(request { $0.host = "LOCALHOST:8091" }) == 200)
    #expect(status(request { $0.origin = "http://127.0.0.1:8091" }) == 200)
    #expect(status(request { $0.fetchSite = "same-origin" }) == 200)
    #expect(status(request { $0.fetchSite = "none" }) == 200)
    #expect(status(request { $0.method = "HEAD" }) == 200)
  }

  @Test(arguments: [
    nil, "", "127.0.0.1", "127.0.0.1:80", "evil.example", "evil.example:8091",
    "127.0.0.1:8091.evil.example", "127.0.0.1:8091 evil", "[::1]:8091",
  ])
  func `another host is refused, also with the key`(host: String?) {
    #expect(status(request { $0.host = host }) == 421)
    #expect(status(request("/?key=\(gate.key.text)") { $0.host = host }) == 421)
  }

  @Test(arguments: [
    "null", "http://evil.example", "https://127.0.0.1:8091", "http://127.0.0.1:8092", "",
  ])
  func `another origin is refused`(origin: String) {
    #expect(status(request { $0.origin = origin }) == 403)
  }

  @Test(arguments: ["cross-site", "same-site"])
  func `a request by a page of another site is refused`(site: String) {
    #expect(status(request { $0.fetchSite = site }) == 403)
  }

  @Test(arguments: ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "get"])
  func `another method is refused`(method: String) {
    #expect(status(request { $0.method = method }) == 405)
    #expect(field("Allow", request { $0.method = method }) == "GET, HEAD")
  }

  @Test func `a change comes from a page of the server, or from a program with the key`() {
    var writing = gate
    writing.allowsWrites = true
    func status(_ change: (inout Request) -> Void) -> Int {
      var post = request("/Pod/1/-/delete") {
        $0.method = "POST"
        $0.origin = "http://127.0.0.1:8091"
        $0.fetchSite = "same-origin"
        $0.contentType = "application/x-www-form-urlencoded; charset=utf-8"
        $0.hasBody = true
      }
      change(&post)
      return switch writing.decide(post) {
      case .admitted: 200
      case .refused(let response): response.status
      }
    }
    #expect(status { _ in } == 200)
    #expect(status { $0.fetchSite = nil } == 200)
    #expect(status { $0.origin = nil } == 403)
    #expect(status { $0.origin = "null" } == 403)
    #expect(status { $0.origin = "http://evil.example" } == 403)
    for site in ["none", "same-site", "cross-site"] {
      #expect(status { $0.fetchSite = site } == 403)
    }
    for type in [nil, "", "text/plain", "multipart/form-data; boundary=x"] {
      #expect(status { $0.contentType = type } == 415)
    }
    #expect(status { $0.cookie = nil } == 403)
    func program(_ request: inout Request) {
      (request.cookie, request.origin, request.fetchSite) = (nil, nil, nil)
      request.contentType = "application/json"
      request.authorization = "Bearer \(gate.key.text)"
    }
    #expect(status { program(&$0) } == 200)
    #expect(
      status {
        program(&$0)
        $0.authorization = "Bearer 0123456789abcdef0123456789abcdef"
      } == 403)
    #expect(status { $0.method = "PUT" } == 405)
    #expect(self.status(request { $0.method = "POST" }) == 405)
  }

  @Test func `a body is refused`() { #expect(status(request { $0.hasBody = true }) == 413) }

  @Test func `without the key nothing is shown`() {
    for cookie in [
      nil, "", "lodestore-8091=", "lodestore-8091=x", "lodestore-8092=\(gate.key.text)",
      "lodestore-8091=\(gate.key.text)0", "xlodestore-8091=\(gate.key.text)",
      "lodestore-8091=\(gate.key.text.dropLast())",
    ] {
      #expect(status(request { $0.cookie = cookie }) == 403)
    }
    #expect(status(request("/?key=") { $0.cookie = nil }) == 403)
    #expect(status(request("/?key=0123456789abcdef0123456789abcdef") { $0.cookie = nil }) == 403)
  }

  @Test func `the key of the address becomes a cookie that scripts and other sites cannot use`() {
    let first = request("/Pod?name=a&key=\(gate.key.text)") { $0.cookie = nil }
    #expect(status(first) == 303)
    #expect(field("Location", first) == "/Pod?name=a")
    #expect(
      field("Set-Cookie", first)
        == "lodestore-8091=\(gate.key.text); Path=/; HttpOnly; SameSite=Strict")
  }

  @Test func `a redirect stays on this server`() {
    for path in ["//evil.example/", "/\\evil.example", "/%2F%2Fevil.example", "/%0D%0AX:1"] {
      let location = field("Location", request("\(path)?key=\(gate.key.text)"))
      #expect(location.map { !$0.hasPrefix("//") && !$0.contains("\r") } ?? true)
    }
  }

  @Test func `keys differ and are long`() {
    let keys = (0..<100).map { _ in AccessKey().text }
    #expect(Set(keys).count == 100)
    #expect(keys.allSatisfy { $0.utf8.count == 32 })
  }

  @Test func `each response forbids frames, other hosts and scripts of other origin`() {
    let fields = Dictionary(
      Response(200, "text").allFields.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
    let policy = fields["Content-Security-Policy"] ?? ""
    #expect(policy.hasPrefix("default-src 'none';"))
    #expect(!policy.contains("unsafe") && !policy.contains("*") && !policy.contains("http"))
    #expect(policy.contains("; script-src 'self'; connect-src 'self'; "))
    #expect(policy.hasSuffix("; require-trusted-types-for 'script'; trusted-types 'none'"))
    #expect(fields["X-Content-Type-Options"] == "nosniff")
    #expect(fields["Referrer-Policy"] == "same-origin")
    #expect(fields["Cache-Control"] == "no-store")
  }
}

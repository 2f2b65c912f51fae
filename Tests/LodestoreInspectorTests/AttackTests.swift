#if Inspector
  import EntityStore
  import LodestoreSystem
  import Testing

  // Whole Foundation: the environment of the process is not in FoundationEssentials.
  import Foundation

  @testable import LodestoreInspector

  /// Attacks on the server by a client of this machine that has the key, and by one without it.
  ///
  /// `LODESTORE_ATTACK_SECONDS` is the time of the attack by addresses, and `LODESTORE_SEED`
  /// repeats it.
  @Suite("Attacks on the server")
  struct AttackTests {
    private static func number(_ name: String) -> UInt64? {
      ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }

    /// Each kind of route, and addresses that lead to nothing.
    static let targets = [
      "/", "/.json", "/Team", "/Team.csv", "/Team.jsonl", "/Team.json?_facet=name",
      "/Team?_where=seats%20%3E", "/Team/-/schema", "/Team/-/plan?_where=seats%20%3E%201",
      "/Team/1", "/Team/99", "/Team/1/members", "/Team/1/members.csv", "/Team/-/index/name",
      "/-/history", "/-/history/1", "/-/history/9", "/-/history/1/Team/1", "/-/imports",
      "/-/model", "/-/live", "/-/style.css", "/-/page.js", "/-/icon.svg", "/Team/-/new",
      "/Team/1/-/edit", "/Project/1/helpers/-/edit", "/Team/1/-/delete", "/Team/-/update",
      "/Team/-/delete",
      "/-/history/1/-/undo", "/-/change", "/nothing", "/%", "//x", "/Team?_limit=x", "/Te%00am",
      "/?key=0123", "*",
    ]

    @Test(arguments: ["GET", "HEAD", "POST", "PUT", "OPTIONS", "TRACE"])
    func `each response has the fields that keep a browser safe`(method: String) async throws {
      let teams = try await Teams()
      let server = try await PageServer.start(teams.responder, port: 0)
      let gate = server.gate
      let store = DynamicStore(teams.store)
      try await ReadingThreads().run {
        for (number, target) in Self.targets.enumerated() {
          for variant in 0..<4 {
            let connection = try ClientConnection(port: gate.port)
            var head = "\(method) \(target) HTTP/1.1\r\n"
            head += variant == 3 ? "Host: evil.example\r\n" : "Host: 127.0.0.1:\(gate.port)\r\n"
            if variant != 1 { head += "Cookie: \(gate.cookieName)=\(gate.key.text)\r\n" }
            if variant == 2 { head += "Origin: http://evil.example\r\n" }
            if method == "POST" {
              head += "Content-Type: application/json\r\nContent-Length: 2\r\n"
            }
            try connection.send(head + "\r\n" + (method == "POST" ? "{}" : ""))
            let answer = try #require(
              try connection.answer(hasBody: method != "HEAD"), "\(method) \(target)")
            try Self.check(answer, "\(method) \(target), variant \(variant)")
            if variant == 1 || variant == 2 { #expect([400, 403, 405].contains(answer.status)) }
            if variant == 3 { #expect(answer.status == 421) }
            if number == 0, variant == 0, method == "GET" { #expect(answer.status == 200) }
          }
        }
        // Questions are asked, and nothing is changed.
        #expect(try store.read { try $0.historyToken().number } == 1)
      }
      await server.stop()
    }

    @Test func `a request that is no HTTP is answered with the same fields`() async throws {
      let teams = try await Teams()
      let server = try await PageServer.start(teams.responder, port: 0)
      let port = server.gate.port
      try await ReadingThreads().run {
        for text in [
          "\u{16}\u{3}\u{1}\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n",
          "GET / HTTP/1.1\r\nA\r\n\r\n",
          "GET /\(String(repeating: "x", count: 20_000)) HTTP/1.1\r\n\r\n",
        ] {
          let connection = try ClientConnection(port: port)
          try connection.send(text)
          let answer = try #require(try connection.answer())
          try Self.check(answer, text)
          #expect(answer.fields["connection"] == "close")
          #expect(try connection.answer() == nil)
        }
      }
      await server.stop()
    }

    /// Checks the fields of a response, as scanners of headers do.
    private static func check(_ answer: ClientConnection.Answer, _ request: String) throws {
      let fields = answer.fields
      let policy = fields["content-security-policy"] ?? ""
      #expect(policy.hasPrefix("default-src 'none';"), "\(request)")
      for part in [
        "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
      ] { #expect(policy.contains(part), "\(request)") }
      #expect(!policy.contains("unsafe-") && !policy.contains("*"), "\(request)")
      #expect(fields["x-content-type-options"] == "nosniff", "\(request)")
      #expect(fields["x-frame-options"] == "DENY", "\(request)")
      #expect(fields["referrer-policy"] == "same-origin", "\(request)")
      #expect(fields["cache-control"] == "no-store", "\(request)")
      #expect(fields["cross-origin-opener-policy"] == "same-origin", "\(request)")
      #expect(fields["cross-origin-resource-policy"] == "same-origin", "\(request)")
      #expect(fields["permissions-policy"] != nil, "\(request)")
      #expect(fields["content-type"]?.isEmpty == false, "\(request)")
      for name in ["server", "x-powered-by", "access-control-allow-origin", "set-cookie"] {
        #expect(fields[name] == nil, "\(request)")
      }
      #expect(answer.status < 500 || answer.status == 505, "\(request): \(answer.status)")
      if answer.status >= 400, !answer.body.isEmpty {
        #expect(answer.body.contains(UInt8(ascii: " ")), "\(request) is refused in words")
      }
    }

    @Test func `no address, cookie, method or body is answered by a fault`() async throws {
      let teams = try await Teams()
      let server = try await PageServer.start(teams.responder, port: 0)
      let seconds = Int(clamping: Self.number("LODESTORE_ATTACK_SECONDS") ?? 2)
      let seed = Self.number("LODESTORE_SEED") ?? .random(in: 0...UInt64.max / 2)
      let gate = server.gate
      let counts = try await ReadingThreads().run {
        var fuzzer = AddressFuzzer(gate: gate, random: SeededRandom(state: seed))
        let end = ContinuousClock.now + .seconds(seconds)
        var (warm, isWarm) = (0, false)
        // A busy machine may answer few requests within the time.
        while ContinuousClock.now < end
          || fuzzer.count < 100 && ContinuousClock.now < end + .seconds(60)
        {
          try fuzzer.attack()
          if !isWarm, fuzzer.count > 5_000 { (warm, isWarm) = (Self.residentSize, true) }
        }
        let growth = isWarm ? Self.residentSize - warm : 0
        print(
          "LODESTORE_SEED=\(seed): \(fuzzer.count) requests, calls by status "
            + fuzzer.statuses.sorted { $0.key < $1.key }.map { "\($0): \($1)" }
            .joined(separator: ", ") + "; the memory grew by \(growth >> 10) KiB")
        #expect(growth < 64 << 20)
        return fuzzer.count
      }
      #expect(counts >= 100)
      // The server still answers, with all connections but the last one ended.
      await server.stop()
      #expect(server.connections.count == 0)
    }

    /// The number of bytes of this process in memory; 0 where the system does not tell it.
    private static var residentSize: Int {
      guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else {
        return 0
      }
      let words = text.split(separator: " ")
      return words.count > 1 ? (Int(words[1]) ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE))) : 0
    }
  }

  /// Sends requests that a seed makes, on connections that it uses again.
  private struct AddressFuzzer {
    let gate: Gate
    var random: SeededRandom
    var count = 0
    var statuses: [Int: Int] = [:]
    private var connection: ClientConnection?
    /// Tokens of questions and of pages, which later requests use.
    private var tokens: [String] = []

    init(gate: Gate, random: SeededRandom) {
      self.gate = gate
      self.random = random
    }

    private static let pieces =
      AttackTests.targets + [
        "/Member", "/Project/1", ".json", ".csv", "?", "&", "=", "_where=", "_sort=", "_column=",
        "_facet=", "_after=", "_limit=", "_wait=", "_id=", "name=", "seats", "team.name", "%22",
        "%00", "%FF",
        "%C3%28", "%", "%zz", "-", "1", "0", "18446744073709551615", "99999999999999999999", "(",
        ")", "%20AND%20", "%20==%20", "NULL", "@count", "SUBQUERY", "CAST(", "'", "..", "/../",
        "%2e%2e", "%2F", "\\", "%E2%80%AE", "%25K", "{", "}", "[", "]", "all", "_before=", "_from=",
        "_name=", "key=", "//", "#", ";", "+", "%0d%0aX:%201",
      ]
    private static let methods = [
      "GET", "GET", "GET", "GET", "GET", "GET", "GET", "GET", "GET", "GET", "GET", "GET", "HEAD",
      "HEAD", "POST", "POST", "POST", "POST", "POST", "PUT", "DELETE", "OPTIONS", "get",
      "TRACE", "CONNECT", "PATCH", "PRI",
    ]
    private static let bodies = [
      "{}", "[]", "{", "null", #"{"seats":5}"#, #"{"name":"x\u0000","seats":-1}"#,
      #"{"name":null}"#, #"{"assign":["seats:=seats + 1"]}"#, #"{"assign":[1,"seats=9e99"]}"#,
      #"{"name":"New","seats":1e400}"#, "value.name=a&null.motto=yes", "value.seats=%zz", "assign=",
      #"{"add":[1,3,"x",-1],"remove":[2]}"#, "add=1,2 99999999999999999999&remove.3=yes",
      "assign=seats:=CAST(name,%20%22int%22)", "state=1&value.name=", "=&=&&", "\u{0}",
    ]

    private mutating func pick(_ list: [String]) -> String {
      list.randomElement(using: &random) ?? ""
    }

    private mutating func target() -> String {
      switch Int.random(in: 0..<20, using: &random) {
      case 0:
        return String(
          repeating: pick(Self.pieces), count: Int.random(in: 1...3_000, using: &random))
      case 1:
        let bytes = (0..<Int.random(in: 1...40, using: &random)).map { _ in
          UInt8.random(in: 0x21...0x7E, using: &random)
        }
        return "/" + String(decoding: bytes, as: UTF8.self)
      case 2: return "/Team?_limit=3&_after=\(tokens.randomElement(using: &random) ?? "x")"
      case 3...10: return pick(AttackTests.targets)
      default:
        return (0..<Int.random(in: 1...6, using: &random)).map { _ in pick(Self.pieces) }.joined()
      }
    }

    private mutating func body() -> String {
      if Int.random(in: 0..<4, using: &random) == 0,
        let token = tokens.randomElement(using: &random)
      {
        return "{\"token\":\"\(token)\"}"
      }
      return pick(Self.bodies)
    }

    private struct Sent {
      var bytes: [UInt8]
      /// Whether the response has a body.
      var hasBody: Bool
      /// Whether a byte was changed, so that the server may see another method or length.
      var isChanged = false
    }

    private mutating func request() -> Sent {
      let method = pick(Self.methods)
      var head = "\(method) \(target()) HTTP/1.1\r\n"
      let kind = Int.random(in: 0..<12, using: &random)
      head += kind == 0 ? "Host: evil.example\r\n" : "Host: localhost:\(gate.port)\r\n"
      let key =
        switch kind {
        case 1: "Cookie: \(gate.cookieName)=\(String(repeating: "0", count: 32))\r\n"
        case 2: "Cookie: \(String(repeating: "a=b; ", count: 500))\r\n"
        case 3: "Authorization: Bearer \(gate.key.text)\r\n"
        default: "Cookie: a=b; \(gate.cookieName)=\(gate.key.text)\r\n"
        }
      head += key
      if kind == 4 { head += "Origin: http://evil.example\r\n" }
      if kind == 5 { head += "Sec-Fetch-Site: cross-site\r\n" }
      var body = ""
      if method == "POST" || kind == 6 {
        body = self.body()
        head += "Origin: http://localhost:\(gate.port)\r\nContent-Type: "
        head +=
          body.first == "{" || body.first == "["
          ? "application/json\r\n" : "application/x-www-form-urlencoded\r\n"
        head += "Content-Length: \(body.utf8.count)\r\n"
      }
      var sent = Sent(
        bytes: Array((head + "\r\n" + body).utf8), hasBody: method != "HEAD")
      if Int.random(in: 0..<10, using: &random) == 0 {
        // A byte of the head becomes another one.
        let place = Int.random(in: 0..<min(sent.bytes.count, 60), using: &random)
        sent.bytes[place] = UInt8.random(in: 0...255, using: &random)
        (sent.hasBody, sent.isChanged) = (false, true)
      }
      return sent
    }

    /// Sends one request, and reads its response.
    mutating func attack() throws {
      let sent = request()
      let client = try connection ?? ClientConnection(port: gate.port)
      connection = nil
      guard (try? client.send(sent.bytes)) != nil else { return }
      guard client.waits(milliseconds: 500) else {
        // The head or the body has no end; the server waits for more.
        return
      }
      guard let answer = try? client.answer(hasBody: sent.hasBody) else { return }
      count += 1
      statuses[answer.status, default: 0] += 1
      #expect(
        answer.status < 500 || answer.status == 505,
        "\(answer.status): \(String(decoding: sent.bytes.prefix(300), as: UTF8.self))")
      note(answer)
      let isEvents = answer.fields["content-type"] == "text/event-stream"
      let isOpen = answer.fields["connection"] != "close"
      if isOpen, !isEvents, !sent.isChanged { connection = client }
    }

    private mutating func note(_ answer: ClientConnection.Answer) {
      guard answer.status == 200, answer.fields["content-type"] == "application/json" else {
        return
      }
      let text = String(decoding: answer.body, as: UTF8.self)
      for mark in ["\"token\":\"", "_after="] {
        guard let found = text.firstRange(of: mark) else { continue }
        tokens.append(String(text[found.upperBound...].prefix { $0 != "\"" && $0 != "&" }))
      }
      if tokens.count > 50 { tokens.removeFirst(25) }
    }
  }
#endif

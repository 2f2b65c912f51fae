import EntityStore
import Foundation
import Testing

@testable import LodestoreWeb

@Suite struct `Answers of a web source` {
  @Test(arguments: [
    "application/json", "Application/JSON; charset=utf-8", "text/json", "application/hal+json",
    "application/problem+json ; a=b", "",
  ])
  func `answers of JSON's media types are accepted`(_ type: String) async throws {
    try await withServer { _ in
      Answer(200, type.isEmpty ? [] : ["Content-Type: \(type)"], body: Array("[]".utf8))
    } _: { server in
      try await expect(WebPages(server.url("/")), gives: ["[]"])
    }
  }

  @Test(arguments: [
    "text/html; charset=utf-8", "application/jsonp", "json", "text/plain", "+json/x",
  ])
  func `answers of other media types are refused, unless they are allowed`(_ type: String)
    async throws
  {
    try await withServer { _ in
      Answer(200, ["Content-Type: \(type)"], body: Array("[]".utf8))
    } _: {
      server in
      let (error, _) = try await webError(.badContentType, WebPages(try server.url("/")))
      #expect(error.message.contains(type) && server.log.count == 1)
      for allowed in [type.uppercased(), "*/*"] {
        let pages = WebPages(
          try server.url("/"), options: .with { $0.otherContentTypes = ["a/b", allowed] })
        try await expect(pages, gives: ["[]"])
      }
    }
  }

  @Test func `a source requests answers in gzip, and decompresses them`() async throws {
    let text = String(repeating: "[1],", count: 30_000)
    try await withServer { _ in
      Answer(
        200, ["Content-Type: application/json", "Content-Encoding: gzip"],
        body: Answer.gzip(Array(text.utf8)))
    } _: { server in
      try await expect(WebPages(server.url("/")), gives: [text])
      #expect(server.log.first?.fields["accept-encoding"]?.contains("gzip") == true)
    }
  }

  @Test func `damaged gzip answers are requested again, then are an error`() async throws {
    let clock = RecordingClock()
    var bytes = Answer.gzip(Array("[1, 2, 3]".utf8))
    bytes[bytes.count - 6] ^= 1
    try await withServer { [bytes] _ in
      Answer(200, ["Content-Encoding: gzip"], body: bytes)
    } _: { server in
      let pages = WebPages(try server.url("/"), options: .with { $0.retries = 1 })
      _ = try await webError(.truncated, pages.timed(by: clock))
      #expect(server.log.count == 2)
    }
  }

  @Test func `answers in chunks are joined`() async throws {
    try await withServer { _ in
      .head(
        200, ["Transfer-Encoding: chunked"], then: .bytes(Array("2\r\n[1\r\n".utf8)),
        .wait(milliseconds: 5), .bytes(Array("3;x=y\r\n, 2\r\n1\r\n]\r\n0\r\n\r\n".utf8)))
    } _: { server in
      try await expect(WebPages(server.url("/")), gives: ["[1, 2]"])
    }
  }

  @Test(arguments: [true, false])
  func `answers beyond the byte limit are refused, with or without a declared length`(
    _ isLengthSaid: Bool
  ) async throws {
    let length = 1 << 20
    try await withServer { _ in
      let body = Answer.Step.bytes([UInt8](repeating: 0x20, count: length))
      return isLengthSaid
        ? .head(200, ["Content-Length: \(1 << 40)"], then: body, .waitForClient)
        : .head(200, ["Connection: close"], then: body, body, .waitForClient)
    } _: { server in
      let pages = WebPages(try server.url("/"), options: .with { $0.pageByteLimit = length })
      let (error, _) = try await webError(.pageTooLarge, pages)
      #expect(error.message.contains("\(length) bytes") && server.log.count == 1)
    }
  }

  @Test func `compressed answers count against the limit by their decompressed length`()
    async throws
  {
    let text = String(repeating: " ", count: 100) + "[]"
    try await withServer { _ in
      Answer(200, ["Content-Encoding: gzip"], body: Answer.gzip(Array(text.utf8)))
    } _: { server in
      let url = try server.url("/")
      try await expect(WebPages(url, options: .with { $0.pageByteLimit = 102 }), gives: [text])
      _ = try await webError(
        .pageTooLarge, WebPages(url, options: .with { $0.pageByteLimit = 101 }))
    }
  }

  @Test func `answers that are no pages are not read to their end`() async throws {
    try await withServer { _ in
      let body = Answer.Step.bytes([UInt8](repeating: 0x20, count: 1 << 20))
      return .head(403, ["Connection: close"], then: body, .waitForClient)
    } _: { server in
      let (error, _) = try await webError(.badStatus, WebPages(try server.url("/")))
      #expect(error.status == 403)
    }
  }

  @Test(arguments: [#"Basic realm="x""#, "Basic", "Bearer", "Digest realm=", ", ,", "Negotiate"])
  func `answers that ask for credentials are errors, and no credentials are sent`(
    _ challenge: String
  ) async throws {
    try await withServer { _ in
      Answer(401, ["WWW-Authenticate: \(challenge)"])
    } _: { server in
      let (error, _) = try await webError(.badStatus, WebPages(try server.url("/")))
      #expect(error.status == 401 && server.log.count == 1)
      #expect(server.log.first?.fields["authorization"] == nil)
    }
  }

  @Test func `a source sends no cookies back`() async throws {
    try await withServer { request in
      .json(request.target == "/" ? #"{"next":"/2"}"# : "{}", "Set-Cookie: a=b; Path=/")
    } _: { server in
      let pages = WebPages(try server.url("/"), paging: .nextLink(at: "next"))
      _ = try await pages.all() + pages.all()
      #expect(server.log.count == 4 && server.log.allSatisfy { $0.fields["cookie"] == nil })
    }
  }

  @Test func `cacheable answers are not cached`() async throws {
    try await withServer {
      .json("[\($0.number)]", "Cache-Control: max-age=1000", "ETag: \"1\"")
    } _: {
      server in
      let pages = WebPages(try server.url("/"))
      try await expect(pages, gives: ["[1]"])
      try await expect(pages, gives: ["[2]"])
      #expect(server.log.allSatisfy { $0.fields["if-none-match"] == nil })
    }
  }

  /// Heads that a server should not send.
  ///
  /// Clients handle them differently, but each must end in a page or an error.
  @Test(arguments: [
    "hello", "HTTP/1.1 xyz OK\r\n\r\n", "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\n[]",
    "HTTP/1.1 999 No\r\nContent-Length: 2\r\n\r\n[]",
    "HTTP/1.1 099 No\r\nContent-Length: 2\r\n\r\n[]",
    "HTTP/1.1 200 OK\r\nFoo\r\nContent-Length: 2\r\n\r\n[]",
    "HTTP/1.1 200 OK\r\n: b\r\nContent-Length: 2\r\n\r\n[]",
    "HTTP/1.1 200 OK\r\n folded\r\nContent-Length: 2\r\n\r\n[]",
    "HTTP/1.1 200 OK\r\nA: b\r\n c\r\nContent-Length: 2\r\n\r\n[]",
    "HTTP/1.1 200 OK\r\nA: a\u{0}b\r\nContent-Length: 2\r\n\r\n[]",
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n[]",
    "HTTP/1.1 200 OK\r\nContent-Length: -3\r\n\r\n[]",
    "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\n[]",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n[]\r\n0\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFFF\r\n[]\r\n0\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Encoding: what\r\nContent-Length: 2\r\n\r\n[]",
    "HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n[]",
    "HTTP/1.1 302 Found\r\nLocation: \r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 302 Found\r\nLocation: //a b/\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 302 Found\r\nLocation: http:///\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 302 Found\r\nLocation: //a:99999999999999999999/\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 200 OK\r\nETag: \"\\\"\r\nLast-Modified: ;\r\nLink: <,<>;;=\"\r\nContent-Length: 2\r\n\r\n[]",
    "HTTP/1.1 503 No\r\nRetry-After: 1e999\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Type: ;;;\r\nContent-Length: 2\r\n\r\n[]",
  ])
  func `answers that break HTTP are pages or errors of the source`(_ text: String) async throws {
    try await withServer { _ in
      .raw(text)
    } _: { server in
      let pages = WebPages(
        try server.url("/"), paging: .linkHeader, options: .with { $0.retries = 1 })
      do {
        let found = try await pages.timed(by: RecordingClock()).all()
        #expect(found.map(\.content) == [Data("[]".utf8)])
      } catch let error as WebSourceError {
        #expect(error.message.hasPrefix("cannot ") && error.attempts > 0)
      }
    }
  }

  @Test func `interim answers that announce others are skipped`() async throws {
    try await withServer { _ in
      .raw(
        "HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=next\r\n\r\n"
          + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]")
    } _: { server in
      try await expect(WebPages(server.url("/"), paging: .linkHeader), gives: ["[]"])
    }
  }
}

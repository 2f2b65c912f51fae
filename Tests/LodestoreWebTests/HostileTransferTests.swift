#if os(Linux)
  import Foundation
  import FoundationNetworking
  import Testing

  @testable import LodestoreWeb

  /// Hostile answers that the client library by itself would crash on, read without a bound, or
  /// decode wrongly.
  @Suite struct `Hostile answers of a web source` {
    @Test func `answers cut within their compression are broken off, also in head and checksum`()
      async throws
    {
      let whole = Answer.gzip(Array("[1, 2, 3]".utf8))
      try await withServer { request in
        let part = Array(whole.prefix(Int(request.path.dropFirst()) ?? 0))
        return Answer(200, ["Content-Encoding: gzip"], body: part)
      } _: { server in
        for length in 0..<whole.count {
          let pages = WebPages(try server.url("/\(length)"), options: .with { $0.retries = 0 })
          let (error, _) = try await webError(.truncated, pages)
          #expect(error.cause is URLError)
        }
        try await expect(WebPages(server.url("/\(whole.count)")), gives: ["[1, 2, 3]"])
      }
    }

    @Test(arguments: [[0x78, 0x9C], []] as [[UInt8]])
    func `answers in deflate are decompressed, with and without zlib's head`(_ head: [UInt8])
      async throws
    {
      // A stored block, and Adler-32 of "[]".
      let block: [UInt8] = [1, 2, 0, 0xFD, 0xFF, 0x5B, 0x5D]
      let sum: [UInt8] = head.isEmpty ? [] : [0x01, 0x15, 0x00, 0xB9]
      try await withServer { _ in
        Answer(200, ["Content-Encoding: deflate"], body: head + block + sum)
      } _: { server in
        try await expect(WebPages(server.url("/")), gives: ["[]"])
      }
    }

    @Test func `answers in several members of gzip are joined`() async throws {
      let body = Answer.gzip(Array("[1,".utf8)) + Answer.gzip(Array(" 2]".utf8))
      try await withServer { _ in
        Answer(200, ["Content-Encoding: x-gzip"], body: body)
      } _: { server in
        try await expect(WebPages(server.url("/")), gives: ["[1, 2]"])
      }
    }

    @Test(arguments: ["br", "gzip, gzip", "zstd"])
    func `answers in another encoding are refused`(_ coding: String) async throws {
      try await withServer { _ in
        Answer(200, ["Content-Encoding: \(coding)"], body: Array("[]".utf8))
      } _: { server in
        let (error, _) = try await webError(.badEncoding, WebPages(try server.url("/")))
        #expect(error.message.contains("'\(coding)'") && server.log.count == 1)
      }
    }

    // MARK: Answers that end the process with FoundationNetworking, or with the client alone

    @Test func `answers that are closed within their head are errors`() async throws {
      let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n"
      try await withServer { request in
        .raw(String(head.prefix(Int(request.path.dropFirst()) ?? 0)))
      } _: { server in
        for length in 0..<head.count {
          let pages = WebPages(try server.url("/\(length)"), options: .with { $0.retries = 0 })
          _ = try await webError(.noConnection, pages)
        }
      }
    }

    @Test(arguments: ["X-Sum: 1\r\n", "", "A: b\r\nC: d\r\n"])
    func `answers with a trailer after their chunks are accepted`(_ trailer: String) async throws {
      try await withServer { _ in
        .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\n\(trailer)\r\n")
      } _: { server in
        try await expect(WebPages(server.url("/")), gives: ["[]"])
      }
    }

    @Test(arguments: [
      "9223372036854775550", "9223372036854775551", "9223372036854775806", "9223372036854775807",
      "9223372036854775808", "18446744073709551615", "18446744073709551616",
    ])
    func `answers with a length near the greatest integer are errors`(_ length: String) async throws
    {
      try await withServer { _ in
        .raw("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n[]")
      } _: { server in
        for limit in [16 << 20, Int.max] {
          let pages = WebPages(
            try server.url("/"),
            options: .with {
              $0.pageByteLimit = limit
              $0.retries = 0
            })
          await #expect(throws: WebSourceError.self) { try await pages.all() }
        }
      }
    }

    @Test func `answers with a status below 100 are errors`() async throws {
      try await withServer { request in
        .raw("HTTP/1.1 \(request.path.dropFirst()) No\r\nContent-Length: 2\r\n\r\n[]")
      } _: { server in
        for status in 0..<100 {
          let text = String(repeating: "0", count: status < 10 ? 2 : 1) + "\(status)"
          let pages = WebPages(try server.url("/\(text)"), options: .with { $0.retries = 0 })
          let (error, _) = try await webError(.badStatus, pages)
          #expect(error.status == status && error.message.contains("status \(status)"))
        }
      }
    }

    @Test(arguments: [
      "http://", "http:///", "http://[::1", "http://[/", "//", "//a b/", "http://%00/",
      "http://\u{FF}/",
      "http://a:99999999999999999999/", "http://:80/", "http://user@/", "http:a", ":",
      "http://[v1.a]/",
    ])
    func `answers that lead to addresses without a valid host are errors`(_ location: String)
      async throws
    {
      try await withServer { _ in
        Answer(302, ["Location: \(location)"])
      } _: { server in
        let pages = WebPages(try server.url("/"), options: .with { $0.retries = 0 })
        await #expect(throws: WebSourceError.self) { try await pages.all() }
      }
    }

    @Test(arguments: [204, 304])
    func `answers without content may name an encoding`(_ status: Int) async throws {
      try await withServer { _ in
        .raw("HTTP/1.1 \(status) No\r\nContent-Encoding: gzip\r\n\r\n")
      } _: { server in
        let (error, _) = try await webError(.badStatus, WebPages(try server.url("/")))
        #expect(error.status == status)
      }
    }

    // MARK: Bounds

    @Test(arguments: ["a", "a: b\r\n"])
    func `answers with an endless head are refused`(_ piece: String) async throws {
      try await withServer { _ in
        .endless(Array("HTTP/1.1 200 OK\r\nX: ".utf8), Array(piece.utf8))
      } _: { server in
        let pages = WebPages(
          try server.url("/"),
          options: .with {
            $0.headByteLimit = 10_000
            $0.retries = 0
          })
        await #expect(throws: WebSourceError.self) { try await pages.all() }
        while server.closedByClients == 0 { try await Task.sleep(for: .milliseconds(2)) }
      }
    }

    @Test(arguments: [
      "HTTP/1.1 103 Hints\r\nA: b\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n",
    ])
    func `answers after endless interim heads are refused`(_ head: String) async throws {
      try await withServer { _ in
        .endless([], Array(head.utf8))
      } _: { server in
        let (error, _) = try await webError(.pageTooLarge, WebPages(try server.url("/")))
        #expect(error.message.contains("headByteLimit"))
      }
    }
  }
#endif

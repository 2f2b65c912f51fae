#if Inspector
  import EntityStore
  import Testing

  // Whole Foundation: `URLSession` is not in FoundationEssentials.
  import Foundation

  @testable import LodestoreInspector

  @Suite("Server")
  struct ServerTests {
    /// A response as its bytes.
    private struct Answer: Sendable {
      var head: String
      var body: String
    }

    /// Sends bytes to the server on a connection of its own, and reads until its end.
    ///
    /// The calls that wait are on a thread of their own, because the server needs those of tasks.
    private func exchange(_ request: String, port: UInt16) async throws -> Answer {
      try await ReadingThreads().run { try Self.exchangeNow(request, port: port) }
    }

    private static func exchangeNow(_ request: String, port: UInt16) throws -> Answer {
      let connection = try ClientConnection(port: port)
      try connection.send(request)
      connection.read(until: nil)
      let halves = connection.received.split(
        separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
      return Answer(head: String(halves[0]), body: halves.count > 1 ? String(halves[1]) : "")
    }

    private func get(
      _ target: String, _ inspector: Inspector, key: Bool = true, fields: String = "",
      method: String = "GET"
    ) async throws -> Answer {
      let url = try #require(URL(string: inspector.address))
      let port = UInt16(try #require(url.port))
      let secret = inspector.address.split(separator: "=").last ?? ""
      let cookie = key ? "Cookie: lodestore-\(port)=\(secret)\r\n" : ""
      return try await exchange(
        "\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\(cookie)\(fields)"
          + "Connection: close\r\n\r\n", port: port)
    }

    @Test func `a browser opens the printed address and gets pages`() async throws {
      let library = try await Library.withBooks(3)
      let inspector = try await Inspector.start(library.store)
      let first = try await get(
        "/?\(inspector.address.split(separator: "?").last ?? "")", inspector)
      #expect(first.head.hasPrefix("HTTP/1.1 303 See Other\r\n"))
      #expect(first.head.contains("Location: /"))
      let page = try await get("/Book", inspector)
      #expect(page.head.hasPrefix("HTTP/1.1 200 OK\r\n"))
      #expect(page.head.contains("Content-Security-Policy: default-src 'none';"))
      #expect(page.body.contains("Book 3"))
      #expect(try await get("/-/style.css", inspector).head.contains("Content-Type: text/css"))
      #expect(
        try await get("/-/page.js", inspector).head.contains("Content-Type: text/javascript"))
      await inspector.stop()
    }

    @Test func `a request without the key, or of another host, gets no page`() async throws {
      let library = try await Library.withBooks(3)
      let inspector = try await Inspector.start(library.store)
      #expect(try await get("/", inspector, key: false).head.hasPrefix("HTTP/1.1 403 "))
      #expect(
        try await get("/", inspector, fields: "Origin: http://evil.example\r\n").head
          .hasPrefix("HTTP/1.1 403 "))
      #expect(try await get("/", inspector, method: "POST").head.hasPrefix("HTTP/1.1 405 "))
      let head = try await get("/Book", inspector, method: "HEAD")
      #expect(head.head.hasPrefix("HTTP/1.1 200 ") && head.body.isEmpty)
      let port = UInt16(try #require(URL(string: inspector.address)?.port))
      #expect(
        try await exchange(
          "GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n", port: port
        ).head
          .hasPrefix("HTTP/1.1 421 "))
      await inspector.stop()
    }

    @Test func `a long answer arrives completely`() async throws {
      let library = try await Library.withBooks(9_000)
      let inspector = try await Inspector.start(library.store)
      let answer = try await get("/Book.csv?_column=title", inspector)
      #expect(answer.head.lowercased().contains("transfer-encoding: chunked"))
      #expect(answer.body.contains("Book 1\r\n") && answer.body.contains("Book 9000\r\n"))
      #expect(answer.body.hasSuffix("0\r\n\r\n"))
      await inspector.stop()
    }

    @Test func `a page that stays open pins no commit`() async throws {
      let library = try await Library.withBooks(100)
      let inspector = try await Inspector.start(library.store)
      _ = try await get("/Book", inspector)
      let used = try DynamicStore(library.store).read { try $0.facts().usedReaderSlotCount }
      _ = try await get("/Book", inspector)
      #expect(try DynamicStore(library.store).read { try $0.facts().usedReaderSlotCount } == used)
      await inspector.stop()
    }

    @Test func `a port in use is an error`() async throws {
      let library = try await Library.withBooks(1)
      let inspector = try await Inspector.start(library.store)
      let port = UInt16(try #require(URL(string: inspector.address)?.port))
      await #expect(throws: (any Error).self) {
        try await Inspector.start(library.store, port: port)
      }
      await inspector.stop()
    }
  }
#endif

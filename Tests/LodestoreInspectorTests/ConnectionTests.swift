#if Inspector
  import EntityStore
  import LodestoreSystem
  import Testing

  @testable import LodestoreInspector

  @Suite("Connections of the server")
  struct ConnectionTests {
    private func start(
      _ library: Library, _ limits: ConnectionLimits = ConnectionLimits(),
      allowsWrites: Bool = false
    ) async throws -> PageServer {
      try await PageServer.start(
        Responder(
          maker: PageMaker(store: DynamicStore(library.store), path: library.store.path),
          allowsWrites: allowsWrites), port: 0, limits: limits)
    }

    private func head(
      _ target: String, _ server: PageServer, _ fields: String = "", method: String = "GET"
    ) -> String {
      "\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(server.gate.port)\r\n"
        + "Cookie: \(server.gate.cookieName)=\(server.gate.key.text)\r\n\(fields)\r\n"
    }

    /// Sends bytes on a connection of its own, and returns the bytes until its end.
    private func exchange(_ text: String, _ server: PageServer) async throws -> String {
      let port = server.gate.port
      return try await ReadingThreads().run {
        let connection = try ClientConnection(port: port)
        try connection.send(text)
        connection.read(until: nil)
        return connection.received
      }
    }

    private func isServed(_ server: PageServer) async throws -> Bool {
      try await exchange(head("/Book", server, "Connection: close\r\n"), server)
        .hasPrefix("HTTP/1.1 200 OK\r\n")
    }

    private func wait(for condition: () -> Bool) async throws -> Bool {
      for _ in 0..<6_000 {
        if condition() { return true }
        try await Task.sleep(for: .milliseconds(10))
      }
      return false
    }

    @Test func `requests that arrive together are answered in their order`() async throws {
      let library = try await Library.withBooks(3)
      let server = try await start(library)
      let text = try await exchange(
        head("/Book/1.json", server) + head("/Book/2.json", server, method: "HEAD")
          + head("/nothing", server) + head("/Book/3.json", server, "Connection: close\r\n"),
        server)
      let heads = text.components(of: "HTTP/1.1 ")
      #expect(heads.map { $0.prefix(3) } == ["200", "200", "404", "200"])
      #expect(text.contains("Book 1\"") && text.contains("Book 3\"") && !text.contains("Book 2\""))
      await server.stop()
    }

    @Test(arguments: ["/Book", "/Book.json", "/-/style.css", "/nothing"])
    func `HEAD has the length of GET, and no body`(target: String) async throws {
      let library = try await Library.withBooks(3)
      let server = try await start(library)
      let close = "Connection: close\r\n"
      let get = try await exchange(head(target, server, close), server)
      let headOnly = try await exchange(head(target, server, close, method: "HEAD"), server)
      let parts = get.components(of: "\r\n\r\n")
      #expect(headOnly == parts[0] + "\r\n\r\n")
      let body = parts.dropFirst().joined(separator: "\r\n\r\n")
      #expect(parts[0].contains("Content-Length: \(body.utf8.count)\r\n"))
      let long = try await exchange(head("/Book.csv", server, close, method: "HEAD"), server)
      #expect(long.hasSuffix("\r\n\r\n") && !long.contains("Transfer-Encoding"))
      await server.stop()
    }

    @Test func `a client of HTTP 1.0 gets a body that ends with the connection`() async throws {
      let library = try await Library.withBooks(5_000)
      let server = try await start(library)
      let request = head("/Book.csv?_column=title", server)
        .replacingFirst("HTTP/1.1", by: "HTTP/1.0")
      let text = try await exchange(request, server)
      #expect(!text.contains("chunked") && text.hasSuffix("Book 5000\r\n"))
      await server.stop()
    }

    @Test func `a head without an end, and a body without an end, are refused`() async throws {
      let library = try await Library.withBooks(1)
      let server = try await start(library, allowsWrites: true)
      let line = "Field: " + String(repeating: "x", count: 70_000)
      let long = try await exchange(head("/", server).dropLast(2) + line, server)
      #expect(long.hasPrefix("HTTP/1.1 431 "))
      let many = (0..<500).map { "F\($0): x\r\n" }.joined()
      #expect(try await exchange(head("/", server, many), server).hasPrefix("HTTP/1.1 431 "))
      let origin = "Origin: http://127.0.0.1:\(server.gate.port)\r\n"
      let type = "Content-Type: application/json\r\n"
      let huge = try await exchange(
        head(
          "/Book/-/new", server, origin + type + "Content-Length: 9000000000\r\n", method: "POST")
          + String(repeating: " ", count: 100_000), server)
      #expect(huge.hasPrefix("HTTP/1.1 413 "))
      #expect(huge.contains("Content-Security-Policy: "))
      #expect(try await isServed(server))
      await server.stop()
    }

    @Test func `a body is read before the answer, also when the client waits to be asked`()
      async throws
    {
      let library = try await Library.withBooks(1)
      let server = try await start(library, allowsWrites: true)
      let body = #"{"title":"New","pages":3,"details":null}"#
      let fields =
        "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n"
        + "Expect: 100-continue\r\nConnection: close\r\n"
      let (text, port) = (head("/Book/-/new", server, fields, method: "POST"), server.gate.port)
      let answer = try await ReadingThreads().run {
        let connection = try ClientConnection(port: port)
        try connection.send(text)
        #expect(connection.read(until: "HTTP/1.1 100 Continue\r\n\r\n"))
        try connection.send(body)
        connection.read(until: nil)
        return connection.received
      }
      #expect(answer.contains("HTTP/1.1 200 OK\r\n") && answer.contains("\"token\":\""))
      await server.stop()
    }

    @Test func `a client that sends slowly ends, and others are served`() async throws {
      let library = try await Library.withBooks(1)
      var limits = ConnectionLimits()
      limits.head = .milliseconds(300)
      limits.sweep = .milliseconds(20)
      let server = try await start(library, limits)
      let (slow, port) = (head("/", server), server.gate.port)
      async let answer = ReadingThreads().run {
        let connection = try ClientConnection(port: port)
        for byte in slow.utf8 {
          guard (try? connection.send(String(decoding: [byte], as: UTF8.self))) != nil else {
            break
          }
          usleep(20_000)
          if connection.hasInput { break }
        }
        connection.read(until: nil)
        return connection.received
      }
      #expect(try await isServed(server))
      #expect(try await answer.hasPrefix("HTTP/1.1 408 "))
      #expect(try await wait { server.connections.count == 0 })
      await server.stop()
    }

    @Test func `many idle connections keep nobody out`() async throws {
      let library = try await Library.withBooks(1)
      var limits = ConnectionLimits()
      limits.connections = 8
      let server = try await start(library, limits)
      let port = server.gate.port
      let clients = try await ReadingThreads().run {
        Held(try (0..<200).map { _ in try ClientConnection(port: port) })
      }
      for _ in 0..<5 { #expect(try await isServed(server)) }
      #expect(try await wait { server.connections.count <= 8 })
      withExtendedLifetime(clients) {}
      await server.stop()
    }

    @Test func `a client that takes no bytes loses its connection`() async throws {
      let library = try await Library.withBooks(30_000)
      var limits = ConnectionLimits()
      limits.send = .milliseconds(300)
      limits.sweep = .milliseconds(20)
      let server = try await start(library, limits)
      let (text, port) = (head("/Book.csv", server), server.gate.port)
      let client = try await ReadingThreads().run {
        let connection = try ClientConnection(port: port, receiveBuffer: 4_096)
        for _ in 0..<20 { try connection.send(text) }
        return Held([connection])
      }
      #expect(try await wait { server.connections.count == 0 })
      #expect(try await isServed(server))
      withExtendedLifetime(client) {}
      await server.stop()
    }
  }

  /// Connections that one thread at a time uses.
  private final class Held: @unchecked Sendable {
    let connections: [ClientConnection]

    init(_ connections: [ClientConnection]) { self.connections = connections }
  }

  extension String {
    fileprivate func components(of separator: String) -> [String] {
      var parts: [String] = []
      var rest = self[...]
      while let found = rest.firstRange(of: separator) {
        parts.append(String(rest[..<found.lowerBound]))
        rest = rest[found.upperBound...]
      }
      parts.append(String(rest))
      return parts.filter { !$0.isEmpty }
    }

    fileprivate func replacingFirst(_ old: String, by new: String) -> String {
      guard let found = firstRange(of: old) else { return self }
      return self[..<found.lowerBound] + new + self[found.upperBound...]
    }
  }
#endif

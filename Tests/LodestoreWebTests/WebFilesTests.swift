#if Web || canImport(Darwin)
  import Foundation
  import Synchronization
  import Testing

  @testable import LodestoreWeb

  /// The bytes that a fetch gives, and the head before them.
  private final class Received: Sendable {
    let state = Mutex((head: FileHead?.none, bytes: [UInt8](), pieces: 0))

    var head: FileHead? { state.withLock { $0.head } }
    var bytes: [UInt8] { state.withLock { $0.bytes } }
    var pieces: Int { state.withLock { $0.pieces } }

    func fetch(_ request: WebFiles.Request, _ files: WebFiles) async throws -> WebFiles.Answer {
      try await files.get(request) { head in
        self.state.withLock { $0.head = head }
      } take: { bytes in
        self.state.withLock {
          $0.bytes += bytes
          $0.pieces += 1
        }
      }
    }
  }

  private func request(
    _ path: String = "file", limit: Int = 1 << 20,
    _ change: (inout WebFiles.Request) -> Void = { _ in }
  ) -> WebFiles.Request {
    var request = WebFiles.Request(path, byteLimit: limit)
    change(&request)
    return request
  }

  private func files(
    _ server: LoopbackServer, _ change: (inout WebFiles.Options) -> Void = { _ in }
  ) throws -> WebFiles {
    var options = WebFiles.Options()
    options.requestTimeout = .seconds(5)
    change(&options)
    return try WebFiles(server.url("/d/"), options: options)
  }

  /// The error of the web that a fetch ends with.
  private func webError(
    _ request: WebFiles.Request, _ files: WebFiles,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> WebSourceError {
    try await #require(throws: WebSourceError.self, sourceLocation: sourceLocation) {
      _ = try await Received().fetch(request, files)
    }
  }

  @Suite struct `A file of a web server` {
    private let content = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }

    @Test func `a web file comes whole in pieces, with its entity tag`() async throws {
      let served = ServedFiles(["/d/file": content])
      try await withServer(served.answer) { server in
        let received = Received()
        let answer = try await received.fetch(request(), files(server))
        #expect(received.bytes == content && received.pieces > 1)
        #expect(received.head?.start == 0 && received.head?.totalCount == content.count)
        #expect(received.head?.entityTag == ServedFiles.tag(of: content))
        guard case .content = answer else {
          Issue.record("\(answer)")
          return
        }
        #expect(server.log.first?.fields["accept-encoding"] == "identity")
      }
    }

    @Test func `an unchanged web file comes without content`() async throws {
      let served = ServedFiles(["/d/file": content])
      try await withServer(served.answer) { server in
        let received = Received()
        let answer = try await received.fetch(
          request { $0.knownTag = ServedFiles.tag(of: content) }, files(server))
        guard case .unchanged = answer else {
          Issue.record("\(answer)")
          return
        }
        #expect(received.head == nil && served.bytesServed == 0)
      }
    }

    @Test func `a web file resumes in its midst, without the bytes before`() async throws {
      let served = ServedFiles(["/d/file": content])
      try await withServer(served.answer) { server in
        let received = Received()
        _ = try await received.fetch(
          request {
            $0.start = 123_457
            $0.expectedTag = ServedFiles.tag(of: content)
          }, files(server))
        #expect(received.bytes == Array(content[123_457...]))
        #expect(received.head?.start == 123_457)
        #expect(served.bytesServed == content.count - 123_457)
      }
    }

    @Test func `a replaced web file is refused by its entity tag`() async throws {
      let served = ServedFiles(["/d/file": content])
      try await withServer(served.answer) { server in
        let error = try await webError(
          request {
            $0.start = 5
            $0.expectedTag = "\"other\""
          }, files(server))
        #expect(error.status == 412)
      }
    }

    @Test func `a server that ignores ranges sends the whole file, and the head states it`()
      async throws
    {
      let content = content
      try await withServer { _ in
        Answer(200, [], body: content)
      } _: { server in
        let received = Received()
        _ = try await received.fetch(request { $0.start = 7 }, files(server))
        #expect(received.head?.start == 0 && received.bytes == content)
      }
    }

    @Test(arguments: [
      "bytes 8-99/100", "bytes 7-6/100", "bytes 7-99/99", "bytes 7-99", "bytes */100",
      "bytes=7-99/100",
      "bytes 7-98/100", "octets 7-99/100", "bytes 7-9223372036854775807/*", "bytes -7-99/100",
      "bytes 7-99999999999999999999/*", "", "bytes 7-99/100, bytes 7-99/100",
    ])
    func `a web file is refused in another part than the requested one`(_ range: String)
      async throws
    {
      try await withServer { _ in
        Answer(206, ["Content-Range: \(range)"], body: [UInt8](repeating: 1, count: 93))
      } _: { server in
        let received = Received()
        let error = try await #require(throws: WebSourceError.self) {
          _ = try await received.fetch(request { $0.start = 7 }, files(server))
        }
        #expect(error.code == .badRange && received.bytes.isEmpty, "\(error)")
      }
    }

    @Test func `a web file is refused in a part that the program did not request`() async throws {
      try await withServer { _ in
        Answer(206, ["Content-Range: bytes 0-9/10"], body: [UInt8](repeating: 1, count: 10))
      } _: { server in
        let error = try await webError(request(), files(server))
        #expect(error.code == .badRange)
      }
    }

    @Test func `a compressed part is refused, and a compressed whole file is decompressed`()
      async throws
    {
      let whole = Answer.gzip(Array("the content".utf8))
      try await withServer { request in
        let coding = "Content-Encoding: gzip"
        return request.rangeStart == nil
          ? Answer(200, [coding], body: whole)
          : Answer(
            206, [coding, "Content-Range: bytes 3-\(whole.count - 1)/\(whole.count)"],
            body: Array(whole[3...]))
      } _: { server in
        let error = try await webError(request { $0.start = 3 }, files(server))
        #expect(error.code == .badEncoding)
        let received = Received()
        _ = try await received.fetch(request(), files(server))
        #expect(received.bytes == Array("the content".utf8))
      }
    }

    @Test func `a web file of more bytes than expected is refused, whatever its header states`()
      async throws
    {
      let content = content
      try await withServer { request in
        request.number == 1
          ? Answer(200, [], body: content)
          : Answer.head(200, ["Connection: close"], then: .bytes(content), .close)
      } _: { server in
        let files = try files(server)
        for _ in 0..<2 {
          let error = try await webError(request(limit: 1000), files)
          #expect(error.code == .pageTooLarge && error.message.contains("1000 bytes"))
        }
      }
    }

    @Test func `a web file that breaks off is an error after its first bytes`() async throws {
      let served = ServedFiles(["/d/file": content])
      try await withServer {
        served.answer(to: $0).cut(afterBody: 100_000)
      } _: { server in
        let received = Received()
        let error = try await #require(throws: WebSourceError.self) {
          _ = try await received.fetch(request(), files(server))
        }
        // The client may drop bytes that wait when the connection ends.
        #expect(error.code == .truncated && received.bytes.count <= 100_000)
        #expect(content.starts(with: received.bytes))
      }
    }

    @Test func `a web file that stalls ends with its timeout`() async throws {
      try await withServer { _ in
        .head(200, ["Content-Length: 10"], then: .bytes([1, 2, 3]), .waitForClient)
      } _: { server in
        let error = try await webError(
          request(), files(server) { $0.requestTimeout = .milliseconds(200) })
        #expect(error.code == .timedOut, "\(error)")
      }
    }

    @Test func `a web file is sent slowly to a slow consumer`() async throws {
      let many = [UInt8](repeating: 7, count: 24 << 20)
      let served = ServedFiles(["/d/file": many])
      try await withServer(served.answer) { server in
        let taken = Mutex(0)
        let error = try await #require(throws: WebSourceError.self) {
          _ = try await files(server) { $0.transferTimeout = .milliseconds(700) }
            .get(request(limit: .max)) { bytes in
              Thread.sleep(forTimeInterval: 0.02)
              taken.withLock { $0 += bytes.count }
            }
        }
        #expect(error.code == .timedOut)
        // Without back-pressure all would have been received, and wait in memory.
        #expect(taken.withLock { $0 } < many.count)
      }
    }

    @Test func `a web file ends with the error of its consumer`() async throws {
      struct Refusal: Error {}
      let served = ServedFiles(["/d/file": content])
      try await withServer(served.answer) { server in
        await #expect(throws: Refusal.self) {
          _ = try await files(server).get(request()) { _ in throw Refusal() }
        }
        await #expect(throws: Refusal.self) {
          _ = try await files(server).get(request()) { _ in
            throw Refusal()
          } take: { _ in
          }
        }
      }
    }

    @Test func `a web file of a busy server is an error with the requested wait`() async throws {
      try await withServer { _ in
        Answer(429, ["Retry-After: 17"])
      } _: { server in
        let error = try await webError(request(), files(server))
        #expect(error.status == 429 && error.retryAfter == .seconds(17))
      }
    }

    @Test func `a web file follows a redirect, but not to another place by its path`() async throws
    {
      let served = ServedFiles(["/d/file": content])
      try await withServer { request in
        request.path == "/d/moved"
          ? Answer(302, ["Location: /d/file"]) : served.answer(to: request)
      } _: { server in
        let received = Received()
        _ = try await received.fetch(request("moved"), files(server))
        #expect(received.bytes == content)
        for path in ["http://127.0.0.1:1/file", "//example.org/file", "file:///etc/passwd"] {
          let error = try await webError(request(path), files(server))
          #expect(error.code == .badLink)
        }
      }
    }

    @Test func `a cancelled task does not wait for a web file`() async throws {
      try await withServer { _ in
        .never
      } _: { server in
        let files = try files(server)
        let task = Task { _ = try await Received().fetch(request(), files) }
        while server.log.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
      }
    }
  }
#endif

#if Inspector
  internal import FlyingFox
  internal import FlyingSocks
  internal import LodestoreEssentials
  internal import LodestoreSystem

  /// The HTTP server of the inspector, on the loop-back address alone.
  struct PageServer: Sendable {
    private let server: HTTPServer
    private let task: Task<Void, any Error>
    let feed: LiveFeed
    let gate: Gate

    /// Starts the server and returns when it accepts connections.
    ///
    /// - Parameter port: 0 for any free port.
    static func start(
      _ responder: Responder, port: UInt16, live limits: LiveFeed.Limits = LiveFeed.Limits()
    ) async throws -> PageServer {
      let server = HTTPServer(
        address: try sockaddr_in.inet(ip4: "127.0.0.1", port: port), logger: .disabled)
      // The stream has one element when the server listens. An error of the server ends it.
      let (starts, start) = AsyncStream.makeStream(of: Void.self)
      let task = Task {
        defer { start.finish() }
        try await server.run()
      }
      Task {
        if (try? await server.waitUntilListening()) != nil { start.yield() }
        start.finish()
      }
      var iterator = starts.makeAsyncIterator()
      guard await iterator.next() != nil else {
        task.cancel()
        try await task.value
        throw InspectorError(message: "the server does not listen on port \(port)")
      }
      guard case .ip4(_, let port)? = await server.listeningAddress else {
        task.cancel()
        throw InspectorError(message: "cannot listen on the loop-back address")
      }
      let gate = Gate(key: AccessKey(), port: port)
      let feed = LiveFeed(responder.maker.store, limits: limits)
      // The gate needs the port, so the pages are added to a server that answers nothing yet.
      await server.appendRoute(
        "*", to: PageHandler(gate: gate, responder: responder, feed: feed))
      return PageServer(server: server, task: task, feed: feed, gate: gate)
    }

    /// Returns when the server has ended.
    func wait() async throws { try await task.value }

    func stop() async {
      feed.end()
      await server.stop()
      task.cancel()
    }
  }

  /// Translates requests and responses of the server.
  private struct PageHandler: HTTPHandler {
    let gate: Gate
    let responder: Responder
    let feed: LiveFeed
    let threads = ReadingThreads()

    func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
      let isHead = request.method == .HEAD
      switch gate.decide(translated(request)) {
      case .refused(let response): return translated(response, isHead: isHead)
      case .admitted(let address) where address == Route.live.address && !isHead:
        return try await liveResponse()
      case .admitted(let address):
        let response = try await threads.run { [responder] in responder.respond(to: address) }
        return translated(response, isHead: isHead)
      }
    }

    private func translated(_ request: HTTPRequest) -> Request {
      var translated = Request(request.target.rawValue, method: request.method.rawValue)
      translated.host = request.headers[.host]
      translated.origin = request.headers[HTTPHeader("Origin")]
      translated.cookie = request.headers[.cookie]
      translated.fetchSite = request.headers[HTTPHeader("Sec-Fetch-Site")]
      let length = request.headers[.contentLength]
      translated.hasBody =
        request.headers[.transferEncoding] != nil || (length != nil && length != "0")
      return translated
    }

    /// The events of commits, for as long as the page is open.
    private func liveResponse() async throws -> HTTPResponse {
      let events = try await threads.run { [feed] in try feed.events() }
      let response = Response(200, contentType: EventText.contentType, TwinPart([]))
      return HTTPResponse(
        statusCode: .ok, headers: headers(of: response),
        body: HTTPBodySequence(from: EventSequence(events: events)))
    }

    private func headers(of response: Response) -> HTTPHeaders {
      var headers = HTTPHeaders()
      for (name, value) in response.allFields {
        headers.setValues([value], for: HTTPHeader(name))
      }
      return headers
    }

    private func translated(_ response: Response, isHead: Bool) -> HTTPResponse {
      let headers = headers(of: response)
      let status = HTTPStatusCode(response.status, phrase: Self.phrases[response.status] ?? "")
      guard !isHead else { return HTTPResponse(statusCode: status, headers: headers) }
      guard response.body.next != nil else {
        return HTTPResponse(
          statusCode: status, headers: headers, body: Data(response.body.bytes))
      }
      let parts = PartSequence(first: response.body, threads: threads)
      return HTTPResponse(
        statusCode: status, headers: headers, body: HTTPBodySequence(from: parts))
    }

    private static let phrases = [
      200: "OK", 303: "See Other", 400: "Bad Request", 403: "Forbidden", 404: "Not Found",
      405: "Method Not Allowed", 413: "Content Too Large", 421: "Misdirected Request",
      500: "Internal Server Error", 503: "Service Unavailable",
    ]
  }

  /// The parts of a body, each read when the client has taken the one before it.
  private struct PartSequence: AsyncBufferedSequence {
    typealias Element = UInt8

    let first: TwinPart
    let threads: ReadingThreads

    func makeAsyncIterator() -> Iterator {
      Iterator(bytes: first.bytes[...], read: first.next, threads: threads)
    }

    struct Iterator: AsyncBufferedIteratorProtocol {
      var bytes: ArraySlice<UInt8>
      var read: TwinPart.Next?
      let threads: ReadingThreads

      mutating func next() async throws -> UInt8? {
        try await nextBuffer(suggested: 1)?.first
      }

      mutating func nextBuffer(suggested count: Int) async throws -> ArraySlice<UInt8>? {
        while bytes.isEmpty {
          guard let read else { return nil }
          let part = try await threads.run { try read() }
          bytes = part.bytes[...]
          self.read = part.next
        }
        defer { bytes = bytes.dropFirst(Swift.max(count, 1)) }
        return bytes.prefix(Swift.max(count, 1))
      }
    }
  }

  /// The bytes of events, each sent when it happens.
  private struct EventSequence: AsyncBufferedSequence {
    typealias Element = UInt8

    let events: AsyncStream<LiveFeed.Event>

    func makeAsyncIterator() -> Iterator { Iterator(events: events.makeAsyncIterator()) }

    struct Iterator: AsyncBufferedIteratorProtocol {
      var events: AsyncStream<LiveFeed.Event>.Iterator
      var text = EventText()
      var bytes: ArraySlice<UInt8> = []

      mutating func next() async throws -> UInt8? {
        try await nextBuffer(suggested: 1)?.first
      }

      mutating func nextBuffer(suggested count: Int) async throws -> ArraySlice<UInt8>? {
        if bytes.isEmpty {
          guard let event = await events.next() else { return nil }
          bytes = text.bytes(of: event)[...]
        }
        defer { bytes = bytes.dropFirst(Swift.max(count, 1)) }
        return bytes.prefix(Swift.max(count, 1))
      }
    }
  }
#endif

#if Inspector
  internal import FlyingSocks
  internal import LodestoreEssentials
  internal import LodestoreSystem

  /// One connection of the server, whose requests are answered one after the other.
  struct ServerConnection {
    private let socket: AsyncSocket
    private let number: Int
    private let table: ConnectionTable
    private let handler: PageHandler
    private var received = ReceivedBytes()
    /// Whether a part of a request has arrived, but not all of it.
    private var hasBegun = false

    private var limits: ConnectionLimits { table.limits }

    init(_ socket: AsyncSocket, number: Int, table: ConnectionTable, handler: PageHandler) {
      self.socket = socket
      self.number = number
      self.table = table
      self.handler = handler
    }

    /// Answers requests until the client ends the connection, or its time is over.
    mutating func run() async {
      do {
        while try await answerNext() {}
      } catch let fault as RequestHead.Fault {
        await refuse(fault)
      } catch is CancellationError {
        if hasBegun { sendNow(RequestHead.Fault(408, "The request did not arrive in time.")) }
      } catch {
        // The client has ended the connection, or the response cannot be continued.
      }
      try? socket.close()
    }

    // MARK: Requests

    /// Returns whether the client may send another request.
    private mutating func answerNext() async throws -> Bool {
      guard let head = try await nextHead() else { return false }
      table.allow(nil, for: number, isWaiting: false)
      var request = Request(head)
      let address: Address
      switch handler.gate.decide(request) {
      case .refused(let response):
        // The body of a refused request is not read, so nothing can follow it.
        let isLast = !head.keepsAlive || head.bodyLength > 0
        try await send(response, to: head, isLast: isLast)
        if head.bodyLength > 0 { await drain() }
        return !isLast
      case .admitted(let admitted): address = admitted
      }
      if head.bodyLength > 0 {
        hasBegun = true
        request.body = try await body(of: head)
        hasBegun = false
      }
      switch try await handler.answer(request, at: address) {
      case .response(let response): try await send(response, to: head, isLast: !head.keepsAlive)
      case .events(let response, let events):
        try await send(events, as: response, to: head)
        return false
      }
      return head.keepsAlive
    }

    /// Returns `nil` if the client ends the connection between two requests.
    private mutating func nextHead() async throws -> RequestHead? {
      table.allow(limits.idle, for: number, isWaiting: true)
      while true {
        if !received.isEmpty {
          if let head = try received.takeHead() {
            hasBegun = false
            return head
          }
          if !hasBegun { table.allow(limits.head, for: number, isWaiting: true) }
          hasBegun = true
        }
        do {
          received.append(try await socket.read(atMost: 4_096))
        } catch SocketError.disconnected where received.isEmpty {
          return nil
        }
      }
    }

    private mutating func body(of head: RequestHead) async throws -> [UInt8] {
      guard head.bodyLength <= limits.bodyBytes else {
        throw RequestHead.Fault(413, "The body is longer than \(limits.bodyBytes) bytes.")
      }
      table.allow(limits.body, for: number, isWaiting: true)
      defer { table.allow(nil, for: number, isWaiting: false) }
      if head.expectsContinue {
        try await socket.write(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8))
      }
      var body = received.take(head.bodyLength)
      while body.count < head.bodyLength {
        body += try await socket.read(atMost: min(head.bodyLength - body.count, 4_096))
      }
      return body
    }

    // MARK: Responses

    /// The number of bytes that the client must take within ``ConnectionLimits/send``.
    private static let sliceSize = 64 << 10

    private func send(
      _ response: Response, to head: RequestHead, isLast: Bool
    ) async throws {
      let body = response.body
      let isHead = head.method == "HEAD"
      if body.next == nil {
        var bytes = ResponseText.head(response, .bytes(body.bytes.count), isLast: isLast)
        if !isHead { bytes += body.bytes }
        return try await send(bytes)
      }
      // The length is unknown before the last part is read.
      let isChunked = head.minorVersion == 1
      let start = ResponseText.head(
        response, isHead ? .unknown : isChunked ? .chunked : .untilEnd,
        isLast: isLast || !isChunked && !isHead)
      try await send(start)
      if isHead { return }
      var part = body
      while true {
        if !part.bytes.isEmpty {
          try await send(isChunked ? ResponseText.chunk(part.bytes) : part.bytes)
        }
        guard let read = part.next else { break }
        part = try await handler.streams.run { try read() }
      }
      if isChunked { try await send(ResponseText.lastChunk) }
    }

    /// Sends each event when it happens.
    private func send(
      _ events: AsyncStream<LiveFeed.Event>, as response: Response, to head: RequestHead
    ) async throws {
      let isChunked = head.minorVersion == 1
      try await send(
        ResponseText.head(response, isChunked ? .chunked : .untilEnd, isLast: true))
      var text = EventText()
      for await event in events {
        let bytes = text.bytes(of: event)
        try await send(isChunked ? ResponseText.chunk(bytes) : bytes)
      }
      if isChunked { try await send(ResponseText.lastChunk) }
    }

    private func send(_ bytes: [UInt8]) async throws {
      var start = 0
      while start < bytes.count {
        let end = min(start + Self.sliceSize, bytes.count)
        table.allow(limits.send, for: number, isWaiting: false)
        try await socket.write(Data(bytes[start..<end]))
        start = end
      }
      table.allow(nil, for: number, isWaiting: false)
    }

    // MARK: Faults

    /// Answers a request that cannot be read, and ends the connection.
    private func refuse(_ fault: RequestHead.Fault) async {
      try? await send(ResponseText.whole(Response(fault.status, fault.text)))
      await drain()
    }

    /// Sends what the system takes at once, without waiting for the client.
    private func sendNow(_ fault: RequestHead.Fault) {
      _ = try? socket.socket.write(Data(ResponseText.whole(Response(fault.status, fault.text))))
    }

    /// Reads the rest of a request that was refused, for a short time.
    ///
    /// The system would otherwise end the connection before the client has read the response.
    private func drain() async {
      shutdown(socket.socket.file.rawValue, Int32(SHUT_WR))
      table.allow(.seconds(1), for: number, isWaiting: true)
      var count = 0
      while count < Self.sliceSize * 4, let more = try? await socket.read(atMost: 4_096) {
        count += more.count
      }
    }
  }

  /// The bytes of responses in HTTP/1.1.
  enum ResponseText {
    /// The way in which a client finds the end of a body.
    enum Length {
      case bytes(Int)
      case chunked
      /// The body ends with the connection.
      case untilEnd
      /// No body follows, and its length is not known.
      case unknown
    }

    static func head(_ response: Response, _ length: Length, isLast: Bool) -> [UInt8] {
      var text = "HTTP/1.1 \(response.status) \(phrases[response.status] ?? "Response")\r\n"
      for (name, value) in response.allFields { text += "\(name): \(value)\r\n" }
      switch length {
      case .bytes(let count): text += "Content-Length: \(count)\r\n"
      case .chunked: text += "Transfer-Encoding: chunked\r\n"
      case .untilEnd, .unknown: break
      }
      if isLast { text += "Connection: close\r\n" }
      return Array((text + "\r\n").utf8)
    }

    /// A response of one part, after which the connection ends.
    static func whole(_ response: Response) -> [UInt8] {
      head(response, .bytes(response.body.bytes.count), isLast: true) + response.body.bytes
    }

    static func chunk(_ bytes: [UInt8]) -> [UInt8] {
      Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n".utf8)
    }

    static let lastChunk = Array("0\r\n\r\n".utf8)

    private static let phrases = [
      200: "OK", 303: "See Other", 400: "Bad Request", 403: "Forbidden", 404: "Not Found",
      405: "Method Not Allowed", 408: "Request Timeout", 409: "Conflict",
      411: "Length Required", 413: "Content Too Large", 414: "URI Too Long",
      415: "Unsupported Media Type", 421: "Misdirected Request", 422: "Unprocessable Content",
      431: "Request Header Fields Too Large", 500: "Internal Server Error",
      503: "Service Unavailable", 505: "HTTP Version Not Supported",
    ]
  }
#endif

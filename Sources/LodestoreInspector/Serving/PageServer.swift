#if Inspector
  internal import FlyingSocks
  internal import LodestoreEssentials
  internal import LodestoreSystem

  /// The HTTP server of the inspector, on the loop-back address alone.
  ///
  /// The sockets and their events are those of FlyingFox. Its HTTP server limits neither the head of
  /// a request nor the number of connections, so requests are read by ``ServerConnection``.
  struct PageServer: Sendable {
    private let task: Task<Void, any Error>
    let feed: LiveFeed
    let gate: Gate
    let connections: ConnectionTable

    /// Starts the server and returns when it accepts connections.
    ///
    /// - Parameter port: 0 for any free port.
    static func start(
      _ responder: Responder, port: UInt16, live liveLimits: LiveFeed.Limits = LiveFeed.Limits(),
      limits: ConnectionLimits = ConnectionLimits()
    ) async throws -> PageServer {
      let listener = try ListeningSocket(port: port)
      let pool = SocketPool<Poll>.make(maxEvents: 128)
      try await pool.prepare()
      let socket = try AsyncSocket(socket: listener.socket, pool: pool)
      let gate = Gate(
        key: AccessKey(), port: listener.port, allowsWrites: responder.desk != nil)
      let feed = LiveFeed(responder.maker.store, limits: liveLimits)
      let handler = PageHandler(gate: gate, responder: responder, feed: feed)
      let connections = ConnectionTable(limits)
      let task = Task {
        defer { try? socket.close() }
        try await withThrowingTaskGroup(of: Void.self) { group in
          defer {
            connections.endAll()
            group.cancelAll()
          }
          group.addTask { try await pool.run() }
          group.addTask { try await Self.accept(on: socket, connections, handler) }
          group.addTask {
            while true {
              try await Task.sleep(for: limits.sweep)
              connections.endOverdue()
            }
          }
          _ = try await group.next()
        }
      }
      return PageServer(task: task, feed: feed, gate: gate, connections: connections)
    }

    private static func accept(
      on socket: AsyncSocket, _ connections: ConnectionTable, _ handler: PageHandler
    ) async throws {
      while true {
        let client: AsyncSocket
        do {
          client = try await socket.accept()
        } catch SocketError.failed(_, let number, _)
          where [EMFILE, ENFILE, ENOBUFS, ENOMEM, ECONNABORTED, EINTR].contains(number)
        {
          // The process has no descriptor left, or the client has gone; others may still be served.
          try await Task.sleep(for: .milliseconds(50))
          continue
        }
        var place = connections.open()
        while place == nil, connections.isEndingSome {
          try await Task.sleep(for: .milliseconds(5))
          place = connections.open()
        }
        guard let number = place else {
          let text = "All \(connections.limits.connections) connections are in use."
          _ = try? client.socket.write(Data(ResponseText.whole(Response(503, text))))
          try? client.close()
          continue
        }
        ListeningSocket.sendAtOnce(client.socket.file.rawValue)
        let task = Task {
          var connection = ServerConnection(
            client, number: number, table: connections, handler: handler)
          await connection.run()
          connections.close(number)
        }
        connections.note(task, of: number)
      }
    }

    /// Returns when the server has ended.
    func wait() async throws { try await task.value }

    /// Ends all connections, and returns when none reads the store any more.
    func stop() async {
      feed.end()
      task.cancel()
      _ = try? await task.value
      while connections.count > 0 {
        connections.endAll()
        try? await Task.sleep(for: .milliseconds(5))
      }
    }
  }

  /// A socket that listens on the loop-back address.
  private struct ListeningSocket {
    let socket: Socket
    let port: UInt16

    init(port wanted: UInt16) throws {
      let socket = try Socket(domain: Int32(AF_INET))
      self.socket = socket
      do {
        // The browser that the program may start must not keep the port.
        _ = fcntl(socket.file.rawValue, F_SETFD, FD_CLOEXEC)
        try socket.setValue(true, for: .localAddressReuse)
        try socket.bind(to: try sockaddr_in.inet(ip4: "127.0.0.1", port: wanted))
        try socket.listen()
        guard case .ip4(_, let port) = try socket.sockname() else {
          throw SocketError.unsupportedAddress
        }
        self.port = port
      } catch {
        try? socket.close()
        guard case SocketError.failed(_, _, let reason) = error else { throw error }
        throw InspectorError(
          message: "cannot listen on port \(wanted) of the loop-back address: \(reason); choose "
            + "another port, or 0 for any free one")
      }
    }

    /// Lets the system send small parts of a response without waiting for more.
    static func sendAtOnce(_ file: Int32) {
      var isOn: Int32 = 1
      setsockopt(
        file, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
    }
  }

  /// Answers the requests that the gate admits.
  struct PageHandler: Sendable {
    let gate: Gate
    let responder: Responder
    let feed: LiveFeed
    /// Each answer has a thread of its own while it reads, and a reader slot of the store.
    let threads = ReadingThreads(most: 12)
    /// The threads of forms with many rows, so that pages do not wait for them.
    let streams = ReadingThreads(most: 4)

    enum Answer: Sendable {
      case response(Response)
      /// The events of commits, for as long as the page is open.
      case events(Response, AsyncStream<LiveFeed.Event>)
    }

    func answer(_ request: Request, at address: Address) async throws -> Answer {
      if address == Route.live.address, request.method == "GET" {
        let events = try await threads.run { [feed] in try feed.events() }
        return .events(Response(200, contentType: EventText.contentType, TwinPart([])), events)
      }
      let form = try? Target(address).form
      let threads = form == .csv || form == .jsonl ? streams : threads
      return .response(
        try await threads.run { [responder] in responder.respond(to: address, request) })
    }
  }
#endif

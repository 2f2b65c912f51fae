#if Inspector
  import LodestoreSystem
  import Testing

  /// A connection to a server of this machine, as bytes.
  ///
  /// The calls wait, so they must not be on a thread of tasks, which the server needs.
  final class ClientConnection {
    private let socket: Int32
    private var bytes: [UInt8] = []

    var received: String { String(decoding: bytes, as: UTF8.self) }

    /// - Parameter receiveBuffer: the bytes that the system takes from the server unasked.
    init(port: UInt16, receiveBuffer: Int32? = nil) throws {
      #if canImport(Darwin)
        let kind = SOCK_STREAM
      #else
        let kind = Int32(SOCK_STREAM.rawValue)
      #endif
      socket = LodestoreSystem.socket(AF_INET, kind, 0)
      var limit = timeval(tv_sec: 60, tv_usec: 0)
      setsockopt(
        socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
      if var receiveBuffer {
        setsockopt(
          socket, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
      }
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      let status = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
      try #require(status == 0)
    }

    deinit { close(socket) }

    func send(_ text: String) throws {
      try send(Array(text.utf8))
    }

    func send(_ bytes: [UInt8]) throws {
      #if canImport(Darwin)
        let flags: Int32 = 0
      #else
        let flags = Int32(MSG_NOSIGNAL)
      #endif
      var start = 0
      while start < bytes.count {
        let count = bytes[start...].withUnsafeBytes {
          LodestoreSystem.send(socket, $0.baseAddress, $0.count, flags)
        }
        guard count > 0 else { throw Ended() }
        start += count
      }
    }

    /// Thrown when the server has ended the connection.
    struct Ended: Error {}

    /// Whether bytes of the server wait, or its end.
    var hasInput: Bool { waits(milliseconds: 0) }

    /// Returns whether bytes of the server, or its end, arrive within a time.
    func waits(milliseconds: Int32) -> Bool {
      if !bytes.isEmpty { return true }
      var state = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
      return poll(&state, 1, milliseconds) > 0
    }

    /// A response, of which the body is complete.
    struct Answer {
      var status: Int
      /// The fields by name in lower case.
      var fields: [String: String]
      var body: [UInt8] = []
    }

    /// Reads the next response; `nil` if the server ends the connection instead.
    ///
    /// The body of a stream of events is not read.
    func answer(hasBody: Bool = true) throws -> Answer? {
      guard let head = line(until: "\r\n\r\n") else { return nil }
      let lines = head.split(separator: "\r\n")
      let words = try #require(lines.first).split(separator: " ", maxSplits: 2)
      try #require(words.count == 3 && words[0] == "HTTP/1.1")
      let status = try #require(Int(words[1]))
      var answer = Answer(status: status, fields: [:])
      for line in lines.dropFirst() {
        let sides = line.split(separator: ":", maxSplits: 1)
        try #require(sides.count == 2)
        let isNew =
          answer.fields.updateValue(
            String(sides[1].drop { $0 == " " }), forKey: sides[0].lowercased()) == nil
        #expect(isNew, "a field twice: \(line)")
      }
      guard hasBody, answer.fields["content-type"] != "text/event-stream" else { return answer }
      if let length = answer.fields["content-length"] {
        let count = try #require(Int(length))
        answer.body = try #require(take(count))
        return answer
      }
      try #require(answer.fields["transfer-encoding"] == "chunked")
      while true {
        let digits = try #require(line(until: "\r\n"))
        let size = try #require(Int(digits, radix: 16))
        let part = try #require(take(size + 2))
        if size == 0 { return answer }
        answer.body += part.dropLast(2)
      }
    }

    /// The bytes before `end`, which are removed with it; `nil` at the end of the connection.
    private func line(until end: StaticString) -> String? {
      let end = Array(end.description.utf8)
      var searched = 0
      while true {
        if let found = bytes[searched...].firstRange(of: end) {
          let line = String(decoding: bytes[..<found.lowerBound], as: UTF8.self)
          bytes.removeFirst(found.upperBound)
          return line
        }
        searched = max(0, bytes.count - end.count)
        guard readMore() else { return nil }
      }
    }

    private func take(_ count: Int) -> [UInt8]? {
      while bytes.count < count { guard readMore() else { return nil } }
      defer { bytes.removeFirst(count) }
      return Array(bytes.prefix(count))
    }

    private func readMore() -> Bool {
      var buffer = [UInt8](repeating: 0, count: 65_536)
      let count = recv(socket, &buffer, buffer.count, 0)
      guard count > 0 else { return false }
      bytes += buffer[..<count]
      return true
    }

    /// Reads until `text` has arrived, or until the end of the connection.
    ///
    /// - Returns: false at the end of the connection, and if nothing arrives for a minute.
    @discardableResult
    func read(until text: String?) -> Bool {
      while text.map({ !received.contains($0) }) ?? true {
        guard readMore() else { return false }
      }
      return true
    }
  }
#endif

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

    init(port: UInt16) throws {
      #if canImport(Darwin)
        let kind = SOCK_STREAM
      #else
        let kind = Int32(SOCK_STREAM.rawValue)
      #endif
      socket = LodestoreSystem.socket(AF_INET, kind, 0)
      var limit = timeval(tv_sec: 60, tv_usec: 0)
      setsockopt(
        socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
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
      let bytes = Array(text.utf8)
      try #require(LodestoreSystem.send(socket, bytes, bytes.count, 0) == bytes.count)
    }

    /// Reads until `text` has arrived, or until the end of the connection.
    ///
    /// - Returns: false at the end of the connection, and if nothing arrives for a minute.
    @discardableResult
    func read(until text: String?) -> Bool {
      var buffer = [UInt8](repeating: 0, count: 65_536)
      while text.map({ !received.contains($0) }) ?? true {
        let count = recv(socket, &buffer, buffer.count, 0)
        guard count > 0 else { return false }
        bytes += buffer[..<count]
      }
      return true
    }
  }
#endif

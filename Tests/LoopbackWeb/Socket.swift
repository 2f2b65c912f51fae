import Foundation

/// The few calls of sockets that differ from system to system.
package enum Socket {
  #if canImport(Darwin)
    package static let bothWays = SHUT_RDWR
    package static let writing = SHUT_WR
    package static let tcp = IPPROTO_TCP
    private static let stream = SOCK_STREAM
    private static let quietly: Int32 = 0
  #else
    package static let bothWays = Int32(SHUT_RDWR)
    package static let writing = Int32(SHUT_WR)
    package static let tcp = Int32(IPPROTO_TCP)
    private static let stream = Int32(SOCK_STREAM.rawValue)
    private static let quietly = Int32(MSG_NOSIGNAL)
  #endif

  /// A call that did not succeed, with its `errno`.
  package struct Failure: Error {
    package var call: String
    package var code = errno

    package init(call: String, code: Int32 = errno) {
      self.call = call
      self.code = code
    }
  }

  /// A socket that listens on a free port of the loopback interface.
  package static func listening() throws -> Int32 {
    let listener = try bound()
    guard listen(listener, 64) == 0 else {
      close(listener)
      throw Failure(call: "listen")
    }
    return listener
  }

  /// A socket that is bound to a free port of the loopback interface but does not listen.
  package static func bound() throws -> Int32 {
    let bound = try make()
    guard with(port: 0, { bind(bound, $0, $1) }) == 0 else {
      close(bound)
      throw Failure(call: "bind")
    }
    return bound
  }

  /// Makes a connection to a port and closes it.
  package static func knock(_ port: UInt16) {
    guard let knock = try? make() else { return }
    _ = with(port: port) { connect(knock, $0, $1) }
    close(knock)
  }

  /// Sends bytes to a port of this machine, and returns all bytes that come until the other side
  /// closes the connection.
  package static func exchange(_ bytes: [UInt8], with port: UInt16) throws -> [UInt8] {
    let socket = try make()
    defer { close(socket) }
    guard with(port: port, { connect(socket, $0, $1) }) == 0 else {
      throw Failure(call: "connect")
    }
    guard send(bytes, socket) else { throw Failure(call: "send") }
    var answer: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = recv(socket, &buffer, buffer.count, 0)
      guard count > 0 else {
        if count < 0 { throw Failure(call: "recv") }
        return answer
      }
      answer += buffer[..<count]
    }
  }

  private static func make() throws -> Int32 {
    let made = socket(AF_INET, stream, 0)
    guard made >= 0 else { throw Failure(call: "socket") }
    return made
  }

  private static func with(
    port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    address.sin_port = port.bigEndian
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }

  package static func port(of socket: Int32) throws -> UInt16 {
    var address = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &size) }
    }
    guard result == 0 else { throw Failure(call: "getsockname") }
    return UInt16(bigEndian: address.sin_port)
  }

  /// Sends all bytes; returns false, without a signal, if the other side has closed the connection.
  package static func send(_ bytes: [UInt8], _ socket: Int32) -> Bool {
    #if canImport(Darwin)
      var one: Int32 = 1
      setsockopt(socket, SOL_SOCKET, SO_NOSIGPIPE, &one, socklen_t(MemoryLayout<Int32>.size))
    #endif
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { buffer in
        #if canImport(Darwin)
          Darwin.send(socket, buffer.baseAddress?.advanced(by: sent), bytes.count - sent, quietly)
        #else
          Glibc.send(socket, buffer.baseAddress?.advanced(by: sent), bytes.count - sent, quietly)
        #endif
      }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

  /// The bytes of an address written as text.
  package static func bytes(of text: String) throws -> [UInt8] {
    let family = text.contains(":") ? AF_INET6 : AF_INET
    var bytes = [UInt8](repeating: 0, count: text.contains(":") ? 16 : 4)
    guard inet_pton(family, text, &bytes) == 1 else { throw Failure(call: "inet_pton") }
    return bytes
  }
}

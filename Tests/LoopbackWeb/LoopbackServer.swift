import Foundation
import Synchronization

/// A web server on the loopback interface that gives the answers, right or wrong, that a test
/// defines.
///
/// One thread accepts connections, and a further thread serves each connection. The log has the
/// requests in the order in which their heads came.
package final class LoopbackServer: Sendable {
  /// A client's request.
  package struct Request: Sendable {
    /// The number of the request in the log, counted from 1.
    package var number: Int
    package var method = "GET"
    /// Path and query as they came.
    package var target: String
    /// The header fields, keyed by lowercase name.
    package var fields: [String: String]
    /// The content, by the field `Content-Length`.
    package var body: [UInt8] = []

    package var path: String { String(target.prefix { $0 != "?" }) }

    /// The value of a parameter of the query, as it came.
    package func value(of name: String) -> String? {
      target.drop { $0 != "?" }.dropFirst().split(separator: "&")
        .first { $0.prefix { $0 != "=" } == name }
        .map { String($0.drop { $0 != "=" }.dropFirst()) }
    }
  }

  private struct State {
    var log: [Request] = []
    var answering = 0
    var mostAtOnce = 0
    var closedByClients = 0
    var connections: Set<Int32> = []
    var isStopped = false
  }

  private let listener: Int32
  package let port: UInt16
  private let answer: @Sendable (Request) -> Answer
  private let state = Mutex(State())
  private let ended = DispatchSemaphore(value: 0)

  /// Makes a server and its thread, which accepts from now on.
  package init(_ answer: @escaping @Sendable (Request) -> Answer) throws {
    self.answer = answer
    listener = try Socket.listening()
    port = try Socket.port(of: listener)
    start()
  }

  /// The requests that came.
  package var log: [Request] { state.withLock { $0.log } }
  /// Path and query of each request.
  package var targets: [String] { log.map(\.target) }
  /// The most requests that were being answered together.
  package var mostAtOnce: Int { state.withLock { $0.mostAtOnce } }
  /// Answers that the client did not wait for.
  package var closedByClients: Int { state.withLock { $0.closedByClients } }

  /// Connections that neither side has closed.
  package var openConnections: Int { state.withLock { $0.connections.count } }

  package func url(_ target: String) throws -> URL {
    guard let url = URL(string: "http://127.0.0.1:\(port)\(target)") else {
      throw Socket.Failure(call: "URL", code: EINVAL)
    }
    return url
  }

  // MARK: Connections

  /// Accepts connections on a thread, which alone closes the listener.
  ///
  /// A second close could close another file that has since got the number of the listener.
  private func start() {
    Thread.detachNewThread { [self] in
      while true {
        let connection = accept(listener, nil, nil)
        let isOpen = state.withLock { state in
          if !state.isStopped { state.connections.insert(connection) }
          return !state.isStopped
        }
        guard connection >= 0, isOpen else {
          // Another thread must not close the listener: another file could then get its number
          // before `accept` is called.
          close(connection)
          close(listener)
          ended.signal()
          return
        }
        Thread.detachNewThread { [self] in serve(connection) }
      }
    }
  }

  /// Ends all connections, including connections that an answer keeps open, and frees the port.
  package func stop() {
    state.withLock { state in
      state.isStopped = true
      for connection in state.connections { shutdown(connection, Socket.bothWays) }
    }
    Socket.knock(port)
    ended.wait()
  }

  private func serve(_ connection: Int32) {
    var one: Int32 = 1
    setsockopt(connection, Socket.tcp, TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    var input = [UInt8]()
    while let request = request(connection, &input) {
      state.withLock { state in
        state.answering += 1
        state.mostAtOnce = max(state.mostAtOnce, state.answering)
      }
      let isKept = send(answer(request), connection)
      state.withLock { $0.answering -= 1 }
      guard isKept else { break }
    }
    state.withLock { state in
      state.connections.remove(connection)
      close(connection)
    }
  }

  /// The next request of a connection; nil when the client has closed it.
  private func request(_ connection: Int32, _ input: inout [UInt8]) -> Request? {
    let end = Array("\r\n\r\n".utf8)
    while true {
      if let place = input.firstRange(of: end) {
        let lines = String(decoding: input[..<place.lowerBound], as: UTF8.self)
          .components(separatedBy: "\r\n")
        input.removeSubrange(..<place.upperBound)
        let length = lines.first { $0.lowercased().hasPrefix("content-length:") }
          .flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) }
        while input.count < length ?? 0 {
          guard let bytes = receive(connection) else { return nil }
          input += bytes
        }
        let body = Array(input.prefix(length ?? 0))
        input.removeFirst(body.count)
        return record(lines, body)
      }
      guard let bytes = receive(connection) else { return nil }
      input += bytes
    }
  }

  private func record(_ lines: [String], _ body: [UInt8]) -> Request {
    var fields: [String: String] = [:]
    for line in lines.dropFirst() {
      let name = line.prefix { $0 != ":" }
      fields[name.lowercased()] =
        line.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces)
    }
    let words = lines[0].split(separator: " ").map(String.init)
    return state.withLock { state in
      let request = Request(
        number: state.log.count + 1, method: words.first ?? "",
        target: words.count > 1 ? words[1] : "", fields: fields, body: body)
      state.log.append(request)
      return request
    }
  }

  /// Sends an answer; false when the connection ends with it.
  private func send(_ answer: Answer, _ connection: Int32) -> Bool {
    for step in answer.steps {
      switch step {
      case .bytes(let bytes):
        guard Socket.send(bytes, connection) else {
          state.withLock { $0.closedByClients += 1 }
          return false
        }
      case .wait(let milliseconds):
        usleep(UInt32(milliseconds) * 1000)
      case .waitForClient:
        while receive(connection) != nil {}
        state.withLock { $0.closedByClients += $0.isStopped ? 0 : 1 }
        return false
      case .close:
        shutdown(connection, Socket.writing)
        return false
      case .reset:
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(
          connection, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        return false
      }
    }
    return true
  }

  private func receive(_ connection: Int32) -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = recv(connection, &buffer, buffer.count, 0)
    return count > 0 ? Array(buffer.prefix(count)) : nil
  }
}

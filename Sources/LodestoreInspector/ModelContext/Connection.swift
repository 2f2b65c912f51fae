internal import LodestoreBytes
internal import LodestoreSystem
internal import Synchronization

/// The calls in progress of one client, and its output.
final class Connection: Sendable {
  private let output: Int32
  /// Whether the client accepts no more bytes; locked while a line is written.
  private let closed = Mutex(false)
  private let calls = Mutex<[RPCMessage.ID: Cancellation]>([:])

  init(output: Int32) { self.output = output }

  /// Whether the client has closed the output.
  var isClosed: Bool { closed.withLock { $0 } }

  /// Writes a complete line.
  func send(_ line: [UInt8]) {
    closed.withLock { isClosed in
      guard !isClosed else { return }
      isClosed = !line._withBytes { write($0) }
    }
  }

  /// Writes all bytes; returns false if the client accepts no more.
  private func write(_ bytes: ByteView) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let written = rest.writeSome(to: output)
      let code = errno
      if written >= 0 {
        rest = rest.dropFirst(written)
      } else if code == EAGAIN {
        var request = pollfd(fd: output, events: Int16(POLLOUT), revents: 0)
        _ = poll(&request, 1, -1)
      } else if code != EINTR {
        return false
      }
    }
    return true
  }

  // MARK: Calls

  /// Notes a call; `nil` if a call with the id is in progress.
  func begin(_ id: RPCMessage.ID) -> Cancellation? {
    calls.withLock { calls in
      guard calls[id] == nil else { return nil }
      let cancellation = Cancellation()
      calls[id] = cancellation
      return cancellation
    }
  }

  func cancel(_ id: RPCMessage.ID) { calls.withLock { $0[id]?.request() } }

  /// Ends a call; returns whether the client still waits for the response.
  func end(_ id: RPCMessage.ID, _ cancellation: Cancellation) -> Bool {
    calls.withLock { $0[id] = nil }
    return !cancellation.isRequested
  }
}

/// The wish of a client to end a call.
final class Cancellation: Sendable {
  private let flag = Atomic(false)

  var isRequested: Bool { flag.load(ordering: .relaxed) }

  func request() { flag.store(true, ordering: .relaxed) }
}

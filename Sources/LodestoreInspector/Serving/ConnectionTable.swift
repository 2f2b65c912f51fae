internal import Synchronization

/// The limits of a server's connections.
struct ConnectionLimits: Sendable {
  /// The number of open connections.
  var connections = 128
  /// The time in which the head of a request must arrive.
  var head = Duration.seconds(10)
  /// The time between two requests of a connection.
  var idle = Duration.seconds(60)
  /// The time in which the body of a request must arrive.
  var body = Duration.seconds(30)
  /// The time in which a client must take 64 KiB of a response.
  var send = Duration.seconds(30)
  /// The maximum number of bytes of a request's body.
  var bodyBytes = 1 << 20
  /// The time between two searches for connections whose time is over.
  var sweep = Duration.seconds(1)
}

/// The open connections of a server, each with the end of its time.
///
/// If all places are taken, a new connection takes the place of the one that has waited longest
/// for a request. Clients that send nothing, or send slowly, therefore keep nobody out.
final class ConnectionTable: Sendable {
  private struct Entry {
    var task: Task<Void, Never>?
    var deadline: ContinuousClock.Instant?
    /// The time since which the connection waits for a request; `nil` while it is answered.
    var waitsSince: ContinuousClock.Instant?
    var isCancelled = false
  }

  private struct State {
    var entries: [Int: Entry] = [:]
    var next = 0
  }

  let limits: ConnectionLimits
  private let state = Mutex(State())

  init(_ limits: ConnectionLimits) { self.limits = limits }

  /// The number of open connections.
  var count: Int { state.withLock { $0.entries.count } }

  /// Whether a connection is ending, whose place will be free soon.
  var isEndingSome: Bool { state.withLock { $0.entries.values.contains(where: \.isCancelled) } }

  /// Takes a place for a connection; returns `nil` if all others are being answered or are ending.
  func open() -> Int? {
    let (number, evicted) = state.withLock { state -> (Int?, Task<Void, Never>?) in
      var evicted: Task<Void, Never>?
      if state.entries.values.count(where: { !$0.isCancelled }) >= limits.connections {
        let waiting = state.entries.filter { !$1.isCancelled && $1.waitsSince != nil }
        let oldest = waiting.min { left, right in
          (left.value.waitsSince ?? .now, left.key) < (right.value.waitsSince ?? .now, right.key)
        }
        guard let oldest, state.entries.count < 2 * limits.connections else { return (nil, nil) }
        state.entries[oldest.key]?.isCancelled = true
        evicted = oldest.value.task
      }
      state.next += 1
      let now = ContinuousClock.now
      state.entries[state.next] = Entry(
        deadline: now.advanced(by: limits.head), waitsSince: now)
      return (state.next, evicted)
    }
    evicted?.cancel()
    return number
  }

  /// Notes the task that serves a connection, which ends if the time of the connection is over.
  func note(_ task: Task<Void, Never>, of number: Int) {
    let isCancelled = state.withLock { state in
      state.entries[number]?.task = task
      return state.entries[number]?.isCancelled ?? false
    }
    if isCancelled { task.cancel() }
  }

  /// Gives a connection time for its next step, or any time.
  ///
  /// - Parameter isWaiting: whether the client has not sent a complete request.
  func allow(_ time: Duration?, for number: Int, isWaiting: Bool) {
    let now = ContinuousClock.now
    state.withLock { state in
      state.entries[number]?.deadline = time.map(now.advanced(by:))
      if !isWaiting {
        state.entries[number]?.waitsSince = nil
      } else if state.entries[number]?.waitsSince == nil {
        state.entries[number]?.waitsSince = now
      }
    }
  }

  func close(_ number: Int) { _ = state.withLock { $0.entries.removeValue(forKey: number) } }

  /// Ends the connections whose time is over.
  func endOverdue() {
    let now = ContinuousClock.now
    end { entry in entry.deadline.map { $0 <= now } ?? false }
  }

  func endAll() { end { _ in true } }

  private func end(_ isOver: (Entry) -> Bool) {
    let tasks = state.withLock { state in
      state.entries.filter { isOver($1) }.compactMap { number, entry in
        state.entries[number]?.isCancelled = true
        return entry.task
      }
    }
    for task in tasks { task.cancel() }
  }
}

import Synchronization

/// A request that was answered.
public struct Request: Sendable, Hashable {
  /// The path with its query, as `/pods?page=3`.
  public let path: String
  /// The status of the answer, also where it broke off.
  public let status: Int
}

/// The requests of a running service.
final class RequestLog: Sendable {
  private struct State {
    var faults: Faults
    var count = 0
    var requests: [Request] = []
  }

  private let state: Mutex<State>

  init(_ faults: Faults) { state = Mutex(State(faults: faults)) }

  var faults: Faults {
    get { state.withLock { $0.faults } }
    set { state.withLock { $0.faults = newValue } }
  }

  var requests: [Request] { state.withLock { $0.requests } }

  /// The number of a new request, from 1, and the faults that it meets.
  func begin() -> (number: Int, faults: Faults) {
    state.withLock { state in
      state.count += 1
      return (state.count, state.faults)
    }
  }

  func end(_ request: Request) { state.withLock { $0.requests.append(request) } }
}

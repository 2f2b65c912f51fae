import Synchronization

/// An answered request.
public struct Request: Sendable, Hashable {
  /// The path with its query, for example `/pods?page=3`.
  public let path: String
  /// The status of the answer, even if the answer was interrupted.
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

  /// Returns the number of a new request, counted from 1, and the faults that apply to it.
  func begin() -> (number: Int, faults: Faults) {
    state.withLock { state in
      state.count += 1
      return (state.count, state.faults)
    }
  }

  func end(_ request: Request) { state.withLock { $0.requests.append(request) } }
}

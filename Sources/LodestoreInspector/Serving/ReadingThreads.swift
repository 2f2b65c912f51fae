internal import Dispatch
internal import Synchronization

/// Threads for calls of the store, which would otherwise block the tasks of the program.
///
/// Each call has a queue of its own. The calls of a concurrent queue would share their few threads
/// with tasks, and the server could accept no connection while they run.
final class ReadingThreads: Sendable {
  private typealias Work = @Sendable () -> Void

  private struct State {
    var running = 0
    var waiting: [Work] = []
    var free: [DispatchQueue] = []
  }

  private let most: Int
  private let state = Mutex(State())

  /// - Parameter most: the number of calls at a time; the others wait in their order.
  init(most: Int = .max) { self.most = most }

  func run<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      begin { continuation.resume(with: Result { try body() }) }
    }
  }

  private func begin(_ work: @escaping Work) {
    let queue = state.withLock { state -> DispatchQueue? in
      guard state.running < most else {
        state.waiting.append(work)
        return nil
      }
      state.running += 1
      return state.free.popLast() ?? DispatchQueue(label: "lodestore.inspector")
    }
    queue.map { run(work, on: $0) }
  }

  private func run(_ work: @escaping Work, on queue: DispatchQueue) {
    queue.async {
      work()
      let next = self.state.withLock { state -> Work? in
        guard !state.waiting.isEmpty else {
          state.running -= 1
          state.free.append(queue)
          return nil
        }
        return state.waiting.removeFirst()
      }
      if let next { self.run(next, on: queue) }
    }
  }
}

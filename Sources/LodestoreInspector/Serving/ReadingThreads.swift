internal import Dispatch

/// Threads for reads of the store, which would otherwise block the tasks of the program.
struct ReadingThreads: Sendable {
  private let queue = DispatchQueue(
    label: "lodestore.inspector", qos: .userInitiated, attributes: .concurrent)

  func run<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try body() }) }
    }
  }
}

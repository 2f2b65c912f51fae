import Foundation
import LodestoreSystem
import Testing

/// Waits for `body`, up to `seconds`.
///
/// The limit is long, because in a run of all tests a task waits for the work of all other tests
/// before it.
func within<R: Sendable>(
  seconds: Double = 900, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: @escaping @Sendable () async throws -> R
) async throws -> R {
  try await withThrowingTaskGroup(of: R?.self) { group in
    group.addTask { try await body() }
    group.addTask {
      try await Task.sleep(for: .seconds(seconds))
      return nil
    }
    defer { group.cancelAll() }
    let ended = try await group.next() ?? nil
    return try #require(
      ended, "nothing came within \(seconds) seconds", sourceLocation: sourceLocation)
  }
}

/// Checks repeatedly whether `isTrue` returns true, and fails if it never does.
///
/// The number of checks is limited, not the time. While tests without a pause have all threads,
/// neither this function nor the awaited code runs.
func eventually(
  sourceLocation: SourceLocation = #_sourceLocation, _ isTrue: () throws -> Bool
) async throws {
  for _ in 0..<24_000 where try !isTrue() { try await Task.sleep(for: .milliseconds(10)) }
  #expect(try isTrue(), sourceLocation: sourceLocation)
}

/// The processor time of this thread for `body`, which other tests and processes do not lengthen.
func processorTime(_ body: () throws -> Void) rethrows -> Duration {
  func now() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
  }
  let start = now()
  try body()
  return now() - start
}

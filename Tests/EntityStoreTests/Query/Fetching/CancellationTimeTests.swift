import Foundation
import Testing

@testable import EntityStore

/// A cancelled fetch ends soon in optimized code.
///
/// ``CancellationTests`` counts the steps until the end in any build.
@Suite(.serialized, .enabled(if: isOptimized)) struct CancellationTimeTests {
  private static let count = 300_000
  /// The documentation promises 50 milliseconds on an idle machine; this bound allows for other
  /// load.
  private static let bound = Duration.seconds(2)

  /// The time until `query` ends after its task is cancelled, which is `delay` after it has read
  /// `start` records; nil if the query was done by then.
  private func cancelling(
    _ query: Query<Mote>, in store: Store, at start: Int, delay: Duration = .zero
  ) async throws -> Duration? {
    let (signals, signal) = AsyncStream.makeStream(of: Void.self)
    let task = Task {
      defer { signal.finish() }
      _ = try await store.fetch(query) { progress in
        if progress.completed >= start { signal.yield() }
      }
    }
    for await _ in signals { break }
    try await Task.sleep(for: delay)
    let clock = ContinuousClock()
    let cancelled = clock.now
    task.cancel()
    let result = await task.result
    let duration = clock.now - cancelled
    guard case .failure(let error) = result else { return nil }
    #expect(error is CancellationError, "\(error)")
    return duration
  }

  @Test func `A cancelled fetch ends soon, in every phase`() async throws {
    try await withTemporaryStore([Mote.self]) { store in
      try await store.write { transaction in
        _ = try transaction.insert(
          (0..<Self.count).lazy.map { number in
            Mote(number: number &* 7_919 % Self.count, text: "text \(number % 1_000)")
          })
      }
      let slow = Mote.where { anyOf($0.text.matches("t.*(1|2|3)[0-9]* .*"), $0.text.contains("9")) }
      let sorted = Mote.all.sorted(by: \.text.ascending, \.number.descending)
      let indexed = Mote.where { $0.number >= 0 }.requiringIndex()
      var durations = [
        try await cancelling(slow, in: store, at: 1_000),
        try await cancelling(indexed, in: store, at: 1_000),
      ]
      // These runs are cancelled near the end of the scan, or later, while they sort or decode.
      for delay in [0, 8, 16, 30, 45] {
        durations.append(
          try await cancelling(
            sorted, in: store, at: Self.count * 95 / 100, delay: .milliseconds(delay)))
      }
      // On a fast or busy machine, some runs may end before they are cancelled.
      for duration in durations.compactMap({ $0 }) { #expect(duration < Self.bound) }
      print("cancelled after \(durations.compactMap { $0 })")
    }
  }
}

/// Whether the tests are built with optimization, so that times mean something.
private var isOptimized: Bool {
  var isOptimized = true
  assert(
    {
      isOptimized = false
      return true
    }())
  return isOptimized
}

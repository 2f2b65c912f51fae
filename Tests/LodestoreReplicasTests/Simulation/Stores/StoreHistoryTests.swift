#if Datasets
  import Foundation
  import Testing

  /// Histories of real writers, followers, takeovers and restores on a simulated bucket.
  ///
  /// `LODESTORE_SEED` replays a history, `LODESTORE_CASES` is the number of histories, and
  /// `LODESTORE_LOG` prints their events.
  @Suite(.timeLimit(.minutes(60))) struct StoreHistoryTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seed =
      environment["LODESTORE_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...UInt64.max / 2)
    private static let count = environment["LODESTORE_CASES"].flatMap { UInt64($0) } ?? 20

    /// Runs work that blocks on a thread of its own.
    private static func onThread<R: Sendable>(
      _ body: @escaping @Sendable () throws -> R
    ) async throws -> R {
      try await withCheckedThrowingContinuation { continuation in
        let thread = Thread { continuation.resume(with: Result { try body() }) }
        thread.stackSize = 8 << 20
        thread.start()
      }
    }

    @Test func `Every history of stores restores to the last replicated write`() async throws {
      let isLogged = Self.environment["LODESTORE_LOG"] != nil
      let (failures, coverage) = try await Self.onThread {
        var failures: [String] = []
        var coverage = StoreHistory.Coverage()
        for seed in Self.seed..<Self.seed + Self.count {
          let history = try StoreHistory(seed: seed, isLogged: isLogged)
          let outcome = history.run()
          coverage += history.coverage
          for line in history.log ?? [] { print(line) }
          guard case .failed(let text) = outcome else { continue }
          failures.append("\(text); LODESTORE_SEED=\(seed) LODESTORE_CASES=1 repeats the history")
          print("seed \(seed): \(text)")
        }
        return (failures, coverage)
      }
      for text in failures { Issue.record("\(text)") }
      print("\(Self.count) histories: \(coverage)")
      guard Self.count >= 100 else { return }
      #expect(coverage.takeovers > 0 && coverage.fenced > 0 && coverage.collections > 0)
      #expect(coverage.kills > 0 && coverage.freezes > 0 && coverage.bases > 0)
    }

    @Test func `A history of stores is repeated by its seed`() async throws {
      let runs = try await Self.onThread {
        try (0..<2).map { _ in
          let history = try StoreHistory(seed: Self.seed)
          return (history.run(), history.trace, history.coverage.jobs)
        }
      }
      #expect(runs[0] == runs[1], "LODESTORE_SEED=\(Self.seed)")
    }
  }
#endif

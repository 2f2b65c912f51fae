#if Datasets
  import Foundation
  import Testing

  /// Histories of real writers, followers, standbys, takeovers and restores on a simulated storage.
  ///
  /// `LODESTORE_SEED` replays a history, `LODESTORE_CASES` is the number of histories, and
  /// `LODESTORE_LOG` prints their events. The script `simulate` in the folder above runs many of
  /// them, optimized.
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
        var coverage: [StoreHistory.Event: Int] = [:]
        for seed in Self.seed..<Self.seed + Self.count {
          let history = try StoreHistory(seed: seed, isLogged: isLogged)
          let outcome = history.run()
          coverage.merge(history.coverage, uniquingKeysWith: +)
          for line in history.log { print(line) }
          guard case .failed(let text) = outcome else { continue }
          failures.append("\(text); LODESTORE_SEED=\(seed) LODESTORE_CASES=1 repeats the history")
        }
        return (failures, coverage)
      }
      for text in failures { Issue.record("\(text)") }
      guard Self.count >= 1000 else { return }
      for event in StoreHistory.Event.allCases {
        #expect(coverage[event, default: 0] > 0, "\(event)")
      }
    }

    /// The seed has a restore that finds a base before the entry of its slot is stored.
    @Test(arguments: [UInt64(20_182)])
    func `A history that has failed once passes`(seed: UInt64) async throws {
      let outcome = try await Self.onThread { try StoreHistory(seed: seed).run() }
      if case .failed(let text) = outcome { Issue.record("seed \(seed): \(text)") }
    }

    @Test func `A history of stores is repeated by its seed`() async throws {
      for seed in Self.seed..<Self.seed + 3 {
        let runs = try await Self.onThread {
          try (0..<2).map { _ in
            let history = try StoreHistory(seed: seed)
            return (history.run(), history.trace, history.coverage)
          }
        }
        #expect(runs[0] == runs[1], "LODESTORE_SEED=\(seed)")
      }
    }
  }
#endif

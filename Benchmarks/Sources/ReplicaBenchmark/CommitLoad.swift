#if Replicas
  import BenchmarkFigures
  import EntityStore
  import Synchronization

  /// Tasks that commit one record at a time.
  final class CommitLoad: Sendable {
    private let store: Store
    /// The commits a second; `nil` for as many as possible.
    private let rate: Int?
    private let next: Atomic<Int>

    init(_ store: Store, first: Int, rate: Int? = nil) {
      self.store = store
      self.rate = rate
      next = Atomic(first)
    }

    /// The number of the next record.
    var nextNumber: Int { next.load(ordering: .relaxed) }

    /// Commits for some seconds; returns the number of commits a second.
    func run(tasks: Int, seconds: Double) async throws -> Double {
      let clock = ContinuousClock()
      let (start, first) = (clock.now, nextNumber)
      let end = start + .seconds(seconds)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<tasks {
          group.addTask { [self] in
            while clock.now < end {
              let number = next.add(1, ordering: .relaxed).oldValue
              if let rate {
                let due = start + .seconds(Double(number - first) / Double(rate))
                if due > clock.now { try await Task.sleep(until: due, clock: clock) }
              }
              try await store.write { _ = try $0.insert(Item(number: number)) }
            }
          }
        }
        try await group.waitForAll()
      }
      return Double(nextNumber - first) / start.duration(to: clock.now).inSeconds
    }

    /// Makes a number of commits.
    func run(tasks: Int, count: Int) async throws {
      let end = nextNumber + count
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<tasks {
          group.addTask { [self] in
            while true {
              let number = next.add(1, ordering: .relaxed).oldValue
              guard number < end else { return }
              try await store.write { _ = try $0.insert(Item(number: number)) }
            }
          }
        }
        try await group.waitForAll()
      }
    }
  }
#endif

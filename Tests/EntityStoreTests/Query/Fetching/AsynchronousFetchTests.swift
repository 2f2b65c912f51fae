import Foundation
import Synchronization
import Testing

@testable import EntityStore

/// Fetching on a thread of the store, with progress and cancellation.
@Suite(.serialized) struct AsynchronousFetchTests {
  private static let count = 300_000
  /// What a cancelled fetch may take; 50 milliseconds are promised of optimized code on a machine
  /// that has nothing else to do.
  private static let bound = Duration.milliseconds(isOptimized ? 250 : 2_000)

  private static var isOptimized: Bool {
    var isOptimized = true
    assert(
      {
        isOptimized = false
        return true
      }())
    return isOptimized
  }

  private func withMotes(_ body: (Store) async throws -> Void) async throws {
    try await withTemporaryStore([Mote.self]) { store in
      try await store.write { transaction in
        _ = try transaction.insert(
          contentsOf: (0..<Self.count).lazy.map { number in
            Mote(number: number &* 7_919 % Self.count, text: "text \(number % 1_000)")
          })
      }
      try await body(store)
    }
  }

  /// How long `operation` takes to end after it is cancelled, which is `delay` after it has read
  /// `start`; nil when it was done by then.
  private func cancelling(
    at start: Int, delay: Duration = .zero,
    _ operation:
      @escaping @Sendable (@escaping @Sendable (FetchProgress) -> Void)
      async throws -> Void
  ) async throws -> Duration? {
    let (signals, signal) = AsyncStream.makeStream(of: Void.self)
    let task = Task {
      defer { signal.finish() }
      try await operation { progress in
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
    switch result {
    case .success: return nil
    case .failure(let error):
      #expect(error is CancellationError, "\(error)")
      return duration
    }
  }

  /// The same soon after the beginning, until a busy machine has cancelled before the end.
  private func cancellingInTime(
    _ operation:
      @escaping @Sendable (@escaping @Sendable (FetchProgress) -> Void)
      async throws -> Void
  ) async throws -> Duration? {
    for _ in 0..<20 {
      if let duration = try await cancelling(at: 1_000, operation) { return duration }
    }
    return nil
  }

  @Test func `A cancelled task ends within milliseconds, wherever it is`() async throws {
    try await withMotes { store in
      let slow = Mote.query.where {
        $0.text.matches("t.*(1|2|3)[0-9]* .*") || $0.text.contains("9")
      }
      let scan = try #require(
        try await cancellingInTime { report in
          _ = try await store.fetch(slow, onProgress: report)
        })
      let sorted = Mote.query.sorted(by: .ascending(\.text), .descending(\.number))
      // At the end of the scan, and so much later that it sorts or decodes.
      // A machine that is quick may be done by the later ones.
      var sort = Duration.zero
      for delay in [0, 8, 16, 30, 45] {
        let duration = try await cancelling(
          at: Self.count * 95 / 100, delay: .milliseconds(delay)
        ) { report in _ = try await store.fetch(sorted, onProgress: report) }
        sort = max(sort, duration ?? .zero)
      }
      let index = try #require(
        try await cancellingInTime { report in
          _ = try await store.fetch(
            Mote.query.where(\.number >= 0).requiringIndex(), onProgress: report)
        })
      print("cancelled: scan \(scan), sort \(sort), index \(index)")
      for duration in [scan, sort, index] { #expect(duration < Self.bound) }
    }
  }

  @Test func `A task that is cancelled before it begins reads nothing`() async throws {
    try await withTemporaryStore([Trial.self]) { store in
      try Trial.make(10, in: store)
      let task = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        _ = try await store.fetch(Trial.query)
      }
      await #expect(throws: CancellationError.self) { try await task.value }
      let count = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return try await store.count(Trial.query.where(\.note == "x"))
      }
      await #expect(throws: CancellationError.self) { try await count.value }
      let results = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        _ = try await store.results(Trial.query)
      }
      await #expect(throws: CancellationError.self) { try await results.value }
    }
  }

  @Test func `Progress only grows, and knows its end where the records are counted`() async throws {
    try await withMotes { store in
      let reports = Mutex<[FetchProgress]>([])
      let found = try await store.fetch(Mote.query.where { $0.text.contains("99") }) { progress in
        reports.withLock { $0.append(progress) }
      }
      let scan = reports.withLock { $0 }
      #expect(!found.isEmpty && !scan.isEmpty)
      #expect(zip(scan, scan.dropFirst()).allSatisfy { $0.completed <= $1.completed })
      #expect(scan.allSatisfy { $0.total == Self.count && $0.completed <= Self.count })
      #expect(scan.allSatisfy { (0...1).contains($0.fraction ?? -1) })
      reports.withLock { $0 = [] }
      let query = Mote.query.where(\.number < 200_000).requiringIndex()
      #expect(
        try await store.fetch(query) { progress in
          reports.withLock { $0.append(progress) }
        }.count == 200_000)
      let index = reports.withLock { $0 }
      #expect(zip(index, index.dropFirst()).allSatisfy { $0.completed <= $1.completed })
      #expect(index.last?.total == 200_000)
    }
  }

  @Test func `Fetches and counts give what a read gives`() async throws {
    try await withTemporaryStore([Trial.self]) { store in
      try Trial.make(200, in: store)
      let query = Trial.query.where(\.kind == "c").sorted(by: .descending(\.share)).limit(7)
      let expected = try await store.read { try $0.fetch(query) }
      #expect(try await store.fetch(query) == expected)
      #expect(try await store.count(query) == 7)
      #expect(try await store.results(query).values() == expected)
    }
  }

  @Test func `Errors of a query are thrown before a record is read`() async throws {
    try await withTemporaryStore([Trial.self]) { store in
      try Trial.make(200, in: store)
      let reports = Mutex(0)
      let query = try Trial.query.where(format: "nonsense == 3")
      await #expect {
        _ = try await store.fetch(query) { _ in reports.withLock { $0 += 1 } }
      } throws: { error in
        (error as? StoreError)?.code == .invalidQuery
      }
      #expect(reports.withLock { $0 } == 0)
      await #expect(throws: StoreError.self) { _ = try await store.count(query) }
      await #expect(throws: StoreError.self) { _ = try await store.results(query) }
    }
  }
}

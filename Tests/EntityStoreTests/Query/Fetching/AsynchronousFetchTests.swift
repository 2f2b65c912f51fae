import Foundation
import Synchronization
import Testing

@testable import EntityStore

/// Fetching on a thread of the store, with progress and cancellation.
@Suite struct AsynchronousFetchTests {
  private static let count = 20_000
  /// A time in microseconds that is longer than the interval of progress reports, so each question
  /// of the run becomes one report.
  private static let reportInterval: UInt32 = 12_000

  private func withMotes(
    _ count: Int = count, _ body: (Store) async throws -> Void
  ) async throws {
    try await withTemporaryStore([Mote.self]) { store in
      try await store.write { transaction in
        _ = try transaction.insert(
          (0..<count).lazy.map { number in
            Mote(number: number &* 7_919 % count, text: "text \(number % 1_000)")
          })
      }
      try await body(store)
    }
  }

  private static let slow = Mote.where {
    anyOf($0.text.matches("t.*(1|2|3)[0-9]* .*"), $0.text.contains("9"))
  }
  private static let all = Mote.all
  private static let sorted = Mote.all.sorted(by: \.text.ascending, \.number.descending)
  private static let indexed = Mote.where { $0.number >= 0 }.requiringIndex()

  @Test(arguments: [
    (slow, 1_000), (all, 0), (all, 10_000), (sorted, 1_000), (sorted, count / 2), (indexed, 0),
    (indexed, 1_000),
  ])
  func `A cancelled fetch that reads, sorts or walks an index throws the cancellation`(
    query: Query<Mote>, start: Int
  ) async throws {
    try await withMotes { (store) async throws in
      let (signals, signal) = AsyncStream.makeStream(of: Void.self)
      let isCancelled = DispatchSemaphore(value: 0)
      let reports = Mutex(0)
      let task = Task {
        defer { signal.finish() }
        _ = try await store.fetch(query) { progress in
          usleep(Self.reportInterval)
          guard progress.completed >= start else { return }
          reports.withLock { $0 += 1 }
          signal.yield()
          // The run waits here for the task to be cancelled.
          isCancelled.wait()
        }
      }
      for await _ in signals { break }
      task.cancel()
      isCancelled.signal()
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(reports.withLock { $0 } == 1)
      #expect(try await store.count(Mote.all) == Self.count)
    }
  }

  @Test func `A task that is cancelled before it begins reads nothing`() async throws {
    try await withTemporaryStore([Trial.self]) { store in
      try Trial.make(10, in: store)
      let task = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        _ = try await store.fetch(Trial.all)
      }
      await #expect(throws: CancellationError.self) { try await task.value }
      let count = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return try await store.count(Trial.where { $0.note == "x" })
      }
      await #expect(throws: CancellationError.self) { try await count.value }
      let results = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        _ = try await store.results(Trial.all)
      }
      await #expect(throws: CancellationError.self) { try await results.value }
    }
  }

  @Test func `Progress only grows, and has a total if the records are counted`() async throws {
    try await withMotes { store in
      let reports = Mutex<[WorkProgress]>([])
      let found = try await store.fetch(Mote.where { $0.text.contains("99") }) { progress in
        usleep(Self.reportInterval)
        reports.withLock { $0.append(progress) }
      }
      let scan = reports.withLock { $0 }
      #expect(!found.isEmpty && !scan.isEmpty)
      #expect(zip(scan, scan.dropFirst()).allSatisfy { $0.completed <= $1.completed })
      #expect(scan.allSatisfy { $0.total == Self.count && $0.completed <= Self.count })
      #expect(scan.allSatisfy { (0...1).contains($0.fraction ?? -1) })
      reports.withLock { $0 = [] }
      let all = try await store.fetch(Mote.all) { progress in
        usleep(Self.reportInterval)
        reports.withLock { $0.append(progress) }
      }
      let whole = reports.withLock { $0 }
      #expect(all.count == Self.count)
      #expect(whole.last.map { $0.completed > Self.count / 2 } == true)
      #expect(zip(whole, whole.dropFirst()).allSatisfy { $0.completed <= $1.completed })
      #expect(whole.allSatisfy { $0.total == Self.count && $0.completed <= Self.count })
      reports.withLock { $0 = [] }
      let query = Mote.where { $0.number < 15_000 }.requiringIndex()
      #expect(
        try await store.fetch(query) { progress in
          usleep(Self.reportInterval)
          reports.withLock { $0.append(progress) }
        }.count == 15_000)
      let index = reports.withLock { $0 }
      #expect(zip(index, index.dropFirst()).allSatisfy { $0.completed <= $1.completed })
      #expect(index.last?.total == 15_000)
    }
  }

  @Test func `Progress ends at its total with the work, sorted, unsorted and with a limit`()
    async throws
  {
    try await withMotes { store in
      let queries = [
        Mote.all, Mote.all.limit(10), Mote.where { $0.number < 0 },
        Mote.where { $0.text.contains("99") }.limit(1), Mote.all.sorted(by: \.text.ascending),
        Mote.all.sorted(by: \.number.descending), Mote.all.sorted(by: \.text.ascending).limit(3),
        Mote.where { $0.number < 15_000 }.requiringIndex(),
      ]
      for (index, query) in queries.enumerated() {
        let reports = Mutex<[WorkProgress]>([])
        _ = try await store.fetch(query) { progress in
          usleep(Self.reportInterval)
          reports.withLock { $0.append(progress) }
        }
        let told = reports.withLock { $0 }
        #expect(told.last.map { $0.completed == $0.total } == true, "\(index): \(told)")
        #expect(zip(told, told.dropFirst()).allSatisfy { $0.completed <= $1.completed }, "\(index)")
        // A run reports its total as completed only at its end.
        #expect(told.dropLast().allSatisfy { $0.completed != $0.total }, "\(index): \(told)")
      }
    }
  }

  @Test func `Asynchronous fetches and counts agree with a read`() async throws {
    try await withTemporaryStore([Trial.self]) { store in
      try Trial.make(200, in: store)
      let query = Trial.where { $0.kind == "c" }.sorted(by: \.share.descending).limit(7)
      let expected = try await store.read { try $0.fetch(query) }
      #expect(try await store.fetch(query) == expected)
      #expect(try await store.count(query) == 7)
      #expect(try await store.results(query).values() == expected)
    }
  }

  @Test func `Asynchronous results and batches contain all of many records`() async throws {
    try await withMotes { store in
      for query in [Self.all, Self.sorted, Self.indexed, Mote.all.sorted(by: \.id.descending)] {
        let expected = try await store.read { try $0.fetch(query) }
        #expect(expected.count == Self.count)
        #expect(try await store.fetch(query) == expected)
        #expect(try await store.results(query).values() == expected)
        var batches: [Mote] = []
        for try await batch in store.batches(of: 700, query) { batches += batch }
        #expect(batches == expected)
      }
    }
  }

  @Test func `Errors of a query are thrown before a record is read`() async throws {
    try await withTemporaryStore([Trial.self]) { store in
      try Trial.make(200, in: store)
      let reports = Mutex(0)
      let query = try Trial.where(format: "nonsense == 3")
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

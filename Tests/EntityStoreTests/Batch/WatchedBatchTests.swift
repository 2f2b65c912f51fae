import Foundation
import Synchronization
import Testing

@testable import EntityStore

/// Updates and deletes of a query's results, which report progress and can be cancelled.
@Suite struct `Watched batches` {
  private static let count = 20_000

  private func withPlayers(
    _ body: (Store) async throws -> Void, isolation: isolated (any Actor)? = #isolation
  ) async throws {
    try await withTemporaryStore([Player.self]) { (store: Store) async throws in
      try await store.insert((0..<Self.count).map { Player(name: "p\($0)", score: $0) })
      try await body(store)
    }
  }

  /// A batch, and the number of records that it should change.
  enum Batch: CaseIterable {
    case updateAll, updateSome, deleteSome, deleteAll

    func run(
      _ tx: inout WriteTransaction, _ onProgress: @escaping (WorkProgress) -> Void
    ) throws -> Int {
      let some = Player.where { $0.score >= 5_000 }
      switch self {
      case .updateAll:
        return try tx.update(Player.all, onProgress: onProgress) { $0.score.add(1) }
      case .updateSome: return try tx.update(some, onProgress: onProgress) { $0.score.add(1) }
      case .deleteSome: return try tx.delete(some, onProgress: onProgress)
      case .deleteAll: return try tx.delete(Player.all, onProgress: onProgress)
      }
    }
  }

  @Test(arguments: [Batch.updateAll, .updateSome, .deleteSome, .deleteAll])
  func `watched batches report their progress, and their end`(_ batch: Batch) async throws {
    try await withPlayers { store in
      let told = Mutex<[WorkProgress]>([])
      let changed = try await store.write { tx in
        told.withLock { $0 = [] }
        return try batch.run(&tx) { progress in told.withLock { $0.append(progress) } }
      }
      let steps = told.withLock { $0 }
      let last = try #require(steps.last)
      #expect(last.completed == last.total && changed <= last.completed)
      #expect(steps.map(\.completed) == steps.map(\.completed).sorted())
      for step in steps.dropLast() {
        #expect(step.total == last.total && step.completed < last.completed)
      }
      #expect(batch == .deleteAll || steps.count > 1)
    }
  }

  @Test(arguments: [Batch.updateAll, .updateSome, .deleteSome])
  func `watched batches end when the task is cancelled, and their write has no effect`(
    _ batch: Batch
  ) async throws {
    for passesOver in [false, true] {
      try await withPlayers { store in
        let before = try await store.fetch(Player.all)
        let task = Mutex<Task<Int, any Error>?>(nil)
        let isKnown = DispatchSemaphore(value: 0)
        let write = Task {
          try await store.write { tx in
            isKnown.wait()
            isKnown.signal()
            try tx.insert(Player(name: "new", score: 1))
            do {
              return try batch.run(&tx) { _ in task.withLock { $0?.cancel() } }
            } catch  where passesOver {
              return 0
            }
          }
        }
        task.withLock { $0 = write }
        isKnown.signal()
        await #expect(throws: CancellationError.self) { try await write.value }
        #expect(try await store.fetch(Player.all) == before)
        // The store is usable after the cancelled batch.
        #expect(try await store.delete(Player.where { $0.score == 7 }) == 1)
      }
    }
  }

  @Test func `watched batches of a synchronous write continue in a cancelled task`() async throws {
    try await withPlayers { store in
      let task = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return try Self.deleteAtOnce(store)
      }
      let count = try await task.value
      #expect(count == Self.count - 5_000)
    }
  }

  private static func deleteAtOnce(_ store: Store) throws -> Int {
    try store.delete(Player.where { $0.score >= 5_000 })
  }

  @Test func `the store's own calls report the progress of batches and counts`() async throws {
    try await withPlayers { store in
      let told = Mutex<[WorkProgress]>([])
      func end() -> WorkProgress? { told.withLock { $0.last } }
      let query = Player.where { $0.name.hasSuffix("7") }
      let count = try await store.count(query) { step in told.withLock { $0.append(step) } }
      #expect(end()?.completed == Self.count && end()?.fraction == 1)
      let updated = try await store.update(
        query, onProgress: { step in told.withLock { $0.append(step) } }
      ) { $0.score = 0 }
      #expect(updated == count && end()?.fraction == 1)
      let deleted = try await store.delete(query) { step in told.withLock { $0.append(step) } }
      #expect(deleted == count && end() == WorkProgress(completed: count, total: count))
    }
  }
}

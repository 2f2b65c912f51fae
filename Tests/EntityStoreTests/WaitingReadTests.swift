import Foundation
import Testing

@testable import EntityStore

/// Asynchronous reads whose closures wait for other asynchronous reads.
@Suite struct WaitingReadTests {
  /// Waits for a read on the calling thread, which is one of the store's.
  private static func countByWaiting(_ store: Store, depth: Int) -> Int {
    let isDone = DispatchSemaphore(value: 0)
    let found = SharedCount()
    Task.detached {
      let count = try? await store.read { snapshot in
        depth > 0 ? Self.countByWaiting(store, depth: depth - 1) : try snapshot.count(Film.all)
      }
      found.set(count ?? -1)
      isDone.signal()
    }
    isDone.wait()
    return found.value
  }

  private final class SharedCount: @unchecked Sendable {
    // The value is written before the semaphore is signalled, and read after.
    private(set) var value = 0
    func set(_ number: Int) { value = number }
  }

  @Test func `waiting reads end, however many there are`() async throws {
    try await withTemporaryStore([Film.self]) { store in
      try await store.write {
        try $0.insert(Film(title: "a", episode: 1, code: nil, released: nil))
      }
      let counts = try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<6 {
          group.addTask {
            try await store.read { _ in Self.countByWaiting(store, depth: 1) }
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(counts == Array(repeating: 1, count: 6))
    }
  }

  /// Closing waits only for asynchronous work.
  @Test func `a store with lazy results is closed at once, with its file`() throws {
    try withTemporaryPath { path in
      let store = try Store(at: path, entities: [Film.self])
      try store.write {
        try $0.insert(Film(title: "a", episode: 1, code: nil, released: nil))
      }
      var results: FetchedResults<Film>? = try store.results(Film.all)
      let start = ContinuousClock.now
      store.close()
      #expect(ContinuousClock.now - start < .seconds(60))
      #expect(try results?[0].value.title == "a")
      results = nil
      let again = try Store(at: path, entities: [Film.self])
      #expect(try again.read { try $0.count(Film.all) } == 1)
      again.close()
    }
  }
}

import EntityStore
import Foundation
import Synchronization
import Testing

@Suite struct `Asynchronous opening` {
  /// Runs `body` with the path of a store of `count` people, made by the first version of the
  /// program.
  private static func withPeople(_ count: Int, _ body: (String) async throws -> Void) async throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: [PersonV1.self])
    try await store.insert((0..<count).map { PersonV1(name: "n\($0)", email: nil, age: $0 % 90) })
    store.close()
    try await body(folder.storePath)
    try expectSound(folder.storePath)
  }

  @Test func `a new index is built with progress that ends at its total`() async throws {
    try await Self.withPeople(20_000) { path in
      let seen = Mutex<[WorkProgress]>([])
      let store = try await Store.open(at: path, entities: [PersonV2.self]) { progress in
        seen.withLock { $0.append(progress) }
      }
      #expect(try await store.count(PersonV2.where { $0.level == 3 }) == 20_000)
      store.close()
      let steps = seen.withLock { $0 }
      #expect(steps.count > 10 && steps.count <= 250)
      #expect(steps.map(\.completed) == steps.map(\.completed).sorted())
      // There are 20,000 records, and each counts twice: once when it is read, once when its entry
      // is written.
      #expect(steps.allSatisfy { $0.total == 40_000 })
      #expect(steps.last?.completed == 40_000)
    }
  }

  @Test func `an opening without changes reports no progress`() async throws {
    try await Self.withPeople(10) { path in
      let store = try await Store.open(at: path, entities: [PersonV1.self]) { _ in
        Issue.record("there is no work")
      }
      store.close()
    }
  }

  @Test func `cancelling an opening leaves the file unchanged`() async throws {
    try await Self.withPeople(50_000) { path in
      let began = Flag()
      let isCancelled = Flag()
      let task = Task {
        try await Store.open(at: path, entities: [PersonV2.self]) { _ in
          began.set()
          while !isCancelled.isSet { usleep(1_000) }
        }
      }
      while !began.isSet { try await Task.sleep(for: .milliseconds(1)) }
      task.cancel()
      isCancelled.set()
      await #expect(throws: CancellationError.self) { try await task.value }
      let store = try Store(at: path, entities: [PersonV1.self], options: .readOnly)
      let count = try await store.count(PersonV1.all)
      #expect(count == 50_000)
      store.close()
    }
  }

  @Test func `a store that cannot be opened reports the cause`() async throws {
    let error = await #expect(throws: StoreError.self) {
      try await Store.open(at: "/nowhere/at/all", entities: [], options: .readOnly)
    }
    #expect(error?.code == .noSuchStore)
  }
}

private final class Flag: Sendable {
  private let value = Atomic(false)

  var isSet: Bool { value.load(ordering: .acquiring) }

  func set() { value.store(true, ordering: .releasing) }
}

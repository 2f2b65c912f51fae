import Foundation
import LodestoreSystem
import Synchronization
import Testing

@testable import EntityStore

/// Commits that observers could miss, or could wait for forever.
@Suite struct `Observers are told of every commit` {
  /// LMDB makes no commit for a write without changes, and gives its number to the next write.
  @Test func `observers hear of a commit after an unobserved write without changes`()
    async throws
  {
    try await withTemporaryStore([Player.self]) { store in
      // The first loop makes the store listen to commits.
      try await firstUpdate(of: store)
      try await store.write { _ in }
      try await store.delete(Player.where { $0.name == "nobody" })
      let updates = Turner(store.updates(of: Player.all))
      #expect(try await within { try await updates.next() }?.items.count == 0)
      try await store.insert(Player(name: "a"))
      #expect(try await within { try await updates.next() }?.items.map(\.name) == ["a"])
      try await store.insert(Player(name: "b"))
      let news = try await within { try await updates.next() }
      #expect(news?.items.count == 2 && news?.difference?.inserted.count == 1)
    }
  }

  @Test func `observers hear of another process's commit with the number of an empty write`()
    async throws
  {
    try await withTemporaryStore([Player.self]) { store in
      let path = store.path
      let updates = Turner(store.updates(of: Player.all.sorted(by: \.name)))
      #expect(try await within { try await updates.next() }?.items.count == 0)
      try await store.write { _ in }
      await #expect(processExitsWith: .success) { [path = path as String] in
        let other = try Store(at: path, entities: [Player.self])
        try await other.insert(Player(name: "theirs"))
        other.close()
      }
      try await store.insert(Player(name: "ours"))
      var names: [String] = []
      while names.count < 2 {
        names = try await within { try await updates.next() }?.items.map(\.name) ?? []
      }
      #expect(names == ["ours", "theirs"])
    }
  }

  /// The other writes of the commit had an observer, and reported their changes.
  @Test func `observers hear of a write that shares its commit and began before them`()
    async throws
  {
    try await withTemporaryStore([Player.self]) { store in
      try await firstUpdate(of: store)
      for round in 0..<8 {
        let gate = DispatchSemaphore(value: 0)
        let (isBegun, isObserved) = (Flag(), Flag())
        async let blocker: Void = store.write { _ in gate.wait() }
        try await Task.sleep(for: .milliseconds(20))
        async let first: Void = store.write { tx in
          try tx.insert(Player(name: "first \(round)"))
          isBegun.set()
          // The group of the write stays open for ten milliseconds, in which the next write joins.
          for _ in 0..<160 where !isObserved.isSet { usleep(50) }
        }
        try await Task.sleep(for: .milliseconds(20))
        async let second = store.insert(Player(name: "second \(round)"))
        try await Task.sleep(for: .milliseconds(20))
        let following = Task.detached {
          while !isBegun.isSet { usleep(20) }
          let updates = Turner(store.updates(of: Player.all))
          let count = try await updates.next()?.items.count
          isObserved.set()
          return (updates, count)
        }
        gate.signal()
        var (updates, count) = try await following.value
        _ = try await (blocker, first, second)
        let stored = try await store.count(Player.all)
        while count != stored {
          let known = updates
          count = try await within(seconds: 60) { try await known.next() }?.items.count
        }
        updates = Turner(store.updates(of: Player.all))
      }
    }
  }

  /// Observation of a record begins when the closure first reads it.
  ///
  /// The record may change while the closure still runs.
  @Test func `observers hear of changes to values that a closure reads for the first time`()
    async throws
  {
    try await withTemporaryStore(Library.entities) { store in
      let isHeld = Mutex(false)
      let hasRead = Mutex(false)
      let counts = Turner(
        store.updates { snapshot in
          guard try snapshot.count(Author.all) > 0 else { return -1 }
          let count = try snapshot.count(Book.all)
          hasRead.withLock { $0 = true }
          while isHeld.withLock({ $0 }) { usleep(1_000) }
          return count
        })
      #expect(try await within { try await counts.next() } == -1)
      isHeld.withLock { $0 = true }
      try await store.insert(Author(name: "a"))
      let waiting = Task { try await within { try await counts.next() } }
      while !hasRead.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
      try await store.insert(Book(title: "b"))
      isHeld.withLock { $0 = false }
      #expect(try await waiting.value == 1)
    }
  }

  /// The hook's closure may hold the last reference to the store.
  ///
  /// The end of the store then removes other closures from the same list.
  @Test func `a hook that holds the store may be the last to go`() async {
    await #expect(processExitsWith: .success) {
      alarm(60)
      let folder = try TemporaryFolder()
      var store: Store? = try Store(at: folder.storePath, entities: [Player.self])
      var hook = try await #require(store).hookThatHoldsIt()
      try await firstUpdate(of: #require(store))
      store = nil
      try await Task.sleep(for: .milliseconds(100))
      hook = nil
      _ = hook
      let again = try Store(at: folder.storePath, entities: [Player.self])
      try await again.insert(Player(name: "a"))
      again.close()
      try expectSound(folder.storePath)
    }
  }
}

/// Waits for the first update of a loop, and then ends the loop.
private func firstUpdate(of store: Store) async throws {
  for try await _ in store.updates(of: Player.all) { return }
}

extension Store {
  fileprivate func hookThatHoldsIt() async -> CommitHook? {
    onCommit { [self] _ in _ = path }
  }
}

private final class Flag: Sendable {
  private let state = Atomic<Bool>(false)
  var isSet: Bool { state.load(ordering: .acquiring) }
  func set() { state.store(true, ordering: .releasing) }
}

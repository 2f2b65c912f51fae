import Foundation
import Testing

@testable import EntityStore

/// Results that follow the store.
@Suite struct `Live results` {
  private typealias Updates = Turner<ResultUpdates<Player>>

  private func names(_ update: ResultUpdate<Player>?) -> [String] {
    update.map { $0.items.map(\.name) } ?? []
  }

  private func first(_ store: Store, _ name: String) throws -> Player.ID {
    try store.read { try $0.ids(Player.where { $0.name == name })[0] }
  }

  @Test func `live results begin with the current records, and report the changes of each commit`()
    async throws
  {
    try await withTemporaryStore([Player.self, Film.self]) { store in
      let ids = try await store.insert(["b", "d", "f"].map { Player(name: $0) }).ids
      let updates = Turner(store.updates(of: Player.all.sorted(by: \.name)))
      let first = try await within { try await updates.next() }
      #expect(names(first) == ["b", "d", "f"] && first?.difference == nil)

      try await store.insert(Player(name: "c"))
      let secondNews = try await within { try await updates.next() }
      let second = try #require(secondNews)
      #expect(names(second) == ["b", "c", "d", "f"])
      #expect(second.difference?.inserted.map(\.index) == [1])
      #expect(second.difference?.moved == [] && second.difference?.deleted == [])
      #expect(second.collectionDifference?.insertions.count == 1)

      try await store.modify(ids[0]) { $0.score = 9 }
      let thirdNews = try await within { try await updates.next() }
      let third = try #require(thirdNews)
      #expect(third.difference?.updated.map(\.to.index) == [0] && third.difference?.moved == [])
      #expect(third.items[0].score == 9)

      try await store.modify(ids[0]) { $0.name = "z" }
      let fourthNews = try await within { try await updates.next() }
      let fourth = try #require(fourthNews)
      #expect(names(fourth) == ["c", "d", "f", "z"])
      #expect(fourth.difference?.moved.map { [$0.from.index, $0.to.index] } == [[0, 3]])
      #expect(fourth.difference?.updated == [] && fourth.difference?.inserted == [])

      try await store.write { tx in
        try tx.delete(ids[1])
        try tx.insert(Player(name: "a"))
        try tx.insert(Film(title: "x", episode: 1))
      }
      let fifthNews = try await within { try await updates.next() }
      let fifth = try #require(fifthNews)
      #expect(names(fifth) == ["a", "c", "f", "z"])
      #expect(fifth.difference?.deleted.map(\.index) == [1])
      #expect(fifth.difference?.inserted.map(\.index) == [0])
      let old = fourth.items.map(\.id)
      let change = try #require(fifth.collectionDifference)
      #expect(old.applying(change) == fifth.items.map(\.id))
    }
  }

  @Test func `live results merge commits that arrive while the loop is busy`() async throws {
    try await withTemporaryStore([Player.self]) { store in
      let updates = Turner(store.updates(of: Player.all.sorted(by: \.name)))
      #expect(try await within { try await updates.next() }?.items.count == 0)
      for number in 0..<200 { try await store.insert(Player(name: "\(1_000 + number)")) }
      try await store.delete(Player.where { $0.name < "1100" })
      var count = 0
      var update: ResultUpdate<Player>?
      while update?.items.count != 100 {
        update = try await within { try await updates.next() }
        count += 1
      }
      #expect(count <= 3)
      #expect(update?.items.first?.name == "1100")
    }
  }

  @Test func `live results report the changes of each write of a shared commit`() async throws {
    try await withTemporaryStore([Player.self, Film.self]) { store in
      let updates = Turner(store.updates(of: Player.all.sorted(by: \.name)))
      #expect(try await within { try await updates.next() }?.items.count == 0)
      // Writes that are requested while this write runs share one commit.
      let areQueued = DispatchSemaphore(value: 0)
      async let first: Void = store.write { tx in
        try tx.insert(Film(title: "first", episode: 1))
        areQueued.wait()
      }
      try await Task.sleep(for: .milliseconds(100))
      async let second = store.insert(Player(name: "a"))
      try await Task.sleep(for: .milliseconds(100))
      async let third = store.insert(Film(title: "third", episode: 2))
      try await Task.sleep(for: .milliseconds(100))
      areQueued.signal()
      _ = try await (first, second, third)
      #expect(names(try await within(seconds: 100) { try await updates.next() }) == ["a"])
    }
  }

  @Test func `live results ignore commits that do not concern them`() async throws {
    try await withTemporaryStore([Player.self, Film.self]) { store in
      try await store.insert([Player(name: "a", score: 1), Player(name: "b", score: 20)])
      let updates = Turner(store.updates(of: Player.where { $0.score > 10 }))
      #expect(names(try await within { try await updates.next() }) == ["b"])
      let waiting = Task { try await updates.next() }
      let a = try first(store, "a")
      try await store.modify(a) { $0.score = 5 }
      try await store.insert(Player(name: "c", score: 2))
      try await store.insert(Film(title: "x", episode: 1))
      try await store.delete(Player.where { $0.name == "c" })
      try await store.insert(Player(name: "d", score: 11))
      let update = try await waiting.value
      #expect(names(update) == ["b", "d"])
      #expect(update?.difference?.inserted.count == 1)
      let commit = try await store.read { $0.commitNumber }
      #expect(update?.commitNumber == commit)
    }
  }

  @Test func `live results end with their task, with the store, and with an error of the query`()
    async throws
  {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: [Player.self])
    let updates = store.updates(of: Player.all)
    let task = Task {
      var count = 0
      for try await _ in updates { count += 1 }
      return count
    }
    try await Task.sleep(for: .milliseconds(50))
    task.cancel()
    #expect(try await task.value <= 1)
    let other = Turner(updates)
    _ = try await within { try await other.next() }
    let waiting = Task { try await other.next() }
    try await Task.sleep(for: .milliseconds(50))
    store.close()
    #expect(try await waiting.value == nil)
    await #expect(throws: StoreError.self) { try await Turner(updates).next() }
    let again = try Store(at: folder.storePath, entities: [Player.self])
    let faulty = Turner(again.updates(of: Player.all.limit(-1)))
    await #expect(throws: StoreError.self) { try await faulty.next() }
    let unsorted = Turner(again.updates(of: Player.all, sectionedBy: \.score))
    try await again.insert(Player(name: "a"))
    await #expect(throws: StoreError.self) { try await unsorted.next() }
    again.close()
    try expectSound(folder.storePath)
  }

  /// If there were two sinks, each would report every commit without the changes of the other.
  @Test func `live results that begin at the same time share one sink`() async throws {
    for _ in 0..<50 {
      try await withTemporaryStore([Player.self]) { store in
        await withTaskGroup(of: Int?.self) { group in
          for _ in 0..<8 {
            let updates = store.updates(of: Player.all)
            group.addTask {
              var iterator = updates.makeAsyncIterator()
              return try? await iterator.next()?.items.count
            }
          }
          for await count in group { #expect(count == 0) }
        }
        #expect(store.core.observers.count == 1)
      }
    }
  }

  @Test func `live results follow another store of the same file, with and without a history`()
    async throws
  {
    for history in [StoreOptions.History.off, .changes] {
      try await withTemporaryStore([Player.self], options: .history(history)) { store in
        let twin = try Store(at: store.path, entities: [Player.self])
        let updates = Turner(store.updates(of: Player.all.sorted(by: \.name)))
        _ = try await within { try await updates.next() }
        try await twin.insert(Player(name: "a"))
        #expect(names(try await within { try await updates.next() }) == ["a"])
        twin.close()
      }
    }
  }

  /// The undo restores the deleted record under its old id, so the list must not show it twice.
  @Test func `live results list a record once that was deleted and restored by an undo`()
    async throws
  {
    try await withTemporaryStore([Player.self], options: .history(.images)) { store in
      let ids = try await store.insert(["a", "b", "c"].map { Player(name: $0) }).ids
      let updates = Turner(store.updates(of: Player.all.sorted(by: \.name)))
      _ = try await within { try await updates.next() }
      let token = try await store.write { tx in
        try tx.delete(ids[1])
        return try tx.ownHistoryToken()
      }
      let deletion = try #require(token)
      _ = try await store.write { tx in try tx.undo(deletion) }
      try await store.insert(Player(name: "d"))
      var list: [String] = []
      while list.count < 4 || list.last != "d" {
        list = names(try await within { try await updates.next() })
        #expect(Set(list).count == list.count, "\(list)")
      }
      #expect(list == ["a", "b", "c", "d"])
    }
  }

  @Test(arguments: [false, true])
  func `live results of a condition with the time agree with a fetch`(isDeleted: Bool) async throws
  {
    try await withTemporaryStore([AllTypes.self]) { store in
      func record(in seconds: Double) -> AllTypes {
        var record = AllTypes()
        record.date = Date().addingTimeInterval(seconds)
        return record
      }
      let id = try await store.insert(record(in: 0.5)).id
      try await store.insert(record(in: 10_000))
      let query = try AllTypes.where(format: "date > now()")
      let updates = Turner(store.updates(of: query))
      _ = try await within { try await updates.next() }
      try await Task.sleep(for: .milliseconds(700))
      if isDeleted {
        try await store.write { tx in _ = try tx.delete(id) }
      } else {
        let later = record(in: 20_000).date
        try await store.modify(id) { $0.date = later }
      }
      // The last record does not expire soon, so it causes an update even if the first one expires
      // before its read.
      let last = try await store.insert(record(in: 30_000)).id
      var list: [AllTypes.ID] = []
      while list.last != last {
        list = try await within { try await updates.next() }?.items.map(\.id) ?? []
      }
      #expect(try await store.fetch(query).map(\.id) == list)
    }
  }
}

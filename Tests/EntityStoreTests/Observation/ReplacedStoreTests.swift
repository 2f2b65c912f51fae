import Foundation
import Synchronization
import Testing

@testable import EntityStore

/// Live results of stores that replace each other, as the generations of a dataset do.
@Suite struct `Live results of stores that replace each other` {
  /// Makes a store with these players, whose ids are their positions in the list.
  private func generation(
    _ folder: borrowing TemporaryFolder, _ number: Int, _ players: [(name: String, score: Int)]
  ) throws -> Store {
    let store = try Store(
      at: folder.path + "/\(number).lodestore", entities: [Player.self, Film.self])
    try store.write { tx in
      try tx.insert(players.map { Player(name: $0.name, score: $0.score) })
    }
    return store
  }

  private func names(_ update: ResultUpdate<Player>?) -> [String] {
    update.map { $0.items.map(\.name) } ?? []
  }

  @Test func `live results continue with the next store, and report its differences`() async throws
  {
    let folder = try TemporaryFolder()
    let (stores, arrivals) = AsyncStream<Store>.makeStream()
    let updates = Turner(stores.updates(of: Player.all.sorted(by: \.name)))
    arrivals.yield(try generation(folder, 1, [("b", 1), ("d", 2), ("f", 3)]))
    let first = try await within { try await updates.next() }
    #expect(names(first) == ["b", "d", "f"] && first?.difference == nil)

    // In the new store record 1 is updated, record 2 is moved, record 3 is unchanged, and record 4
    // is new.
    arrivals.yield(try generation(folder, 2, [("b", 9), ("z", 2), ("f", 3), ("a", 0)]))
    let news = try await within { try await updates.next() }
    let second = try #require(news)
    #expect(names(second) == ["a", "b", "f", "z"])
    #expect(second.difference?.inserted.map(\.index) == [0])
    #expect(second.difference?.updated.map(\.to.index) == [1])
    #expect(second.difference?.moved.map { [$0.from.index, $0.to.index] } == [[1, 3]])
    #expect(second.difference?.deleted == [])
    let change = try #require(second.collectionDifference)
    #expect(first?.items.map(\.id).applying(change) == second.items.map(\.id))

    // Equal results cause no update, so the next difference is relative to the results before.
    arrivals.yield(try generation(folder, 3, [("b", 9), ("z", 2), ("f", 3), ("a", 0)]))
    arrivals.yield(try generation(folder, 4, [("b", 9), ("z", 2)]))
    let third = try await within { try await updates.next() }
    #expect(names(third) == ["b", "z"])
    #expect(third?.difference?.deleted.map(\.index) == [0, 2])
    arrivals.finish()
    #expect(try await within { try await updates.next() } == nil)
  }

  @Test func `live results follow the commits of the current store`() async throws {
    let folder = try TemporaryFolder()
    let (stores, arrivals) = AsyncStream<Store>.makeStream()
    let updates = Turner(stores.updates(of: Player.all.sorted(by: \.name)))
    arrivals.yield(try generation(folder, 1, [("b", 1)]))
    #expect(names(try await within { try await updates.next() }) == ["b"])
    let second = try generation(folder, 2, [("b", 1)])
    arrivals.yield(second)
    // The loop may read the second store before or after this commit, and sees it in both cases.
    try await second.insert(Player(name: "c"))
    let news = try await within { try await updates.next() }
    #expect(names(news) == ["b", "c"])
    #expect(news?.difference?.inserted.map(\.index) == [1])
    try await second.insert(Player(name: "a"))
    let more = try await within { try await updates.next() }
    #expect(names(more) == ["a", "b", "c"])
    #expect(more?.difference?.inserted.map(\.index) == [0])
    arrivals.finish()
  }

  @Test func `live results continue after a store that was closed before its replacement came`()
    async throws
  {
    let folder = try TemporaryFolder()
    let (stores, arrivals) = AsyncStream<Store>.makeStream()
    let updates = Turner(stores.updates(of: Player.all))
    let first = try generation(folder, 1, [("a", 1)])
    arrivals.yield(first)
    #expect(names(try await within { try await updates.next() }) == ["a"])
    let waiting = Task { try await updates.next() }
    first.close()
    arrivals.yield(try generation(folder, 2, [("b", 1)]))
    let news = try await within { try await waiting.value }
    #expect(names(news) == ["b"] && news?.difference?.updated.count == 1)
    arrivals.finish()
  }

  @Test func `live results continue if a store is closed between the report and the read`()
    async throws
  {
    let folder = try TemporaryFolder()
    let (stores, arrivals) = AsyncStream<Store>.makeStream()
    let isClosing = Mutex(false)
    let counts = Turner(
      stores.updates { snapshot in
        if isClosing.withLock({ $0 }) { throw StoreError(.closed, "closed") }
        return try snapshot.count(Player.all)
      })
    let first = try generation(folder, 1, [("a", 1)])
    arrivals.yield(first)
    #expect(try await within { try await counts.next() } == 1)
    isClosing.withLock { $0 = true }
    let waiting = Task { try await counts.next() }
    try await first.insert(Player(name: "b"))
    try await Task.sleep(for: .milliseconds(100))
    isClosing.withLock { $0 = false }
    arrivals.yield(try generation(folder, 2, [("a", 1), ("b", 1), ("c", 1)]))
    // A late read finds the two players of the first store.
    var next = try await within { try await waiting.value }
    if next == 2 { next = try await within { try await counts.next() } }
    #expect(next == 3)
    arrivals.finish()
  }

  @Test func `live results deliver the last undelivered value of a closed store`() async throws {
    let folder = try TemporaryFolder()
    let (stores, arrivals) = AsyncStream<Store>.makeStream()
    let readsOfTwo = Mutex(0)
    let counts = Turner(
      stores.updates { snapshot in
        let count = try snapshot.count(Player.all)
        // The second store is closed between its two first reads.
        if count == 2, try snapshot.count(Player.where { $0.score == 7 }) == 1 {
          let reads = readsOfTwo.withLock { reads in
            reads += 1
            return reads
          }
          if reads == 2 { throw StoreError(.closed, "closed") }
        }
        return count
      })
    arrivals.yield(try generation(folder, 1, [("a", 1)]))
    #expect(try await within { try await counts.next() } == 1)
    let waiting = Task { try await counts.next() }
    arrivals.yield(try generation(folder, 2, [("a", 7), ("b", 1)]))
    for _ in 0..<500 where readsOfTwo.withLock({ $0 }) < 2 {
      try await Task.sleep(for: .milliseconds(10))
    }
    #expect(readsOfTwo.withLock { $0 } == 2)
    arrivals.yield(try generation(folder, 3, [("a", 1), ("b", 1)]))
    #expect(try await within { try await waiting.value } == 2)
    arrivals.finish()
  }

  @Test func `live results release each store once they have read the next one`() async throws {
    let folder = try TemporaryFolder()
    let (stores, arrivals) = AsyncStream<Store>.makeStream()
    let updates = Turner(stores.updates(of: Player.all))
    var first: Store? = try generation(folder, 1, [("a", 1)])
    weak let old = first
    if let first { arrivals.yield(first) }
    first = nil
    #expect(names(try await within { try await updates.next() }) == ["a"])
    #expect(old != nil)
    arrivals.yield(try generation(folder, 2, [("b", 1)]))
    #expect(names(try await within { try await updates.next() }) == ["b"])
    #expect(old == nil)
    arrivals.finish()
  }

  @Test func `live results end with their task, and throw the error of the sequence`() async throws
  {
    struct Lost: Error {}
    let folder = try TemporaryFolder()
    let (failing, end) = AsyncThrowingStream<Store, any Error>.makeStream()
    let updates = Turner(failing.updates(of: Player.all))
    end.yield(try generation(folder, 1, [("a", 1)]))
    #expect(names(try await within { try await updates.next() }) == ["a"])
    end.finish(throwing: Lost())
    await #expect(throws: Lost.self) { try await within { try await updates.next() } }

    let (stores, arrivals) = AsyncStream<Store>.makeStream()
    let waiting = Task {
      for try await _ in stores.updates(of: Player.all) {}
      return true
    }
    waiting.cancel()
    #expect(try await within { try await waiting.value })
    arrivals.finish()
  }

  @Test func `live sections, counts and single records follow replaced stores, too`() async throws {
    let folder = try TemporaryFolder()
    let sections = AsyncStream<Store>.makeStream()
    let counts = AsyncStream<Store>.makeStream()
    let records = AsyncStream<Store>.makeStream()
    let sums = AsyncStream<Store>.makeStream()
    let all = [sections, counts, records, sums]
    let bySection = Turner(
      sections.stream.updates(
        of: Player.all.sorted(by: \.score, \.name), sectionedBy: \.score))
    let byCount = Turner(counts.stream.updates(ofCount: Player.where { $0.score > 1 }))
    let record = Turner(records.stream.updates(of: Player.ID(rawValue: 1)))
    let sum = Turner(sums.stream.updates { try $0.fetch(Player.all).reduce(0) { $0 + $1.score } })

    let first = try generation(folder, 1, [("a", 1), ("b", 2), ("c", 2)])
    for one in all { one.continuation.yield(first) }
    let old = try await within { try await bySection.next() }
    #expect(old?.sections.map(\.key) == [1, 2])
    #expect(try await within { try await byCount.next() } == 2)
    #expect(try await within { try await record.next() }??.name == "a")
    #expect(try await within { try await sum.next() } == 5)

    // The count and record 1 are the same in the new store, so their updates wait for the third
    // store.
    let second = try generation(folder, 2, [("a", 1), ("b", 3), ("c", 2)])
    let third = try generation(folder, 3, [("z", 1), ("b", 3), ("c", 2), ("d", 2)])
    for one in all { one.continuation.yield(second) }
    let new = try await within { try await bySection.next() }
    #expect(new?.sections.map(\.key) == [1, 2, 3])
    #expect(new?.difference?.insertedSections == [2] && new?.difference?.moved.count == 1)
    #expect(try await within { try await sum.next() } == 6)
    for one in all { one.continuation.yield(third) }
    #expect(try await within { try await byCount.next() } == 3)
    #expect(try await within { try await record.next() }??.name == "z")
    for one in all { one.continuation.finish() }
    #expect(try await within { try await record.next() } == nil)
  }

  @Test func `the updates of replaced stores lead a list to the content of the newest store`()
    async throws
  {
    var numbers = SeededNumbers(salt: 0x5a9)
    let folder = try TemporaryFolder()
    let (stores, arrivals) = AsyncStream<Store>.makeStream()
    let query = Player.where { $0.score < 8 }.sorted(by: \.score, \.name)
    let updates = Turner(stores.updates(of: query))
    var list: ListFollower?
    for round in 1...20 {
      let players = (0..<numbers.below(12)).map { (name: "\($0)", score: numbers.below(10)) }
      let store = try generation(folder, round, players)
      // One player differs in each generation, so that each generation causes an update.
      try await store.insert(Player(name: "round \(round)", score: numbers.below(8)))
      arrivals.yield(store)
      let news = try await within { try await updates.next() }
      let update = try #require(news)
      if let difference = update.difference {
        try list?.apply(difference) { update.items[$0].id.rawValue }
      } else {
        list = ListFollower([update.items.map(\.id.rawValue)])
      }
      let expected = try await store.fetch(query)
      #expect(Array(update.items) == expected, "\(SeededNumbers.replay)")
      #expect(list?.sections == [expected.map(\.id.rawValue)], "\(SeededNumbers.replay)")
    }
    arrivals.finish()
  }
}

import Foundation
import Testing

@testable import EntityStore

@Suite struct `An entity with a limit` {
  private func urls<L: PageLimit>(_: L.Type, _ store: Store) throws -> [String] {
    try store.fetch(Page<L>.all).map(\.url)
  }

  @Test func `a limited entity loses the earliest inserted records before the next write`() throws {
    try withPages(TenPages.self) { store in
      typealias Cached = Page<TenPages>
      try store.write { tx in _ = try tx.insert((0..<25).map { Cached("p\($0)") }) }
      // Records above the limit can be read until the next write evicts them.
      #expect(try store.count(Cached.all) == 25)
      try store.write { _ = try $0.insert(Cached("next")) }
      #expect(try urls(TenPages.self, store) == (15..<25).map { "p\($0)" } + ["next"])
      let report = try store.evict()
      #expect(report.evictedCounts == ["Page": 1] && report.heldCount == 0)
      #expect(report.batchCount == 1)
      #expect(try urls(TenPages.self, store) == (16..<25).map { "p\($0)" } + ["next"])
      #expect(try store.evict() == EvictionReport())
    }
  }

  @Test func `a limited entity evicts exactly to the limit, in bounded transactions`() throws {
    try withPages(ManyPages.self) { store in
      typealias Cached = Page<ManyPages>
      let count = 3_200 + StoreCore.evictionBatchCount + 10
      try store.write { tx in _ = try tx.insert((0..<count).map { Cached("p\($0)") }) }
      let before = try store.read { try $0.historyToken() }
      #expect(try store.evict().batchCount == 2)
      #expect(try store.count(Cached.all) == 3_200)
      let writes = try store.history(.after(before))
      #expect(writes.map(\.contextName) == ["limit", "limit"])
      #expect(writes.map(\.changes.count) == [StoreCore.evictionBatchCount, 10])
      // The records were deleted because of the limit, not because they expired.
      #expect(writes.allSatisfy { $0.changes.expiredCount() == 0 })
    }
  }

  @Test func `a limited entity exceeds its limit by a sixteenth at most when a write begins`()
    throws
  {
    try withPages(ManyPages.self) { store in
      typealias Cached = Page<ManyPages>
      try store.write { tx in _ = try tx.insert((0..<3_200).map { Cached("p\($0)") }) }
      let before = try store.read { try $0.historyToken() }
      for number in 0..<402 { try store.write { _ = try $0.insert(Cached("q\(number)")) } }
      // The first 201 records above the limit are evicted together, and the next one in another
      // eviction.
      let evictions = try store.history(.after(before)).filter { $0.contextName == "limit" }
      #expect(evictions.map(\.changes.count) == [201])
      #expect(try store.count(Cached.all) == 3_401)
      try store.write { _ = try $0.insert(Cached("last")) }
      #expect(try store.count(Cached.all) == 3_201)
    }
  }

  @Test func `a limit by an attribute evicts null first, then the least values, equal ones by id`()
    throws
  {
    try withPages(TenOldPages.self) { store in
      typealias Cached = Page<TenOldPages>
      try store.write { tx in
        // The dates fall while the ids rise, and some dates are equal.
        _ = try tx.insert((0..<12).map { Cached("p\($0)", at: Double(100 - $0 / 2)) })
        _ = try tx.insert(Cached("never"))
        _ = try tx.insert(Cached("early", at: -1e300))
      }
      #expect(try store.evict().evictedCount == 4)
      #expect(try urls(TenOldPages.self, store) == (0..<10).map { "p\($0)" })
      // An update of the date makes a record younger.
      try store.update(Cached.where { $0.url == "p8" }) {
        $0.fetchedAt = Date(timeIntervalSinceReferenceDate: 500)
      }
      try store.write { tx in
        _ = try tx.insert([Cached("new", at: 501), Cached("none"), Cached("newer", at: 502)])
      }
      _ = try store.evict()
      #expect(
        try urls(TenOldPages.self, store)
          == ["p0", "p1", "p2", "p3", "p4", "p5", "p7", "p8", "new", "newer"])
    }
  }

  @Test func `a limit by bytes evicts the oldest records until the sum of their lengths fits`()
    throws
  {
    try withPages(KilobytePages.self) { store in
      typealias Cached = Page<KilobytePages>
      let body = String(repeating: "x", count: 100)
      try store.write { tx in _ = try tx.insert((10..<15).map { Cached("p\($0)", body) }) }
      let length = try #require(try store.storedLengths(of: Cached.self).values.first)
      #expect(try store.storedSize(of: Cached.self) == 5 * length)
      try store.write { tx in _ = try tx.insert((15..<30).map { Cached("p\($0)", body) }) }
      _ = try store.evict()
      #expect(try store.count(Cached.all) == 1_000 / length)
      #expect(try store.storedSize(of: Cached.self) == 1_000 / length * length)
      // An update makes one record so long that the limit is exceeded. The other records are older,
      // so they are evicted.
      let last = try #require(try store.fetch(Cached.all).last)
      try store.write { tx in
        var last = last
        last.body = String(repeating: "y", count: 900)
        _ = try tx.update(last)
      }
      _ = try store.evict()
      #expect(try urls(KilobytePages.self, store) == [last.url])
      // A single record that is longer than the limit is the oldest record itself.
      try store.write { tx in
        try tx.update(Cached.all) { $0.body = String(repeating: "z", count: 1_001) }
      }
      #expect(try store.storedSize(of: Cached.self) > 1_000)
      #expect(try store.evict().evictedCount == 1)
      #expect(try store.storedSize(of: Cached.self) == 0)
    }
  }

  @Test func `a limited entity has the size of its records after each way to write them`() throws {
    try withPages(KilobytePages.self) { store in
      typealias Cached = Page<KilobytePages>
      func expectSize(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let lengths = try store.storedLengths(of: Cached.self)
        #expect(
          try store.storedSize(of: Cached.self) == lengths.values.reduce(0, +),
          sourceLocation: sourceLocation)
      }
      try expectSize()
      let one = try store.insert(Cached("one", "1"))
      try expectSize()
      try store.write { tx in _ = try tx.insert((0..<6).map { Cached("p\($0)", "body \($0)") }) }
      try expectSize()
      try store.write { tx in
        let changed = (3..<9).map { Cached("p\($0)", String(repeating: "b", count: $0)) }
        _ = try tx.insert(changed, onConflict: .replace)
      }
      try expectSize()
      try store.update(Cached.where { $0.url == "one" }) { $0.fetchedAt = Date() }
      try store.update(Cached.where { $0.url < "p3" }) { $0.body = "longer than before" }
      try expectSize()
      try store.delete(Cached.where { $0.url == "p1" })
      try store.delete(one.id)
      try expectSize()
      #expect(throws: StoreError.self) {
        try store.write { tx in
          _ = try tx.insert(Cached("aborted", String(repeating: "a", count: 500)))
          throw StoreError.undeclared("X")
        }
      }
      try expectSize()
      try store.write { tx in
        _ = try tx.delete(Cached.all)
        _ = try tx.insert(Cached("after", "all"))
      }
      try expectSize()
      let last = try #require(try store.history().last)
      try store.write { _ = try $0.undo(last.token) }
      try expectSize()
      #expect(try store.count(Cached.all) == 8)
    }
  }

  @Test func `the greatest limit means no limit of the number of records`() throws {
    try withPages(MostPages.self) { store in
      typealias Cached = Page<MostPages>
      try store.write { tx in
        _ = try tx.insert((10..<40).map { Cached("p\($0)", String(repeating: "x", count: 100)) })
      }
      try store.write { _ = try $0.insert(Cached("next")) }
      _ = try store.evict()
      #expect(try store.storedSize(of: Cached.self) <= 1_000)
      #expect(try store.count(Cached.all) > 1)
    }
  }

  @Test func `an undo takes back an eviction, whose records are then the oldest again`() throws {
    try withPages(TenPages.self) { store in
      typealias Cached = Page<TenPages>
      try store.write { tx in _ = try tx.insert((0..<12).map { Cached("p\($0)") }) }
      _ = try store.evict()
      let eviction = try #require(try store.history().last)
      #expect(eviction.contextName == "limit")
      try store.write { tx in _ = try tx.undo(eviction.token) }
      #expect(try urls(TenPages.self, store) == (0..<12).map { "p\($0)" })
      try store.write { _ = try $0.insert(Cached("next")) }
      #expect(try urls(TenPages.self, store) == (2..<12).map { "p\($0)" } + ["next"])
    }
  }

  @Test func `a limited entity is evicted at once if far above the limit, and soon otherwise`()
    async throws
  {
    typealias Cached = Page<ManyPages>
    var options = StoreOptions()
    options.evictionInterval = .seconds(100_000)
    try await withTemporaryStore([Cached.self], options: options) { store in
      try await store.write { tx in _ = try tx.insert((0..<9_000).map { Cached("p\($0)") }) }
      try await eventually { try store.storedCount(of: Cached.self) == 3_200 }
    }
    options.evictionInterval = .milliseconds(20)
    try await withTemporaryStore([Cached.self], options: options) { store in
      try await store.write { tx in _ = try tx.insert((0..<3_201).map { Cached("p\($0)") }) }
      try await eventually { try store.storedCount(of: Cached.self) == 3_200 }
    }
  }

  @Test func `live results drop evicted records of a limited entity`() async throws {
    typealias Cached = Page<TenPages>
    try await withTemporaryStore([Cached.self], options: .withoutKeeper) { store in
      try await store.write { tx in _ = try tx.insert((0..<12).map { Cached("p\($0)") }) }
      var counts: [Int] = []
      for try await count in store.updates(ofCount: Cached.all) {
        counts.append(count)
        if counts.count == 2 { break }
        _ = try await store.evict() as EvictionReport
      }
      #expect(counts == [12, 10])
    }
  }

  @Test func `writes that wait share a commit while a limited entity is full`() async throws {
    typealias Cached = Page<ManyPages>
    try await withTemporaryStore([Cached.self], options: .withoutKeeper) { store in
      try await store.write { tx in _ = try tx.insert((0..<3_200).map { Cached("p\($0)") }) }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<150 {
          group.addTask { _ = try await store.insert(Cached("q\(number)")) }
        }
        try await group.waitForAll()
      }
      #expect(try store.storedCount(of: Cached.self) == 3_350)
      let report: EvictionReport = try await store.evict()
      #expect(report.evictedCount == 150)
    }
  }
}

import Testing

@testable import EntityStore

@Suite struct RequiredIndexTests {
  @Test func `A scan becomes an error that names the condition and the existing indexes`() throws {
    try withTemporaryStore([Trial.self]) { store in
      try Trial.make(50, in: store)
      try store.read { snapshot throws in
        let error = try storeError(.invalidQuery) {
          try snapshot.fetch(Trial.where { $0.note == "note 1" }.requiringIndex())
        }
        #expect(error.entity == "Trial" && error.message.contains("note == \"note 1\""))
        for name in [
          "Trial.number", "Trial.share", "Trial.kind+share", "Trial.name", "Trial.rating",
        ] {
          #expect(error.message.contains(name), "\(error.message)")
        }
        // Every call that runs the query reports the missing index before it reads anything.
        let query = Trial.where { $0.note == "note 1" }.requiringIndex()
        _ = try storeError(.invalidQuery) { try snapshot.count(query) }
        _ = try storeError(.invalidQuery) { try snapshot.explain(query) }
        _ = try storeError(.invalidQuery) { try snapshot.values(query, \.note) }
        _ = try storeError(.invalidQuery) { try snapshot.page(query.limit(1)) }
      }
    }
  }

  @Test func `A condition that an index serves uses the index at any cost`() throws {
    try withTemporaryStore([Trial.self]) { store in
      try Trial.make(50, in: store)
      try store.read { snapshot throws in
        let query = Trial.where { $0.share >= 0 }.requiringIndex()
        #expect(try snapshot.explain(query).index == "Trial.share")
        #expect(try snapshot.count(query) == 50)
        #expect(try snapshot.explain(Trial.where { $0.share >= 0 }).isScan)
        let union = try Trial.where(format: "share == 1 OR number == 7").requiringIndex()
        #expect(try snapshot.explain(union).index == "Trial.number, Trial.share")
        #expect(try snapshot.ids(union).map(\.rawValue) == [2, 8])
      }
    }
  }

  @Test func `A walk for an order alone serves it only if no condition must be checked`() throws {
    try withTemporaryStore([Trial.self]) { store in
      try Trial.make(200, in: store)
      try store.read { snapshot throws in
        // The wanted record may be the last one of the index, so the query might read the whole
        // index.
        let unbounded = Trial.where { $0.note == "note 1" }.sorted(by: \.share.ascending).limit(
          1)
        #expect(try snapshot.explain(unbounded).index == "Trial.share")
        _ = try storeError(.invalidQuery) { try snapshot.fetch(unbounded.requiringIndex()) }
        let first = Trial.all.sorted(by: \.share.descending).limit(3).requiringIndex()
        let explanation = try snapshot.explain(first, analyzing: true)
        #expect(explanation.index == "Trial.share")
        #expect(explanation.recordsRead ?? .max < 20 && explanation.resultCount == 3)
        // The condition bounds the index, so the query reads at most that range.
        let bounded = unbounded.where { $0.share < 10 }.requiringIndex()
        #expect(try snapshot.explain(bounded).index == "Trial.share")
        #expect(try snapshot.fetch(bounded).map(\.number) == [100])
        // A limit does not make a scan count as a use of an index.
        _ = try storeError(.invalidQuery) {
          try snapshot.fetch(Trial.all.limit(1).requiringIndex())
        }
      }
    }
  }

  @Test func `A query without records reads nothing, and is no error`() throws {
    try withTemporaryStore([Trial.self]) { store in
      try store.read { snapshot throws in
        #expect(try snapshot.fetch(Trial.where { $0.note == "x" }.requiringIndex()) == [])
      }
    }
  }
}

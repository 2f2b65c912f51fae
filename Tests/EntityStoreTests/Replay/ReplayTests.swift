import Foundation
import LodestoreFormat
import Testing

@testable import EntityStore

/// Changes that are read from one store and made in a copy.
@Suite struct `Replaying changes` {
  private static let entities: [any Entity.Type] = [
    Guild.self, Artisan.self, Work.self, Player.self,
  ]

  /// A store, and a copy that has its cursor.
  struct Pair {
    let store: Store
    let copy: Store
    let facts: ReplayFacts

    /// The changes that the copy does not have.
    func unit(_ change: (inout ReplayRequest) -> Void = { _ in }) throws -> ReplayUnit {
      let cursor = try #require(try copy.read { try $0.replicaCursor() })
      var request = ReplayRequest(after: cursor.lastWrite)
      (request.storeID, request.schema) = (cursor.storeID, facts.schema)
      request.entities = cursor.entities.map(Set.init)
      change(&request)
      return try store.read { try $0.replayUnit(request) }
    }

    @discardableResult
    func replay(_ units: [ReplayUnit]) throws -> ReplayCounts {
      try copy.replaying(author: "replica", context: "slots") { try $0.replay(units) }
    }

    func guilds() throws -> (GuildState, GuildState) {
      (try copy.read { try GuildState($0) }, try store.read { try GuildState($0) })
    }
  }

  /// - Parameter fill: changes before the copy is made.
  func withPair(
    _ history: StoreOptions.History = .images, only names: [String]? = nil,
    _ fill: (Store) throws -> Void = { _ in }, _ body: (Pair) throws -> Void
  ) throws {
    let folder = try TemporaryFolder()
    let options = StoreOptions.history(history)
    let store = try Store(at: folder.storePath, entities: Self.entities, options: options)
    try fill(store)
    let facts = try store.read { try $0.replayFacts() }
    let path = folder.path + "/copy.lodestore"
    try store.backup(to: path)
    let copy = try Store(at: path, entities: Self.entities, options: options)
    try copy.replaying(author: nil, context: nil) {
      try $0.setReplicaCursor(
        ReplicaCursor(
          storeID: facts.storeID, lastWrite: facts.lastWrite, entities: names, mark: [7]))
    }
    try body(Pair(store: store, copy: copy, facts: facts))
    store.close()
    copy.close()
    try expectSound(folder.storePath)
    try expectSound(path)
  }

  func replayError(_ body: () throws -> Void) throws -> ReplayError {
    try #require(#expect(throws: ReplayError.self) { try body() })
  }

  // MARK: Changes

  @Test func `each write is a step with its author, and the copy takes them in one write`() throws {
    try withPair { pair in
      let first = try pair.store.write(author: "ann", contextName: "import") {
        try $0.insert(Player(name: "a")).id
      }
      try pair.store.write(author: "bob") { tx in try tx.modify(first) { $0.score = 4 } }
      try pair.store.write { _ = try $0.insert(Player(name: "c")) }
      let unit = try pair.unit()
      #expect(unit.steps.map(\.writes) == [1...1, 2...2, 3...3])
      #expect(unit.steps.map(\.author) == ["ann", "bob", nil])
      #expect(unit.steps.map(\.context) == ["import", nil, nil])
      #expect(unit.writes == 1..<4 && !unit.isEmpty)
      #expect(try pair.replay([unit]).records == 2)
      let stored = try pair.copy.fetch(Player.all.sorted(by: \.name))
      #expect(try stored == pair.store.fetch(Player.all.sorted(by: \.name)))
      let told = try pair.copy.history()
      #expect(told.count == 1 && told[0].author == "replica" && told[0].contextName == "slots")
      let cursor = try #require(try pair.copy.read { try $0.replicaCursor() })
      #expect(cursor.lastWrite == 3 && cursor.mark == [7])
      #expect(try pair.unit().isEmpty)
    }
  }

  @Test func `a record has in each step the value after that write`() throws {
    try withPair { pair in
      let id = try pair.store.insert(Player(name: "a", score: 1)).id
      for score in 2...4 { try pair.store.modify(id) { $0.score = score } }
      try pair.store.delete(id)
      let unit = try pair.unit()
      for write in 1...5 as ClosedRange<UInt64> {
        let part = unit.through(write)
        #expect(part.end.last == write)
        #expect(ReplayNet([part]).puts.values.allSatisfy(\.isEmpty) == (write == 5))
      }
      try pair.replay([unit.through(3)])
      #expect(try pair.copy.fetch(id)?.score == 3)
      try pair.replay([try pair.unit()])
      #expect(try pair.copy.fetch(id) == nil)
      // The id of the deleted record is not assigned again.
      let next = try pair.copy.insert(Player(name: "b")).id
      #expect(next.rawValue == id.rawValue + 1)
      try pair.copy.delete(next)
    }
  }

  @Test func `exchanged unique keys, ordered links and derived attributes follow`() throws {
    try withPair { store in
      try store.write { tx in
        let guild = try tx.insert(Guild("g")).id
        let names = ["a", "b", "c"]
        let artisans = try names.map { try tx.insert(Artisan($0, guild: guild)).id }
        _ = try tx.insert(Work("w", price: 5, maker: artisans[0]))
      }
    } _: { pair in
      let artisans = try pair.store.fetch(Artisan.all.sorted(by: \.name))
      let guild = try #require(artisans[0].guild)
      try pair.store.write { tx in
        try tx.move(artisans[2].id, in: Guild.members, of: guild, to: .first)
        try tx.modify(artisans[0].id) { $0.name = "x" }
        try tx.modify(artisans[1].id) { $0.name = "a" }
        try tx.modify(artisans[0].id) { $0.name = "b" }
      }
      try pair.store.write { tx in
        try tx.add(artisans.map(\.id), to: Guild.board, of: guild)
        try tx.move(artisans[1].id, in: Guild.board, of: guild, to: .first)
        _ = try tx.insert(Work("v", price: 7, maker: artisans[1].id))
      }
      let unit = try pair.unit()
      #expect(unit.end.places.count == 2)
      try pair.replay([unit])
      let (copy, store) = try pair.guilds()
      #expect(copy == store)
      #expect(try pair.copy.fetch(guild)?.priceTotal == 12)
    }
  }

  @Test func `an undo in the copy takes a replayed write back`() throws {
    try withPair { pair in
      let id = try pair.store.insert(Player(name: "a")).id
      try pair.replay([try pair.unit()])
      let before = try pair.copy.read { try $0.replayFacts().digests.contents }
      try pair.store.modify(id) { $0.score = 9 }
      try pair.replay([try pair.unit()])
      try pair.copy.undo(pair.copy.historyToken())
      #expect(try pair.copy.read { try $0.replayFacts().digests.contents } == before)
    }
  }

  @Test func `a long write is several steps, and a unit of them is replayed at once`() throws {
    try withPair { pair in
      try pair.store.insert((0..<100).map { Player(name: "p\($0)") })
      let unit = try pair.unit { $0.byteLimit = 100 }
      #expect(unit.steps.count > 5 && unit.steps.allSatisfy { $0.writes == 1...1 })
      #expect(unit.steps.map(\.continues) == unit.steps.indices.map { $0 < unit.steps.count - 1 })
      #expect(try pair.replay([unit]).records == 100)
    }
  }

  // MARK: Without images

  @Test func `writes without images are one step, from which cancelled changes are left out`()
    throws
  {
    try withPair(.changes) { store in
      try store.insert([Player(name: "a"), Player(name: "b")])
    } _: { pair in
      let ids = try pair.store.fetch(Player.all.sorted(by: \.name)).map(\.id)
      try pair.store.insert(Player(name: "inserted only"))
      #expect(try pair.unit().steps.count == 1)
      let passing = try pair.store.insert(Player(name: "passing")).id
      try pair.store.modify(ids[0]) { $0.score = 1 }
      try pair.store.delete(passing)
      try pair.store.delete(ids[1])
      let unit = try pair.unit()
      #expect(unit.steps.map(\.writes) == [2...6])
      #expect(unit.steps[0].deleted.flatMap { Array($0.ids) } == [ids[1].rawValue])
      // A part cannot end within the step.
      #expect(unit.through(4).end.last == 1 && unit.through(4).steps.isEmpty)
      try pair.replay([unit])
      let next = try pair.copy.insert(Player(name: "next")).id
      #expect(next.rawValue == passing.rawValue + 1)
      try pair.copy.delete(next)
    }
  }

  @Test func `new records need no images`() throws {
    try withPair(.changes) { pair in
      for name in ["a", "b", "c"] { try pair.store.insert(Player(name: name)) }
      #expect(try pair.unit().steps.map(\.writes) == [1...1, 2...2, 3...3])
    }
  }

  // MARK: Buckets

  @Test func `changed buckets are replaced as a whole, without a write in the history`() throws {
    try withPair { store in
      try store.write { tx in
        try tx.put(Data([1]), for: "a", in: "kept")
        try tx.put(Data([1]), for: "a", in: "changed")
        try tx.put(Data([2]), for: "b", in: "changed")
        try tx.put(Data([1]), for: "a", in: "gone")
      }
    } _: { pair in
      try pair.store.write { tx in
        try tx.put(Data([3]), for: "a", in: "changed")
        try tx.delete(key: "b", in: "changed")
        try tx.delete(key: "a", in: "gone")
        try tx.put(Data([4]), for: "a", in: "new")
      }
      let unit = try pair.unit { $0.digests = pair.facts.digests }
      #expect(unit.steps.isEmpty && unit.writes.isEmpty)
      #expect(unit.end.buckets.map(\.name) == ["changed", "gone", "new"])
      try pair.replay([unit])
      for copy in [pair.store, pair.copy] {
        #expect(try copy.read { try $0.bucketNames() } == ["changed", "kept", "new"])
        #expect(try copy.read { try $0.data(for: "a", in: "changed") } == Data([3]))
        #expect(try copy.read { try $0.data(for: "b", in: "changed") } == nil)
      }
      #expect(try pair.unit { $0.digests = unit.end.digests }.isEmpty)
      let error = try replayError {
        _ = try pair.unit { request in request.bucketLimit = 1 }
      }
      guard case .bucketTooLarge("changed", byteCount: 2, limit: 1) = error else {
        Issue.record("\(error)")
        return
      }
    }
  }

  @Test func `programs cannot write buckets of the library, and do not see them`() throws {
    try withPair { pair in
      let refused = try storeError(.unstorableValue) {
        try pair.copy.write { try $0.put(Data(), for: "cursor", in: "lodestore.replica") }
      }
      #expect(refused.message.contains("reserved"))
      _ = try storeError(.unstorableValue) {
        try pair.copy.write { _ = try $0.delete(key: "cursor", in: "lodestore.replica") }
      }
      #expect(try pair.copy.read { try $0.bucketNames() }.isEmpty)
      #expect(try pair.copy.read { try $0.replicaCursor() } != nil)
    }
  }

  // MARK: Restarts

  @Test func `an entity whose history was restarted is replaced as a whole`() throws {
    let folder = try TemporaryFolder()
    func open(_ path: String, _ history: StoreOptions.History) throws -> Store {
      try Store(at: path, entities: Self.entities, options: .history(history))
    }
    var store = try open(folder.storePath, .images)
    let guild = try store.insert(Guild("g")).id
    let artisans = try store.insert((0..<4).map { Artisan("a\($0)", guild: guild) }).ids
    try store.write { try $0.add(artisans, to: Guild.board, of: guild) }
    let facts = try store.read { try $0.replayFacts() }
    let path = folder.path + "/copy.lodestore"
    try store.backup(to: path)
    store.close()
    // The history does not report these changes.
    store = try open(folder.storePath, .off)
    try store.delete(artisans[1])
    try store.write { tx in
      try tx.modify(artisans[0]) { $0.name = "other" }
      try tx.move(artisans[3], in: Guild.board, of: guild, to: .first)
      try tx.move(artisans[2], in: Guild.members, of: guild, to: .first)
    }
    store.close()
    store = try open(folder.storePath, .images)
    try store.insert(Artisan("new", guild: guild))
    let unit = try store.read {
      var request = ReplayRequest(after: facts.lastWrite)
      request.schema = facts.schema
      return try $0.replayUnit(request)
    }
    #expect(unit.steps.count == 1 && !unit.steps[0].replacedEntities.isEmpty)
    let copy = try open(path, .images)
    try copy.replaying(author: nil, context: nil) {
      try $0.setReplicaCursor(ReplicaCursor(storeID: facts.storeID, lastWrite: facts.lastWrite))
      try $0.replay([unit])
    }
    #expect(try copy.read { try GuildState($0) } == store.read { try GuildState($0) })
    store.close()
    copy.close()
    try expectSound(path)
  }

  // MARK: Entities

  @Test func `a copy of some entities leaves the others out`() throws {
    try withPair(only: ["Player"]) { pair in
      try pair.store.write { tx in
        _ = try tx.insert(Player(name: "a"))
        _ = try tx.insert(Guild("g"))
      }
      try pair.store.insert(Guild("h"))
      let unit = try pair.unit()
      #expect(unit.steps.count == 1 && unit.steps[0].records.count == 1 && unit.end.last == 2)
      try pair.replay([unit])
      #expect(try pair.copy.fetch(Player.all).count == 1)
      // A copy of some entities also follows a unit with all of them.
      try pair.store.insert(Player(name: "b"))
      try pair.replay([try pair.unit { $0.entities = nil }])
      #expect(try pair.copy.fetch(Player.all).count == 2)
      #expect(try pair.copy.fetch(Guild.all).isEmpty)
    }
  }

  @Test func `entities cannot be separated from related ones, and need a history`() throws {
    try withPair { pair in
      let related = try replayError {
        try pair.store.read { try $0.checkReplayable(entities: ["Work", "Player"]) }
      }
      #expect(related == .leftOutRelationships(["Work.maker"]))
      let unknown = try replayError {
        try pair.store.read { try $0.checkReplayable(entities: ["Nobody"]) }
      }
      #expect(unknown == .unknownEntity("Nobody"))
      try pair.store.read { try $0.checkReplayable() }
    }
    try withTemporaryStore([Player.self]) { store in
      let error = try replayError { try store.read { try $0.checkReplayable() } }
      #expect(error == .unrecorded(["Player"]) && error.message.contains("Player"))
    }
  }

  // MARK: Expiry

  @Test func `a copy with a clock ahead keeps the records that its store has not evicted`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/copy.lodestore"
    let (clock, clockAhead) = (TestClock(1_000), TestClock(9_000))
    let entities: [any Entity.Type] = [Offer.self, Shop.self]
    let store = try Store(at: folder.storePath, entities: entities, options: clock.options)
    let facts = try store.read { try $0.replayFacts() }
    try store.backup(to: path)
    let copy = try Store(at: path, entities: entities, options: clockAhead.options)
    var after = facts.lastWrite
    func follow() throws {
      let unit = try store.read { try $0.replayUnit(ReplayRequest(after: after)) }
      after = unit.end.last
      try copy.replaying(author: nil, context: nil) { _ = try $0.replay([unit]) }
      let digests = try store.read { try $0.replayFacts().digests }
      #expect(try copy.read { try $0.replayFacts().digests } == digests)
    }
    try copy.replaying(author: nil, context: nil) {
      try $0.setReplicaCursor(ReplicaCursor(storeID: facts.storeID, lastWrite: facts.lastWrite))
    }
    try store.insert([Offer("a", until: 2_000), Offer("b", until: 5_000)])
    try follow()
    try store.insert(Offer("c", until: 5_000))
    try follow()
    // The eviction by the store is among the changes.
    clock.now = 3_000
    try store.insert(Offer("d", until: 5_000))
    try follow()
    store.close()
    copy.close()
    try expectSound(path)
  }

  // MARK: Refusals

  @Test func `purged history, another store, another schema and a gap are refused`() throws {
    try withPair { pair in
      let id = try pair.store.insert(Player(name: "a")).id
      let first = try pair.unit()
      try pair.store.modify(id) { $0.score = 1 }
      let both = try pair.unit()
      #expect(try replayError { try pair.replay([both, first]) } == .gap(expected: 2, found: 0))
      try pair.replay([first])
      #expect(try replayError { try pair.replay([first]) } == .gap(expected: 1, found: 0))
      var other = try pair.unit()
      other.end.schema[0] ^= 1
      #expect(try replayError { try pair.replay([other]) } == .otherSchema)
      other = try pair.unit()
      other.end.storeID[0] ^= 1
      guard case .otherStore = try replayError({ try pair.replay([other]) }) else {
        Issue.record("another store was not refused")
        return
      }
      guard case .otherStore = try replayError({ _ = try pair.unit { $0.storeID = [] } }) else {
        Issue.record("another store was not refused")
        return
      }
      #expect(
        try replayError { _ = try pair.unit { $0.after = 9 } } == .behind(asked: 9, last: 2))
      #expect(try replayError { _ = try pair.unit { $0.schema = [1] } } == .otherSchema)
      try pair.store.purgeHistory(through: pair.store.historyToken())
      #expect(try replayError { _ = try pair.unit() } == .expired(after: 1, firstKept: 3))
    }
  }

  @Test func `a copy that would differ from its store refuses the changes and stays as it is`()
    throws
  {
    try withPair { pair in
      try pair.copy.insert([Player(name: "own"), Player(name: "too")])
      let id = try pair.store.insert(Player(name: "a")).id
      let before = try pair.copy.read { try $0.replayFacts() }
      #expect(try replayError { try pair.replay([try pair.unit()]) } == .diverged(["Player"]))
      #expect(try pair.copy.read { try $0.replayFacts() } == before)
      #expect(try pair.copy.fetch(Player.all).map(\.name) == ["own", "too"])
      try pair.copy.delete(Player.all)
      try pair.replay([try pair.unit()])
      #expect(try pair.copy.fetch(id)?.name == "a")
    }
  }

  @Test func `a store without a cursor is no copy`() throws {
    try withPair { pair in
      let unit = try pair.unit()
      try pair.copy.replaying(author: nil, context: nil) { try $0.setReplicaCursor(nil) }
      #expect(try replayError { try pair.replay([unit]) } == .noCursor)
    }
  }

  @Test func `a record with a wrong checksum is refused`() throws {
    try withPair { pair in
      try pair.store.insert(Player(name: "a"))
      var unit = try pair.unit()
      var records = ReplayStep.Records(of: unit.steps[0].records[0].entity)
      var bytes = unit.steps[0].records[0].bytes
      bytes[bytes.count - 5] ^= 1
      records.append(1, bytes)
      unit.steps[0].records = [records]
      _ = try storeError(.damaged) { try pair.replay([unit]) }
    }
  }
}

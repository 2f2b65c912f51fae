import Foundation
import LodestoreFormat
import Testing

@testable import EntityStore

/// The differences between two stores, or between two commits of one.
@Suite struct `Differences between stores` {
  /// Runs `body` with two stores that `fill` has filled with the same records; both are verified
  /// afterwards.
  private func withTwins(
    _ entities: [any Entity.Type], _ fill: (inout WriteTransaction) throws -> Void,
    _ body: (_ older: Store, _ newer: Store) throws -> Void
  ) throws {
    try withTemporaryStore(entities) { older in
      try withTemporaryStore(entities) { newer in
        for store in [older, newer] { try store.write { try fill(&$0) } }
        try body(older, newer)
      }
    }
  }

  private func fillFilms(_ tx: inout WriteTransaction) throws {
    try tx.insert((1...9).map { Film(title: "Film \($0)", episode: $0, code: "c\($0)") })
  }

  private func all(_ differences: StoreDifferences) throws -> [StoreDifference] {
    var found: [StoreDifference] = []
    try differences.forEach {
      found.append($0)
      return true
    }
    return found
  }

  private func all<E: Entity>(_ differences: RecordDifferences<E>) throws -> [RecordDifference<E>] {
    var found: [RecordDifference<E>] = []
    try differences.forEach {
      found.append($0)
      return true
    }
    return found
  }

  @Test func `equal stores have no differences, nor has a store with itself`() throws {
    try withTwins([Film.self], fillFilms) { older, newer throws in
      #expect(try all(newer.differences(from: older)) == [])
      #expect(try all(newer.differences(from: newer)) == [])
      #expect(try all(newer.differences(from: older, matchingBy: .uniqueKey)) == [])
    }
  }

  @Test func `differences are records of one store, and those with other values`() throws {
    try withTwins([Film.self], fillFilms) { older, newer in
      let ids = try newer.read { try $0.ids(Film.all) }
      try newer.write { tx in
        try tx.modify(ids[1]) {
          $0.title = "Other"
          $0.code = nil
        }
        try tx.delete(ids[4])
        try tx.insert(Film(title: "Ten", episode: 10))
      }
      let found = try all(newer.differences(from: older, of: Film.self))
      #expect(found.map(\.kind) == [.updated, .deleted, .inserted])
      #expect(found.map(\.id.rawValue) == [2, 5, 10])
      #expect(found[0].attributes == ["title", "code"])
      #expect(found[0].old?.title == "Film 2" && found[0].new?.title == "Other")
      #expect(found[0].old?.code == "c2" && found[0].new?.code == nil)
      #expect(found[1].old?.episode == 5 && found[1].new == nil)
      #expect(found[2].old == nil && found[2].new?.title == "Ten")
      #expect(
        try all(older.differences(from: newer, of: Film.self)).map(\.kind) == [
          .updated, .inserted, .deleted,
        ])
    }
  }

  @Test func `differences name attributes with their values as JSON`() throws {
    try withTwins([Film.self], fillFilms) { older, newer in
      let released = Date(timeIntervalSinceReferenceDate: 0)
      try newer.write { tx in
        try tx.modify(Film.ID(rawValue: 3)) { $0.released = released }
        try tx.put(Data([1]), for: "page", in: "marks")
      }
      let found = try all(newer.differences(from: older))
      guard case .record(let record) = found.first, case .bucket(let bucket) = found.last else {
        Issue.record("\(found)")
        return
      }
      #expect(record.kind == .updated && record.entity == "Film" && record.recordID == 3)
      #expect(record.attributes.map(\.name) == ["released"])
      #expect(record.attributes[0].old == .null)
      #expect(record.attributes[0].new == .string("2001-01-01T00:00:00Z"))
      #expect(bucket.kind == .inserted && bucket.bucket == "marks" && bucket.new == Data([1]))
      #expect(found.count == 2)
    }
  }

  @Test func `differences of one entity omit the others, links of others and buckets`() throws {
    try withTwins([Film.self, Player.self], fillFilms) { older, newer in
      try newer.write { tx in
        try tx.delete(Film.ID(rawValue: 1))
        try tx.insert(Player(name: "p"))
        try tx.put(Data([1]), for: "page", in: "marks")
      }
      let found = try all(newer.differences(from: older, entities: ["Player"]))
      guard case .record(let record) = found.first else {
        Issue.record("\(found)")
        return
      }
      #expect(found.count == 1 && record.entity == "Player" && record.kind == .inserted)
      let error = try storeError(.unknownEntity) {
        try newer.differences(from: older, entities: ["Playr"])
      }
      #expect(error.message.contains("Player"))
    }
  }

  // MARK: Links and orders

  @Test func `differences contain links that no attribute holds, and positions in an order`() throws
  {
    func fill(_ tx: inout WriteTransaction) throws {
      let shelf = try tx.insert(Shelf(name: "S")).id
      let books = try tx.insert((1...5).map { Book(title: "\($0)") }).ids
      try tx.add(Array(books.dropLast()), to: Shelf.books, of: shelf)
    }
    try withTwins(Library.entities, fill) { older, newer in
      try newer.write { tx in
        try tx.remove([Book.ID(rawValue: 1)], from: Shelf.books, of: Shelf.ID(rawValue: 1))
        try tx.add([Book.ID(rawValue: 5)], to: Shelf.books, of: Shelf.ID(rawValue: 1))
        try tx.move(
          Book.ID(rawValue: 4), in: Shelf.books, of: Shelf.ID(rawValue: 1), to: .first)
      }
      let links = try all(newer.differences(from: older)).compactMap { difference in
        if case .link(let link) = difference { link } else { nil }
      }
      #expect(
        links.map { "\($0.kind) \($0.entity).\($0.relationship) \($0.recordID) \($0.targetID)" }
          == ["removed Shelf.books 1 1", "added Shelf.books 1 5", "moved Shelf.books 1 4"])
      #expect(links.allSatisfy { $0.target == "Book" })
    }
  }

  @Test func `differences in an order are as few moves as possible`() {
    #expect(DifferenceStep.moved([1, 2, 3], [1, 2, 3]) == [])
    #expect(DifferenceStep.moved([1, 2, 3, 4], [4, 1, 2, 3]) == [4])
    #expect(DifferenceStep.moved([1, 2, 3], [5, 1, 6, 3]) == [])
  }

  // MARK: Schemas

  @Test func `records written only in a later layout have no differences`() throws {
    let folder = try TemporaryFolder()
    let (old, new) = (folder.path + "/old.lodestore", folder.path + "/new.lodestore")
    let first = try Store(at: old, entities: [PersonV1.self])
    try first.write { tx in
      for number in 1...6 {
        try tx.insert(PersonV1(name: "P\(number)", email: nil, age: number))
      }
    }
    try DynamicStore(first).copy(to: new, compacting: true)
    let later = try Store(at: new, entities: [PersonV2.self])
    try later.write { tx in
      // Three records are written again with equal values, and one gets another value.
      for number in 1...3 {
        try tx.modify(PersonV2.ID(rawValue: UInt64(number))) { $0.city = "x" }
        try tx.modify(PersonV2.ID(rawValue: UInt64(number))) { $0.city = nil }
      }
      try tx.modify(PersonV2.ID(rawValue: 4)) { $0.level = 4 }
    }
    try expectLaterLayout(first, later)
    first.close()
    later.close()
    for path in [old, new] { try expectSound(path) }
  }

  private func expectLaterLayout(_ first: Store, _ later: Store) throws {
    let differences = try later.differences(from: first)
    #expect(
      differences.schema.map { "\($0.kind) \($0.subject) \($0.name)" } == [
        "inserted attribute city", "inserted attribute level", "inserted index level",
      ])
    let found = try all(differences)
    #expect(found.prefix(3) == differences.schema.map(StoreDifference.schema)[...])
    guard found.count == 4, case .record(let record) = found[3] else {
      Issue.record("\(found)")
      return
    }
    #expect(record.recordID == 4 && record.attributes.map(\.name) == ["level"])
    #expect(record.attributes[0].old == .integer(3) && record.attributes[0].new == .integer(4))
    // The older store of a comparison may have the later schema.
    #expect(try all(first.differences(from: later)).count == 4)
  }

  @Test func `differences of an entity that one store lacks are all of its records`() throws {
    try withTemporaryStore([Film.self]) { older in
      try withTemporaryStore([Film.self, Player.self]) { newer in
        try newer.write { tx in try tx.insert(Player(name: "p")) }
        let found = try all(newer.differences(from: older))
        guard found.count == 2, case .schema(let schema) = found[0],
          case .record(let record) = found[1]
        else {
          Issue.record("\(found)")
          return
        }
        #expect(schema.subject == .entity && schema.kind == .inserted && schema.name == "Player")
        #expect(record.kind == .inserted && record.attributes.first?.new == .string("p"))
        #expect(try all(newer.differences(from: older, of: Player.self)).count == 1)
      }
    }
  }

  // MARK: Snapshots

  @Test func `differences between two commits of a store are read from its snapshots`() async throws
  {
    try await withTemporaryStore([Film.self]) { store in
      try await store.write { tx in try tx.insert(Film(title: "a", episode: 1)) }
      let before = try store.snapshot()
      try await store.write { tx in try tx.insert(Film(title: "b", episode: 2)) }
      let after = try store.snapshot()
      try await store.write { tx in try tx.insert(Film(title: "c", episode: 3)) }
      var titles: [String?] = []
      for try await film in try after.differences(from: before, of: Film.self) {
        titles.append(film.new?.title)
      }
      #expect(titles == ["b"])
      #expect(try all(store.differences(from: before)).count == 2)
      let differences = try store.differences(from: before)
      try before.advance()
      _ = try storeError(.snapshotExpired) { try all(differences) }
    }
  }

  @Test func `differences see the commits at the time of their call`() throws {
    try withTwins([Film.self], fillFilms) { older, newer in
      try newer.write { tx in try tx.delete(Film.ID(rawValue: 1)) }
      let differences = try newer.differences(from: older)
      try newer.write { tx in try tx.delete(Film.all) }
      older.close()
      #expect(try all(differences).count == 1)
      #expect(try all(differences).count == 1)
      _ = try storeError(.closed) { try newer.differences(from: older) }
    }
  }

  @Test func `differences end when their task is cancelled`() async throws {
    try await withTemporaryStore([Film.self]) { older in
      try await withTemporaryStore([Film.self]) { newer in
        try await newer.write { tx in
          try tx.insert((1...2_000).map { Film(title: "Film \($0)", episode: $0) })
        }
        let differences = try newer.differences(from: older)
        let task = Task {
          var count = 0
          for try await _ in differences {
            count += 1
            if count == 10 { withUnsafeCurrentTask { $0?.cancel() } }
          }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        var count = 0
        for try await _ in differences { count += 1 }
        #expect(count == 2_000)
      }
    }
  }

  // These stores have only one layout, so damage cannot turn a record into one of another layout.
  @Test(arguments: RecordDamage.allCases.filter { $0 != .otherLayout })
  func `differences of a damaged record are an error`(damage: RecordDamage) throws {
    typealias Item = Ware<FirstWare>
    let folder = try TemporaryFolder()
    let stores = try ["old", "new"].map {
      try Store(at: folder.path + "/\($0).lodestore", entities: [Item.self])
    }
    for store in stores { try store.write { try $0.insert((1...5).map { Item.new($0) }) } }
    // Different digests make the comparison read the records.
    try stores[1].write { tx in try tx.delete(Item.ID(rawValue: 5)) }
    try stores[1].core.write { core in
      let entity = try core.entity(named: "Ware")
      let bytes = Array(try #require(try core.record(3, of: entity)))
      try core.writing.put(
        littleEndianBytes(UInt64(3)), try damage.apply(to: bytes, of: entity), in: entity.records)
    }
    for (old, new) in [(stores[0], stores[1]), (stores[1], stores[0])] {
      let error = try storeError(.damaged) { try all(new.differences(from: old)) }
      #expect(error.recordID == 3)
      let typed = try storeError(.damaged) { try all(new.differences(from: old, of: Item.self)) }
      #expect(typed.recordID == 3)
    }
    for store in stores { store.close() }
  }

  // MARK: Keys

  @Test func `differences of unrelated stores match records by a unique key, and their links`()
    throws
  {
    try withTemporaryStore(StarWars.entities) { older in
      try withTemporaryStore(StarWars.entities) { newer in
        try older.write { tx in
          let tatooine = try tx.insert(StarWars.Planet("1", "Tatooine")).id
          let naboo = try tx.insert(StarWars.Planet("2", "Naboo")).id
          try tx.insert(StarWars.Person("luke", "Luke", tatooine))
          try tx.insert(StarWars.Person("padme", "Padmé", naboo))
          try tx.insert(StarWars.Person("jar", "Jar Jar", naboo))
        }
        try newer.write { tx in
          // Every record gets another id than in the older store.
          try tx.insert(StarWars.Planet("0", "Alderaan"))
          let naboo = try tx.insert(StarWars.Planet("2", "Naboo")).id
          let tatooine = try tx.insert(StarWars.Planet("1", "Tatooine")).id
          try tx.insert(StarWars.Person("leia", "Leia", nil))
          try tx.insert(StarWars.Person("padme", "Padmé Amidala", naboo))
          try tx.insert(StarWars.Person("luke", "Luke", naboo))
          _ = tatooine
        }
        let differences = try newer.differences(from: older, matchingBy: .uniqueKey)
        #expect(differences.uncompared.contains("Film.characters"))
        let records = try all(differences).compactMap { difference in
          if case .record(let record) = difference { record } else { nil }
        }
        #expect(
          records.map { "\($0.kind) \($0.entity) \($0.recordID) \($0.oldRecordID)" } == [
            "deleted Person 3 3", "inserted Person 1 1", "updated Person 3 1", "updated Person 2 2",
            "inserted Planet 1 1",
          ])
        // A link is reported by the key of its target, not by the target's id.
        #expect(records[2].attributes.map(\.name) == ["homeworld"])
        #expect(records[2].attributes[0].old == .string("1"))
        #expect(records[2].attributes[0].new == .string("2"))
        #expect(records[3].attributes.map(\.name) == ["name"])
        let error = try storeError(.unknownIndex) {
          try newer.differences(from: older, matchingBy: .uniqueKey("name"))
        }
        #expect(error.message.contains("name"))
      }
    }
  }

  @Test func `differences by a key with a null match nothing`() throws {
    try withTwins([Film.self], { try $0.insert(Film(title: "a", episode: 1)) }) { older, newer in
      let found = try all(
        newer.differences(from: older, of: Film.self, matchingBy: .uniqueKey("code")))
      #expect(found.map(\.kind) == [.deleted, .inserted])
    }
  }
}

extension StarWars.Planet {
  fileprivate init(_ url: String, _ name: String) {
    self.url = url
    self.name = name
  }
}

extension StarWars.Person {
  fileprivate init(_ url: String, _ name: String, _ homeworld: StarWars.Planet.ID?) {
    self.url = url
    self.name = name
    self.homeworld = homeworld
  }
}

import LodestoreFormat
import Testing

@testable import EntityStore

/// Copies that follow only the records that fulfil a condition.
@Suite struct `Copies with conditions` {
  /// The variable `LODESTORE_REPLAY_OPERATIONS` sets the number of operations.
  @Test func `a copy has the records that fulfil its conditions, and the links between them`()
    throws
  {
    let wanted = SeededNumbers.environmentNumber("LODESTORE_REPLAY_OPERATIONS") ?? 300
    var numbers = SeededNumbers(salt: 47_002)
    let folder = try TemporaryFolder()
    let store = try Store(
      at: folder.storePath, entities: Town.entities, options: .history(.images))
    for _ in 0..<30 { try Town.change(store, &numbers) }
    let path = folder.path + "/copy.lodestore"
    try store.backup(to: path)
    let copy = try Store(at: path, entities: Town.entities, options: .history(.images))
    let facts = try store.read { try $0.replayFacts() }
    try copy.replaying(author: nil, context: nil) { tx in
      try tx.setReplicaCursor(
        ReplicaCursor(
          storeID: facts.storeID, lastWrite: facts.lastWrite, conditions: Town.conditions))
      try tx.removeUnmatchedRecords()
    }
    try Town.expect(copy, isPartOf: store)
    try expectSound(copy)
    var units: [ReplayUnit] = []
    var (last, digests) = (facts.lastWrite, facts.digests)
    for operation in 0..<wanted {
      try Town.change(store, &numbers)
      var request = ReplayRequest(after: last)
      request.digests = digests
      request.isNet = numbers.oneIn(3)
      let unit = try store.read { try $0.replayUnit(request) }
      (last, digests) = (unit.end.last, try #require(unit.end.digests))
      units.append(unit)
      guard numbers.oneIn(3) || operation == wanted - 1 else { continue }
      if numbers.oneIn(2) { units = ReplayUnit.merged(units) }
      try copy.replaying(author: "replica", context: nil) { try $0.replay(units) }
      units = []
      try Town.expect(copy, isPartOf: store)
      if numbers.oneIn(10) { try expectSound(copy) }
    }
    let partial = try copy.read { try $0.partialContentNames() }
    #expect(partial == ["Farm", "Town", "Town.markets"])
    store.close()
    copy.close()
    try expectSound(path)
  }

  @Test func `an entity without a condition is still compared by its digest`() throws {
    let folder = try TemporaryFolder()
    let store = try Store(
      at: folder.storePath, entities: Town.entities, options: .history(.images))
    let path = folder.path + "/copy.lodestore"
    try store.backup(to: path)
    let copy = try Store(at: path, entities: Town.entities, options: .history(.images))
    let facts = try store.read { try $0.replayFacts() }
    try copy.replaying(author: nil, context: nil) { tx in
      try tx.setReplicaCursor(
        ReplicaCursor(
          storeID: facts.storeID, lastWrite: facts.lastWrite, conditions: ["Farm": "size > 2"]))
    }
    try store.write { _ = try $0.insert(Town(name: "a", size: 1)) }
    var unit = try store.read { try $0.replayUnit(ReplayRequest(after: facts.lastWrite)) }
    unit.steps[0].records = []
    #expect(throws: ReplayError.diverged(["Town"])) {
      try copy.replaying(author: nil, context: nil) { try $0.replay([unit]) }
    }
  }

  @Test(arguments: [
    ("Guild", "name == 'a'", "Guild.board is ordered"),
    ("Work", "price > 1", "Artisan.priceTotal is derived"), ("Work", "colour == 1", "colour"),
    ("Work", "price > now()", "date"), ("Player", "name ==", "found the end"),
  ])
  func `a condition that cannot be followed is refused with its reason`(
    _ entity: String, _ condition: String, _ reason: String
  ) throws {
    let folder = try TemporaryFolder()
    let store = try Store(
      at: folder.storePath, entities: Guild.entities + [Player.self], options: .history(.images))
    let error = try #require(
      #expect(throws: ReplayError.self) {
        try store.replaying(author: nil, context: nil) { tx in
          try tx.setReplicaCursor(
            ReplicaCursor(
              storeID: [UInt8](repeating: 1, count: 16), lastWrite: 0,
              conditions: [entity: condition]))
          try tx.removeUnmatchedRecords()
        }
      })
    guard case .unsuitableCondition(entity, let text) = error else {
      Issue.record("another error: \(error)")
      return
    }
    #expect(text.contains(reason), "\(text)")
  }
}

/// A town with farms that lead to it, and farms that sell in it.
private struct Town: Entity, Hashable {
  static let entities: [any Entity.Type] = [Town.self, Farm.self]
  static let conditions = ["Town": "size > 4", "Farm": "size > 3 OR size == 1"]

  var id = RecordID<Town>()
  var name: String
  var size: Int

  static let farms = ToMany<Town, Farm>(inverse: \.town)
  static let markets = ToMany<Town, Farm>()

  struct Attributes: Sendable {
    var id: Attribute<Town, RecordID<Town>> { .recordID }
    var name: Attribute<Town, String> { .init(0) }
    var size: Attribute<Town, Int> { .init(1) }
  }

  static var attributes: Attributes { Attributes() }
  static let schema = EntitySchema<Town>(
    "Town", attributes: [.init("name", \.name), .init("size", \.size)], indexes: [[\.size]],
    relationships: [.init("farms", farms), .init("markets", markets)])

  init(name: String, size: Int) { (self.name, self.size) = (name, size) }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(size)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    size = try reader.read()
    id = reader.id()
  }
}

private struct Farm: Entity, Hashable {
  var id = RecordID<Farm>()
  var name: String
  var size: Int
  var town: Town.ID?

  struct Attributes: Sendable {
    var id: Attribute<Farm, RecordID<Farm>> { .recordID }
    var name: Attribute<Farm, String> { .init(0) }
    var size: Attribute<Farm, Int> { .init(1) }
    var town: Attribute<Farm, Town.ID?> { .init(2) }
  }

  static var attributes: Attributes { Attributes() }
  static let schema = EntitySchema<Farm>(
    "Farm",
    attributes: [.init("name", \.name), .init("size", \.size), .toOne("town", \.town)],
    unique: [[\.name]])

  init(name: String, size: Int, town: Town.ID?) {
    (self.name, self.size, self.town) = (name, size, town)
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(size)
    writer.write(town)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    size = try reader.read()
    town = try reader.read()
    id = reader.id()
  }

  var isInCopy: Bool { size > 3 || size == 1 }
}

extension Town {
  /// Makes one write with some random changes.
  static func change(_ store: Store, _ numbers: inout SeededNumbers) throws {
    var numbers = numbers.split()
    try store.write { tx in
      for _ in 0...numbers.below(3) {
        let towns = try tx.fetch(Town.all)
        let farms = try tx.fetch(Farm.all)
        let (town, farm) = (
          towns.randomElement(using: &numbers), farms.randomElement(using: &numbers)
        )
        switch numbers.below(10) {
        case 0, 1: _ = try tx.insert(Town(name: "t", size: numbers.below(8)))
        case 2, 3:
          let name = "f\(numbers.next())"
          _ = try tx.insert(Farm(name: name, size: numbers.below(8), town: town?.id))
        case 4: if let town { try tx.modify(town.id) { $0.size = numbers.below(8) } }
        case 5:
          if let farm {
            try tx.modify(farm.id) { farm in
              farm.size = numbers.below(8)
              if numbers.oneIn(2) { farm.town = town?.id }
            }
          }
        case 6, 7: if let town, let farm { try tx.add([farm.id], to: markets, of: town.id) }
        case 8: if let town, let farm { try tx.remove([farm.id], from: markets, of: town.id) }
        default:
          if numbers.oneIn(2), let town {
            try tx.delete(town.id)
          } else if let farm {
            try tx.delete(farm.id)
          }
        }
      }
    }
  }

  /// Expects the copy to have the records that fulfil the conditions, and the links between them.
  static func expect(_ copy: Store, isPartOf store: Store) throws {
    let towns = try store.fetch(Town.all).filter { $0.size > 4 }
    let ids = Set(towns.map(\.id))
    var farms = try store.fetch(Farm.all).filter(\.isInCopy)
    for index in farms.indices where farms[index].town.map({ !ids.contains($0) }) ?? false {
      farms[index].town = nil
    }
    let farmIDs = Set(farms.map(\.id))
    #expect(try copy.fetch(Town.all) == towns, "\(SeededNumbers.replay)")
    #expect(try copy.fetch(Farm.all) == farms, "\(SeededNumbers.replay)")
    for town in towns {
      let wanted = try store.read { try $0.relatedIDs(markets, of: town.id) }
        .filter(farmIDs.contains)
      let found = try copy.read { try $0.relatedIDs(markets, of: town.id) }
      #expect(found == wanted, "\(SeededNumbers.replay)")
    }
  }
}

extension SeededNumbers {
  /// Other numbers, which a closure may take along.
  fileprivate mutating func split() -> SeededNumbers { SeededNumbers(seed: next()) }
}

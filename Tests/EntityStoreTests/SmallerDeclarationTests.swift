import Foundation
import LodestoreFormat
import Testing

@testable import EntityStore

/// Programs that declare only a part of the file's schema.
@Suite struct `Opening with a smaller declaration` {
  /// A store with three players at `path`.
  private func makePlayers(_ path: String) throws {
    let store = try Store(at: path, entities: [Player.self])
    try store.write { transaction in
      try transaction.insert(Player(name: "Ada", score: 42, note: "first", level: nil))
      try transaction.insert(Player(name: "Bob", score: 7))
      try transaction.insert(Player(name: "Cyd", score: -1, note: "third", level: 9))
    }
    store.close()
  }

  private func opened<R>(
    _ entities: [any Entity.Type], at path: String, options: StoreOptions = StoreOptions(),
    _ body: (Store) throws -> R
  ) throws -> R {
    let store = try Store(at: path, entities: entities, options: options)
    defer { store.close() }
    return try body(store)
  }

  private func players(at path: String) throws -> [Player] {
    try opened([Player.self], at: path) { store in
      try store.read { try $0.fetch(Player.all) }.map { player in
        var player = player
        player.id = .unassigned
        return player
      }
    }
  }

  private func generation(_ path: String) throws -> UInt64 {
    let core = try StoreCore(path: path, options: .readOnly)
    defer { core.close() }
    return core.schema.number.rawValue
  }

  @Test func `counting with fewer attributes removes nothing`() throws {
    try withTemporaryPath { path in
      try makePlayers(path)
      let before = try players(at: path)
      try opened([PlayerName.self], at: path) { store in
        let count = try store.read { try $0.count(PlayerName.all) }
        #expect(count == 3)
      }
      #expect(try players(at: path) == before)
      #expect(before.map(\.score) == [42, 7, -1])
    }
  }

  @Test func `alternating declarations do not rewrite the catalogue`() throws {
    try withTemporaryPath { path in
      try makePlayers(path)
      try opened([PlayerPoints.self], at: path) { _ in }
      let before = try generation(path)
      for _ in 0..<3 {
        try opened([PlayerName.self], at: path) { _ in }
        try opened([PlayerCard.self], at: path) { _ in }
        try opened([PlayerPoints.self], at: path) { _ in }
        try opened([Player.self], at: path) { _ in }
      }
      #expect(try generation(path) == before)
    }
  }

  @Test func `every way of reading finds the declared attributes, wherever they are`() throws {
    try withTemporaryPath { path in
      try makePlayers(path)
      try opened([PlayerCard.self], at: path) { store in
        try store.read { snapshot in
          let all = try snapshot.fetch(PlayerCard.all)
          #expect(all.map(\.name) == ["Ada", "Bob", "Cyd"])
          #expect(all.map(\.note) == ["first", nil, "third"])
          #expect(try snapshot.fetch(all[2].id) == all[2])
          #expect(try snapshot.fetch(PlayerCard.index(\.name).key("Bob")) == all[1])
          let query = PlayerCard.where { $0.note != nil }.sorted(by: \.name.descending)
          #expect(try snapshot.fetch(query).map(\.name) == ["Cyd", "Ada"])
          #expect(try snapshot.fetch(PlayerCard.where { $0.name > "B" }) == Array(all[1...]))
          let rows = try snapshot.values(query, \.note, \.name)
          #expect(rows.map(\.0) == ["third", "first"] && rows.map(\.1) == ["Cyd", "Ada"])
          var viewed: [String] = []
          try snapshot.forEachView(PlayerCard.all) { view in
            viewed.append(view.name.string + (view.note?.string ?? "-"))
          }
          #expect(viewed == ["Adafirst", "Bob-", "Cydthird"])
        }
      }
      try opened([PlayerName.self], at: path) { store in
        let all = try store.read { try $0.fetch(PlayerName.all) }
        #expect(all.map(\.name) == ["Ada", "Bob", "Cyd"])
      }
    }
  }

  @Test func `every way of changing a record keeps the other attributes`() throws {
    try withTemporaryPath { path in
      try makePlayers(path)
      let before = try players(at: path)
      try opened([PlayerCard.self], at: path) { store in
        try store.write { tx in
          var cards = try tx.fetch(PlayerCard.all)
          #expect(try tx.update(cards[0]) == false)
          cards[0].note = String(repeating: "n", count: 70_000)
          #expect(try tx.update(cards[0]))
          try tx.insert(PlayerCard(note: "replaced", name: "Bob"), onConflict: .replace)
          try tx.insert(
            PlayerCard(note: "merged", name: "Cyd"),
            onConflict: .merge { old, new in
              PlayerCard(note: (old.note ?? "") + (new.note ?? ""), name: old.name)
            })
        }
      }
      var expected = before
      expected[0].note = String(repeating: "n", count: 70_000)
      expected[1].note = "replaced"
      expected[2].note = "thirdmerged"
      #expect(try players(at: path) == expected)
      try opened([PlayerCard.self], at: path) { store in
        try store.write { tx in
          let cards = ["Ada", "Bob", "Cyd"].map { PlayerCard(note: nil, name: $0) }
          let result = try tx.insert(cards, onConflict: .replace)
          #expect(result.updatedCount == 3)
          #expect(try tx.insert(cards, onConflict: .replace).unchangedCount == 3)
          try tx.update(PlayerCard.where { $0.name == "Ada" }) { $0.note = "set" }
          try tx.insert(
            PlayerCard.self, dictionaries: [["name": "Bob", "note": "given"], ["name": "Cyd"]],
            onConflict: .patch())
          try tx.insert(PlayerCard.self, dictionaries: [["name": "Cyd"]], onConflict: .replace)
          try tx.insert(PlayerCard(note: "not", name: "Cyd"), onConflict: .ignore)
        }
      }
      expected[0].note = "set"
      expected[1].note = "given"
      expected[2].note = nil
      #expect(try players(at: path) == expected)
    }
  }

  @Test func `new records have the initial value or null, and are in every index`() throws {
    try withTemporaryPath { path in
      try makePlayers(path)
      try opened([PlayerCard.self], at: path) { store in
        try store.write { tx in
          try tx.insert(PlayerCard(note: "a", name: "Dan"))
          try tx.insert([PlayerCard(name: "Eve"), PlayerCard(name: "Fay")])
          try tx.insert([PlayerCard(name: "Gus")], onConflict: .replace)
          try tx.insert(PlayerCard.self, dictionaries: [["name": "Hal"]])
          try tx.delete(PlayerCard.where { $0.name == "Eve" })
        }
        let refused = try storeError(.unstorableValue) {
          try store.write {
            try $0.insert(PlayerCard.self, dictionaries: [["name": "x", "score": 1]])
          }
        }
        #expect(refused.attribute == "score")
      }
      try opened([Player.self], at: path) { store in
        let added = try store.read { try $0.fetch(Player.where { $0.name >= "D" }) }
        #expect(added.map(\.name) == ["Dan", "Fay", "Gus", "Hal"])
        #expect(added.map(\.score) == [0, 0, 0, 0] && added.allSatisfy { $0.level == nil })
        let ids = try store.read { try $0.ids(Player.byScore).map(\.rawValue) }
        #expect(ids.count == 7 && ids.first == 3 && ids.last == 1)
      }
    }
  }

  @Test func `a required attribute without an initial value refuses new records, naming itself`()
    throws
  {
    try withTemporaryPath { path in
      try opened([RankedPlayer.self], at: path) { store in
        try store.write { _ = try $0.insert(RankedPlayer(name: "Ada", rank: 1)) }
      }
      try opened([PlayerName.self], at: path) { store in
        let bob = PlayerName(name: "Bob")
        let ways: [(inout WriteTransaction) throws -> Void] = [
          { try $0.insert(bob) }, { try $0.insert(bob, onConflict: .replace) },
          { try $0.insert([bob]) },
          { try $0.insert([bob], onConflict: .patch()) },
          { try $0.insert(PlayerName.self, dictionaries: [["name": "Bob"]]) },
          { try $0.insert(PlayerName.self, dictionaries: [["name": "Bob"]], onConflict: .replace) },
        ]
        for way in ways {
          let error = try storeError(.unstorableValue) { try store.write(way) }
          #expect(error.attribute == "rank" && error.message.contains("'rank'"))
        }
        try store.write { tx in
          try tx.insert([PlayerName(name: "Ada")], onConflict: .replace)
          let ada = try #require(try tx.fetch(PlayerName.all).first)
          try tx.update(PlayerName.where { $0.name == ada.name }) { $0.name = "Ann" }
        }
      }
      try opened([RankedPlayer.self], at: path) { store in
        let found = try store.read { try $0.fetch(RankedPlayer.all) }
        #expect(found.map(\.name) == ["Ann"] && found.map(\.rank) == [1])
      }
    }
  }

  @Test func `a file is read with fewer attributes without being opened for writing`() throws {
    try withTemporaryPath { path in
      try makePlayers(path)
      try opened([PlayerCard.self], at: path, options: .readOnly) { store in
        let all = try store.read { try $0.fetch(PlayerCard.all) }
        #expect(all.map(\.note) == ["first", nil, "third"])
      }
      try opened([RemovingPlayer<Score>.self], at: path, options: .readOnly) { store in
        let count = try store.read { try $0.count(RemovingPlayer<Score>.all) }
        #expect(count == 3)
      }
      let error = try storeError(.incompatibleSchema) {
        try opened([PlayerPoints.self], at: path, options: .readOnly) { _ in }
      }
      #expect(error.message.contains("add"))
      #expect(try players(at: path).map(\.score) == [42, 7, -1])
    }
  }

  @Test func `a property renamed without its original name keeps the old values`() throws {
    try withTemporaryPath { path in
      try makePlayers(path)
      try opened([PlayerPoints.self], at: path) { store in
        #expect(try store.read { try $0.fetch(PlayerPoints.all) }.map(\.points) == [7, 7, 7])
        try store.write { tx in
          for var player in try tx.fetch(PlayerPoints.all) {
            player.points = 8
            try tx.update(player)
          }
        }
      }
      #expect(try players(at: path).map(\.score) == [42, 7, -1])
    }
  }

  @Test func `programs with different parts of an entity use one file at once`() throws {
    try withTemporaryPath { path in
      try makePlayers(path)
      let whole = try Store(at: path, entities: [Player.self])
      let part = try Store(at: path, entities: [PlayerPoints.self])
      try part.write { _ = try $0.insert(PlayerPoints(name: "Dan", points: 1)) }
      try whole.write { tx in
        for var player in try tx.fetch(Player.all) {
          player.score += 1
          try tx.update(player)
        }
      }
      #expect(try part.read { try $0.fetch(PlayerPoints.all) }.map(\.points) == [7, 7, 7, 1])
      #expect(try whole.read { try $0.fetch(Player.all) }.map(\.score) == [43, 8, 0, 1])
      part.close()
      whole.close()
    }
  }

  // MARK: Removing

  enum Score: Removal {
    static let names = ["score", "never"]
  }

  enum Name: Removal {
    static let names = ["name"]
  }

  enum Nonsense: Removal {
    static let names = ["no name"]
  }

  @Test func `an attribute named as removed goes with its indexes, and no other attribute`() throws
  {
    try withTemporaryPath { path in
      try makePlayers(path)
      for _ in 0..<2 {
        try opened([RemovingPlayer<Score>.self], at: path) { store in
          try store.write { tx in
            var first = try #require(try tx.fetch(RemovingPlayer<Score>.all).first)
            first.name += "!"
            try tx.update(first)
          }
        }
      }
      let after = try players(at: path)
      #expect(after.map(\.name) == ["Ada!!", "Bob", "Cyd"])
      #expect(after.map(\.score) == [0, 0, 0])
      #expect(after.map(\.note) == ["first", nil, "third"] && after.map(\.level) == [nil, 3, 9])
    }
  }

  @Test func `a removed name that is declared or malformed is refused`() throws {
    let folder = try TemporaryFolder()
    let declared = try storeError(.badSchema) {
      try Store(at: folder.storePath, entities: [RemovingPlayer<Name>.self])
    }
    #expect(declared.attribute == "name" && declared.message.contains("'removed'"))
    let bad = try storeError(.badSchema) {
      try Store(at: folder.storePath, entities: [RemovingPlayer<Nonsense>.self])
    }
    #expect(bad.message.contains("'no name'"))
  }
}

import LMDB
import Testing

@testable import EntityStore

/// The pages of indexes stay well filled after many batches.
@Suite struct IndexFillTests {
  /// The used part of the room in the leaf pages of each index.
  private func fills(of store: Store) throws -> [String: Double] {
    try store.core.read { core in
      let entity = try core.entity(Player.self)
      var fills: [String: Double] = [:]
      for index in entity.indexes {
        let facts = try core.transaction.statistics(of: index.tree)
        var size = 0
        try Cursor(index.tree, in: core.transaction).walk(KeyRange()) { key, value in
          size += LiftedEntries.size(key, value)
          return true
        }
        fills[index.name] = Double(size) / Double(facts.leafPages * (facts.pageSize - 16))
      }
      return fills
    }
  }

  private func players(_ numbers: Range<Int>, score: (Int) -> Int) -> [Player] {
    numbers.map { number in
      let digits = String(number)
      let name = String(repeating: "0", count: 8 - digits.count) + digits
      return Player(name: name, score: score(number), level: UInt8(number % 5))
    }
  }

  @Test func `new entries of few values fill their pages`() throws {
    try withTemporaryStore([Player.self]) { store in
      for batch in 0..<20 {
        try store.write { transaction in
          let new = players(batch * 2_000..<(batch + 1) * 2_000) { $0 / 2 % 4 }
          try transaction.insert(new)
        }
      }
      for (name, fill) in try fills(of: store) { #expect(fill > 0.65, "\(name): \(fill)") }
    }
  }

  @Test(arguments: [4, 1_000_000])
  func `entries that are moved leave an index filled`(valueCount: Int) throws {
    var numbers = SeededNumbers(salt: 410)
    try withTemporaryStore([Player.self]) { store in
      var scores = (0..<12_000).map { _ in numbers.below(valueCount) }
      try store.write { transaction in
        try transaction.insert(players(0..<scores.count) { scores[$0] })
      }
      for round in 0..<8 {
        let start = round * 800
        for number in start..<start + 6_000 { scores[number] = numbers.below(valueCount) }
        try store.write { transaction in
          let changed = players(start..<start + 6_000) { scores[$0] }
          try transaction.insert(changed, onConflict: .replace)
        }
      }
      for (name, fill) in try fills(of: store) {
        // Before the last batch, which changed half of the entries, the fill was at least 0.65.
        #expect(fill > 0.6, "\(name): \(fill), \(SeededNumbers.replay)")
      }
      let stored = try store.read { try $0.fetch(Player.all.sorted(by: \.name)).map(\.score) }
      #expect(stored == scores, "\(SeededNumbers.replay)")
    }
  }

  @Test func `keys that are removed, moved and put in batches lead to their records`() throws {
    var numbers = SeededNumbers(salt: 411)
    try withTemporaryStore([Player.self]) { store in
      var expected: [String: Int] = [:]
      for round in 0..<12 {
        let new = players(0..<8_000) { _ in numbers.below(50) }
          .filter { _ in numbers.oneIn(2) }
        try store.write { transaction in
          try transaction.insert(new, onConflict: .replace)
          if round % 3 == 2 { try transaction.delete(Player.where { $0.score < 20 }) }
        }
        for player in new { expected[player.name] = player.score }
        if round % 3 == 2 { expected = expected.filter { $0.value >= 20 } }
      }
      let stored = try store.read { try $0.fetch(Player.all) }
      #expect(
        Dictionary(uniqueKeysWithValues: stored.map { ($0.name, $0.score) }) == expected,
        "\(SeededNumbers.replay)")
    }
  }
}

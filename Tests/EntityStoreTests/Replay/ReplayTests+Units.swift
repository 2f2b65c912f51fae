import Foundation
import LodestoreFormat
import Testing

@testable import EntityStore

/// Several units that one write replays.
extension `Replaying changes` {
  @Test func `units stay apart when one places a link after another that the next one removes`()
    throws
  {
    try withPair { store in
      try store.write { tx in
        let guild = try tx.insert(Guild("g")).id
        let ids = try ["a", "b", "c"].map { try tx.insert(Artisan($0)).id }
        try tx.add(ids, to: Guild.board, of: guild)
      }
    } _: { pair in
      let guild = try #require(try pair.store.fetch(Guild.all).first).id
      let ids = try pair.store.fetch(Artisan.all.sorted(by: \.name)).map(\.id)
      let new = try pair.store.write { tx in
        let new = try tx.insert(Artisan("d")).id
        try tx.add(new, to: Guild.board, of: guild, at: .after(ids[0]))
        return new
      }
      let first = try pair.unit()
      try pair.store.write { try $0.remove([ids[0]], from: Guild.board, of: guild) }
      let second = try pair.unit { $0.after = first.end.last }
      try pair.store.write { try $0.move(new, in: Guild.board, of: guild, to: .last) }
      let third = try pair.unit { $0.after = second.end.last }
      let merged = ReplayUnit.merged([first, second, third])
      #expect(merged.count == 2 && merged[1].writes == 3..<5)
      try pair.replay(merged)
      let (copy, store) = try pair.guilds()
      #expect(copy == store)
    }
  }

  @Test func `a record that one unit deletes and a later one restores is updated in the copy`()
    throws
  {
    try withPair { store in
      try store.insert(Player(name: "x"))
      try store.write { tx in
        let guild = try tx.insert(Guild("g")).id
        let ids = try ["a", "b"].map { try tx.insert(Artisan($0)).id }
        try tx.add(ids, to: Guild.board, of: guild)
      }
    } _: { pair in
      let player = try #require(try pair.store.fetch(Player.all).first).id
      let guild = try #require(try pair.store.fetch(Guild.all).first).id
      let artisan = try #require(try pair.store.fetch(Artisan.all.sorted(by: \.name)).first).id
      try pair.store.delete(player)
      let deletion = try pair.store.historyToken()
      try pair.store.write { tx in
        let new = try tx.insert(Artisan("c")).id
        try tx.add(new, to: Guild.board, of: guild, at: .after(artisan))
      }
      let first = try pair.unit()
      try pair.store.write { try $0.remove([artisan], from: Guild.board, of: guild) }
      try pair.store.undo(deletion)
      try pair.store.modify(player) { $0.score = 9 }
      let second = try pair.unit { $0.after = first.end.last }
      #expect(ReplayUnit.groups(of: [first, second]).count == 2)
      let before = try pair.copy.historyToken()
      try pair.replay([first, second])
      #expect(try pair.copy.fetch(player)?.score == 9)
      let changes = try pair.copy.history(.after(before)).flatMap { Array($0.changes) }
      let found = changes.filter { $0.entity == "Player" }
      #expect(found.map(\.kind) == [.updated] && found.map(\.attributes) == [["score"]])
    }
  }

  @Test func `merged units have the last value of each record once`() throws {
    try withPair { pair in
      let ids = try pair.store.insert((0..<9).map { Player(name: "p\($0)") }).ids
      var units = [try pair.unit()]
      for round in 1...4 {
        for id in ids.shuffled() { try pair.store.modify(id) { $0.score = round } }
        units.append(try pair.unit { $0.after = units.last?.end.last ?? 0 })
      }
      try pair.store.delete(ids[3])
      units.append(try pair.unit { $0.after = units.last?.end.last ?? 0 })
      let merged = ReplayUnit.merged(units)
      #expect(merged.count == 1 && merged[0].steps.count == 1)
      #expect(merged[0].steps[0].records[0].ids == ids.map(\.rawValue).filter { $0 != 4 })
      #expect(try pair.replay(merged).records == 8)
      #expect(try pair.copy.fetch(Player.all).allSatisfy { $0.score == 4 })
    }
  }
}

import EntityStore
import Testing

/// Records with a unique key over an attribute that holds a link.
@Suite struct `Links that exchange unique keys` {
  @Test func `links that exchange unique keys of two owners are made together`() throws {
    try withTemporaryStore([Squad.self, SquadPlayer.self]) { store in
      let squads = try store.insert([Squad(name: "A"), Squad(name: "B")]).ids
      let players = try store.insert([
        SquadPlayer(name: "a", squad: squads[0], number: 7),
        SquadPlayer(name: "b", squad: squads[1], number: 7),
      ]).ids
      let refusal = try storeError(.uniqueViolation) {
        try store.write { try $0.link([(squads[1], players[0])], by: Squad.players) }
      }
      #expect(refusal.recordID == players[1].rawValue)
      let count = try store.write { tx in
        try tx.link([(squads[1], players[0]), (squads[0], players[1])], by: Squad.players)
      }
      #expect(count == 2)
      #expect(try store.fetch(SquadPlayer.all).map(\.squad) == [squads[1], squads[0]])
      #expect(try store.fetch(Squad.all).map(\.size) == [1, 1])
      let again = try store.write { tx in
        try tx.link([(squads[0], players[1]), (squads[1], players[0])], by: Squad.players)
      }
      #expect(again == 0)
    }
  }
}

import EntityStore
import Testing

/// A call fails half-way, and the closure of the write catches the error and continues.
@Suite struct `An error of one call` {
  private static let entities: [any Entity.Type] = [Squad.self, SquadPlayer.self]

  private typealias Run =
    @Sendable (inout WriteTransaction, [Squad.ID], [SquadPlayer.ID]) throws -> Void

  private struct Call: Sendable {
    let name: String
    let code: StoreError.Code
    let run: Run

    init(_ name: String, _ code: StoreError.Code, _ run: @escaping Run) {
      self.name = name
      self.code = code
      self.run = run
    }
  }

  /// Three squads, two of them with two players each.
  ///
  /// Both squads have a player with the number 7, and a squad can have only one. A player with a
  /// number must have a squad.
  private func withSquads(_ body: (Store, [Squad.ID], [SquadPlayer.ID]) throws -> Void) throws {
    try withTemporaryStore(Self.entities) { store in
      let squads = try store.insert([Squad(name: "A"), Squad(name: "B"), Squad(name: "C")]).ids
      let players = try store.insert([
        SquadPlayer(name: "a7", squad: squads[0], number: 7),
        SquadPlayer(name: "a0", squad: squads[0]),
        SquadPlayer(name: "b7", squad: squads[1], number: 7),
        SquadPlayer(name: "b8", squad: squads[1], number: 8),
      ]).ids
      try body(store, Array(squads), Array(players))
    }
  }

  private static let calls: [Call] = [
    Call("a delete that nullifies into a rule", .invalidValue) { tx, squads, _ in
      try tx.delete(squads[0])
    },
    Call("deletes of several", .invalidValue) { tx, squads, _ in try tx.delete(squads[0...1]) },
    Call("a delete by a query", .invalidValue) { tx, _, _ in
      try tx.delete(Squad.where { $0.name < "C" })
    },
    Call("a delete of all", .invalidValue) { tx, _, _ in try tx.delete(Squad.all) },
    Call("a delete that returns", .invalidValue) { tx, _, _ in
      _ = try tx.deleteReturning(Squad.where { $0.name <= "B" })
    },
    Call("an add into a unique key", .uniqueViolation) { tx, squads, players in
      try tx.add([players[3], players[2]], to: Squad.players, of: squads[0])
    },
    Call("links of several owners", .uniqueViolation) { tx, squads, players in
      try tx.link(
        [(squads[2], players[1]), (squads[0], players[3]), (squads[0], players[2])],
        by: Squad.players)
    },
    Call("a set into a unique key", .uniqueViolation) { tx, squads, players in
      try tx.set(Squad.players, of: squads[0], to: [players[0], players[2]])
    },
    Call("a set that takes a number's squad away", .invalidValue) { tx, squads, players in
      try tx.set(Squad.players, of: squads[0], to: [players[3]])
    },
    Call("a set with a record that is not there", .noSuchRecord) { tx, squads, players in
      try tx.set(Squad.players, of: squads[0], to: [players[0], SquadPlayer.ID(rawValue: 99)])
    },
    Call("a set of links of their own with no record", .noSuchRecord) { tx, squads, players in
      try tx.set(Squad.fans, of: squads[0], to: [players[0], SquadPlayer.ID(rawValue: 99)])
    },
    Call("a removal from a squad", .invalidValue) { tx, squads, players in
      try tx.remove([players[1], players[0]], from: Squad.players, of: squads[0])
    },
    Call("an update of many into a unique key", .uniqueViolation) { tx, squads, _ in
      try tx.update(SquadPlayer.where { $0.number == 7 }) { $0.squad = squads[2] }
    },
    Call("an update of many into a rule", .invalidValue) { tx, _, _ in
      try tx.update(SquadPlayer.all) { $0.squad = nil }
    },
    Call("an update of many beyond a type", .unstorableValue) { tx, _, _ in
      try tx.update(SquadPlayer.where { $0.number > 0 }) { $0.number.multiply(by: .max) }
    },
  ]

  @Test(arguments: calls.indices)
  func `a caught error leaves the state before the call, and the write continues`(
    _ index: Int
  ) throws {
    let call = Self.calls[index]
    try withSquads { store, squads, players in
      try store.write { tx in
        try tx.add(players[1], to: Squad.fans, of: squads[0])
        try tx.modify(players[1]) { $0.name = "earlier" }
        let before = (try tx.fetch(Squad.all), try tx.fetch(SquadPlayer.all))
        var code: StoreError.Code?
        do {
          try call.run(&tx, squads, players)
        } catch let error as StoreError {
          code = error.code
        }
        #expect(code == call.code, "\(call.name)")
        // The closure sees the state before the call at once, not only after the write.
        let after = (try tx.fetch(Squad.all), try tx.fetch(SquadPlayer.all))
        #expect(after.0 == before.0 && after.1 == before.1, "\(call.name)")
        let related = try tx.relatedIDs(Squad.players, of: squads[0])
        let fans = try tx.relatedIDs(Squad.fans, of: squads[0])
        #expect(related == Array(players[0...1]) && fans == [players[1]], "\(call.name)")
        try tx.modify(players[3]) { $0.name = "later" }
      }
      let told = try #require(try store.history().last)
      #expect(told.changes.map(\.recordID) == [players[1], players[3]].map(\.rawValue))
      #expect(try store.fetch(SquadPlayer.all).map(\.name) == ["a7", "earlier", "b7", "later"])
      #expect(try store.fetch(Squad.all).map(\.size) == [2, 2, 0])
    }
  }

  /// The call changes more records than a rehearsal covers, so the write runs again without the
  /// call.
  @Test func `a caught error of a large batch runs the write again without the call`() throws {
    try withTemporaryStore(Self.entities) { store in
      let squad = try store.insert(Squad(name: "A")).id
      let count = 17_000
      try store.insert((0..<count).map { SquadPlayer(name: "p\($0)") })
      var runCount = 0
      var refusals: [StoreError.Code] = []
      try store.write { tx in
        runCount += 1
        refusals = []
        try tx.insert(SquadPlayer(name: "first"))
        for _ in 0..<2 {
          do {
            try tx.update(SquadPlayer.all) { $0.squad = squad }
          } catch let error as StoreError where error.code == .uniqueViolation {
            refusals.append(error.code)
          }
        }
        try tx.insert(SquadPlayer(name: "last"))
      }
      #expect(runCount == 3 && refusals == [.uniqueViolation, .uniqueViolation])
      #expect(try store.count(SquadPlayer.where { $0.squad == nil }) == count + 2)
      #expect(try store.fetch(squad)?.size == 0)
    }
  }

  @Test func `an error that leaves the closure undoes the write, without another run`() throws {
    try withTemporaryStore(Self.entities) { store in
      let squad = try store.insert(Squad(name: "A")).id
      try store.insert((0..<20_000).map { SquadPlayer(name: "p\($0)") })
      var runCount = 0
      _ = try storeError(.uniqueViolation) {
        try store.write { tx in
          runCount += 1
          try tx.update(SquadPlayer.all) { $0.squad = squad }
        }
      }
      #expect(runCount == 1)
      #expect(try store.count(SquadPlayer.where { $0.squad == nil }) == 20_000)
    }
  }

  @Test func `a second run of the closure is refused if its calls differ`() throws {
    try withTemporaryStore(Self.entities) { store in
      let squad = try store.insert(Squad(name: "A")).id
      try store.insert((0..<20_000).map { SquadPlayer(name: "p\($0)") })
      var runCount = 0
      let error = #expect(throws: StoreError.self) {
        try store.write { tx in
          runCount += 1
          if runCount > 1 { try tx.delete(squad) }
          _ = try? tx.update(SquadPlayer.all) { $0.squad = squad }
        }
      }
      #expect(error?.code == .brokenTransaction, "\(String(describing: error))")
      #expect(try store.count(Squad.all) == 1)
    }
  }
}

import EntityStore
import Foundation
import Testing

/// Random writes are undone in any order, and a model in memory makes the same changes.
///
/// The writes have links, derived attributes, imports and caught errors.
@Suite struct `Undo against a model` {
  private struct Player: Equatable {
    var name: String
    var squad: UInt64?
    var number = 0
  }

  private struct Pair: Hashable {
    var squad: UInt64
    var player: UInt64
  }

  private struct State: Equatable {
    var squads: [UInt64: String] = [:]
    var players: [UInt64: Player] = [:]
    var fans: Set<Pair> = []

    /// Whether the state is allowed: names are unique, and so are the numbers within a squad.
    var isSound: Bool {
      var seen: Set<[Int]> = []
      for player in players.values {
        guard let squad = player.squad else {
          if player.number != 0 { return false }
          continue
        }
        guard seen.insert([Int(squad), player.number]).inserted else { return false }
      }
      return Set(squads.values).count == squads.count
        && Set(players.values.map(\.name)).count == players.count
    }

    mutating func deleteSquad(_ id: UInt64) {
      squads[id] = nil
      for player in players.keys where players[player]?.squad == id { players[player]?.squad = nil }
      fans = fans.filter { $0.squad != id }
    }

    mutating func deletePlayer(_ id: UInt64) {
      players[id] = nil
      fans = fans.filter { $0.player != id }
    }
  }

  /// One write: the states before and after it.
  private struct Write {
    var token: HistoryToken
    var before: State
    var after: State
    /// The number of the write that this write undid.
    var undone: UInt64?

    /// The attributes of a player that the write changed, by their names.
    func changes(ofPlayer id: UInt64) -> Set<String> {
      switch (before.players[id], after.players[id]) {
      case (nil, nil): []
      case (nil, _): ["inserted"]
      case (_, nil): ["deleted"]
      case (let old?, let new?):
        Set(
          [("name", old.name != new.name), ("squad", old.squad != new.squad)]
            .filter(\.1).map(\.0) + (old.number == new.number ? [] : ["number"]))
      }
    }

    func changes(ofSquad id: UInt64) -> Set<String> {
      switch (before.squads[id], after.squads[id]) {
      case (nil, nil): []
      case (nil, _): ["inserted"]
      case (_, nil): ["deleted"]
      case (let old?, let new?): old == new ? [] : ["name"]
      }
    }

    var players: Set<UInt64> { Set(before.players.keys).union(after.players.keys) }
    var squads: Set<UInt64> { Set(before.squads.keys).union(after.squads.keys) }
    var links: Set<Pair> { before.fans.symmetricDifference(after.fans) }
  }

  private static let lasting: Set<String> = ["inserted", "deleted"]

  private static func conflict(_ mine: Set<String>, _ later: Set<String>) -> Bool {
    guard !mine.isEmpty, !later.isEmpty else { return false }
    return !lasting.isDisjoint(with: mine.union(later)) || !mine.isDisjoint(with: later)
  }

  /// The state without the changes of `write`; `nil` if a later change blocks the undo.
  private static func undone(_ write: Write, _ later: [Write], _ state: State) -> State? {
    var gone: Set<UInt64> = []
    for other in later.reversed() {
      if let undone = other.undone, !gone.contains(other.token.number),
        undone > write.token.number
      {
        gone.formUnion([undone, other.token.number])
      }
    }
    let effective = later.filter { !gone.contains($0.token.number) }
    for other in effective {
      for id in write.players
      where conflict(write.changes(ofPlayer: id), other.changes(ofPlayer: id)) {
        return nil
      }
      for id in write.squads
      where conflict(write.changes(ofSquad: id), other.changes(ofSquad: id)) {
        return nil
      }
      if !write.links.isDisjoint(with: other.links) { return nil }
    }
    var result = state
    // A record that the undo deletes must have no links from other writes.
    for pair in write.after.fans.subtracting(write.before.fans) { result.fans.remove(pair) }
    for id in write.players {
      switch (write.before.players[id], write.after.players[id]) {
      case (nil, .some):
        if result.fans.contains(where: { $0.player == id }) { return nil }
        result.players[id] = nil
      case (let old?, nil): result.players[id] = old
      case (let old?, let new?):
        if old.name != new.name { result.players[id]?.name = old.name }
        if old.squad != new.squad { result.players[id]?.squad = old.squad }
        if old.number != new.number { result.players[id]?.number = old.number }
      case (nil, nil): break
      }
    }
    for id in write.squads {
      switch (write.before.squads[id], write.after.squads[id]) {
      case (nil, .some):
        if result.fans.contains(where: { $0.squad == id })
          || result.players.values.contains(where: { $0.squad == id })
        {
          return nil
        }
        result.squads[id] = nil
      case (let old?, nil): result.squads[id] = old
      case (let old?, let new?): if old != new { result.squads[id] = old }
      case (nil, nil): break
      }
    }
    result.fans.formUnion(write.before.fans.subtracting(write.after.fans))
    // Restored links and attributes must lead to records.
    for pair in result.fans
    where result.squads[pair.squad] == nil || result.players[pair.player] == nil {
      return nil
    }
    for player in result.players.values {
      if let squad = player.squad, result.squads[squad] == nil { return nil }
    }
    return result.isSound ? result : nil
  }

  // MARK: The store

  private static func state<T: ReadableTransaction & ~Copyable>(
    _ transaction: borrowing T, checksDerived: Bool = true
  ) throws -> State {
    var state = State()
    for squad in try transaction.fetch(Squad.all) {
      state.squads[squad.id.rawValue] = squad.name
      for player in try transaction.relatedIDs(Squad.fans, of: squad.id) {
        state.fans.insert(Pair(squad: squad.id.rawValue, player: player.rawValue))
      }
      if checksDerived {
        let size = try transaction.relatedIDs(Squad.players, of: squad.id).count
        #expect(squad.size == size, "\(SeededNumbers.replay)")
      }
    }
    for player in try transaction.fetch(SquadPlayer.all) {
      state.players[player.id.rawValue] = Player(
        name: player.name, squad: player.squad?.rawValue, number: player.number)
      if checksDerived {
        let name = player.squad.flatMap { state.squads[$0.rawValue] }
        #expect(player.squadName == name, "\(SeededNumbers.replay)")
      }
    }
    return state
  }

  /// Makes one random call.
  ///
  /// If the call throws, the error is caught, and the state must be as before it.
  private static func change(
    _ tx: inout WriteTransaction, _ numbers: inout SeededNumbers, _ next: inout Int
  ) throws {
    let before = try state(tx, checksDerived: false)
    func squad() -> Squad.ID? {
      before.squads.keys.sorted().randomElement(using: &numbers).map { .init(rawValue: $0) }
    }
    func players(_ most: Int) -> [SquadPlayer.ID] {
      before.players.keys.sorted().shuffled(using: &numbers).prefix(numbers.below(most) + 1)
        .map { .init(rawValue: $0) }
    }
    next += 1
    do {
      switch numbers.below(12) {
      case 0: try tx.insert(Squad(name: "s\(numbers.oneIn(4) ? 0 : next)"))
      case 1, 2:
        try tx.insert(
          SquadPlayer(name: "p\(next)", squad: squad(), number: numbers.below(4)))
      case 3:
        try tx.insert((0..<3).map { SquadPlayer(name: "b\(next).\($0)") })
      case 4:
        if let squad = squad() { try tx.add(players(3), to: Squad.players, of: squad) }
      case 5:
        if let squad = squad() { try tx.set(Squad.players, of: squad, to: players(4)) }
      case 6:
        if let squad = squad() { try tx.remove(players(6), from: Squad.players, of: squad) }
      case 7:
        if let squad = squad() {
          let missing = SquadPlayer.ID(rawValue: 1 << 40)
          try tx.set(
            Squad.fans, of: squad, to: players(3) + (numbers.oneIn(5) ? [missing] : []))
        }
      case 8: if let squad = squad() { try tx.delete(squad) }
      case 9: try tx.delete(players(2))
      case 10:
        let (old, new) = (numbers.below(4), numbers.below(4))
        try tx.update(SquadPlayer.where { $0.number == old }) { $0.number = new }
      default:
        if let squad = squad() { try tx.modify(squad) { $0.name = "r\(next % 7)" } }
      }
    } catch let error as StoreError
      where [.uniqueViolation, .invalidValue, .noSuchRecord].contains(error.code)
    {
      let after = try state(tx, checksDerived: false)
      #expect(after == before, "\(error); \(SeededNumbers.replay)")
    }
  }

  private static func importPage(
    into store: Store, _ numbers: inout SeededNumbers, _ next: inout Int
  ) async throws {
    let squads = try await store.fetch(Squad.all).map(\.name)
    let known = try await store.fetch(SquadPlayer.all).map(\.name)
    let records = (0..<numbers.below(4) + 1).map { _ -> [String: Any] in
      next += 1
      let isKnown = numbers.oneIn(2)
      let name = isKnown ? known.randomElement(using: &numbers) ?? "i\(next)" : "i\(next)"
      var record: [String: Any] = ["name": name, "number": numbers.below(4)]
      if let squad = squads.randomElement(using: &numbers) { record["squad"] = squad }
      return record
    }
    let page = try JSONSerialization.data(withJSONObject: records)
    var importer = Importer(into: store, SquadPlayer.self, matching: .unique(\.name))
    importer.links = [.init("squad", \.squad, by: \.name)]
    _ = try? await importer.run(
      AsyncStream { continuation in
        continuation.yield(page)
        continuation.finish()
      }, renaming: [:])
  }

  @Test func `an undo takes back and refuses the same writes as the model`() async throws {
    let rounds = SeededNumbers.environmentNumber("LODESTORE_UNDO_ROUNDS") ?? 250
    var numbers = SeededNumbers(salt: 42_013)
    var next = 0
    try await withTemporaryStore(
      [Squad.self, SquadPlayer.self], options: .history(.images)
    ) { store in
      var writes: [Write] = []
      var state = State()
      /// Adds the write that the history reports since the last known write, if there is one.
      func note(undone: UInt64? = nil) throws {
        let after = try store.read { try Self.state($0) }
        let known = writes.last?.token.number ?? 0
        let told = try store.history().filter { $0.id > known }
        #expect(told.count == (after == state && undone == nil ? 0 : 1), "\(SeededNumbers.replay)")
        if let told = told.last {
          writes.append(
            Write(token: told.token, before: state, after: after, undone: undone))
        }
        state = after
      }
      for round in 0..<rounds {
        if numbers.oneIn(6) {
          try await Self.importPage(into: store, &numbers, &next)
          try note()
        } else if numbers.oneIn(2) || writes.isEmpty {
          let seed = numbers
          let first = next
          let count = numbers.below(4) + 1
          let end = try await store.write { tx throws in
            var numbers = seed
            var next = first
            for _ in 0..<count { try Self.change(&tx, &numbers, &next) }
            return (numbers, next)
          }
          (numbers, next) = end
          try note()
        } else {
          let index = max(0, writes.count - 1 - numbers.below(12))
          let write = writes[index]
          let expected = Self.undone(write, Array(writes[(index + 1)...]), state)
          do {
            let token = write.token
            try await store.write { tx in _ = try tx.undo(token) }
            #expect(expected != nil, "write \(write.token.number); \(SeededNumbers.replay)")
            try note(undone: write.token.number)
            if let expected { #expect(state == expected, "\(SeededNumbers.replay)") }
          } catch let error as StoreError {
            #expect(expected == nil, "\(error); \(SeededNumbers.replay)")
            #expect(
              [.cannotUndo, .uniqueViolation, .invalidValue].contains(error.code), "\(error)")
            try note()
          }
        }
        if round % 50 == 49 { try expectSound(store) }
      }
      #expect(writes.count(where: { $0.undone != nil }) > rounds / 20, "\(SeededNumbers.replay)")
    }
  }
}

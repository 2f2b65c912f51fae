import EntityStore

/// One write that the history reports.
struct GuildChange {
  let number: UInt64
  let before: GuildState
  let after: GuildState
  /// By guild, the members that the history reports as moved.
  private(set) var movedMembers: [UInt64: Set<UInt64>] = [:]
  /// By guild, the artisans of the board that the history reports as moved.
  private(set) var movedInBoards: [UInt64: Set<UInt64>] = [:]

  init(_ told: HistoryWrite, before: GuildState, after: GuildState) {
    number = told.id
    self.before = before
    self.after = after
    for group in told.links where group.kind == .moved {
      for link in group.links {
        let isOfGuild = group.entity == "Guild"
        let guild = isOfGuild ? link.recordID : link.targetID
        let artisan = isOfGuild ? link.targetID : link.recordID
        if group.relationship.hasPrefix("board") {
          movedInBoards[guild, default: []].insert(artisan)
        } else {
          movedMembers[guild, default: []].insert(artisan)
        }
      }
    }
  }

  /// Whether an undo can restore the whole write.
  ///
  /// The history does not keep positions, so moves cannot be undone.
  var isWhole: Bool { movedMembers.isEmpty && movedInBoards.isEmpty }

  /// Throws if links that are not reported as moved have changed their order.
  func checkMoves() throws {
    let lists = [
      (before.members, after.members, movedMembers), (before.boards, after.boards, movedInBoards),
    ]
    for (before, after, moved) in lists {
      for id in Set(before.keys).union(moved.keys) {
        let (old, new, moved) = (before[id] ?? [], after[id] ?? [], moved[id] ?? [])
        let stay = Set(old).intersection(new)
        let still = stay.subtracting(moved)
        guard moved.isSubset(of: stay), old.filter(still.contains) == new.filter(still.contains)
        else { throw Disagreement("guild \(id): \(old) became \(new), moved \(moved)") }
      }
    }
  }

  /// The names of the records that the write changed, linked or unlinked.
  var touched: Set<String> {
    var names: Set<String> = []
    func add<Row: Equatable>(
      _ kind: String, _ old: [UInt64: Row], _ new: [UInt64: Row], _ targets: (Row) -> [String]
    ) {
      for id in Set(old.keys).union(new.keys) where old[id] != new[id] {
        names.insert("\(kind)\(id)")
        names.formUnion([old[id], new[id]].flatMap { $0.map(targets) ?? [] })
      }
    }
    add("g", before.guilds, after.guilds) { row in row.parent.map { ["g\($0)"] } ?? [] }
    add("a", before.artisans, after.artisans) { row in row.guild.map { ["g\($0)"] } ?? [] }
    add("w", before.works, after.works) { row in row.maker.map { ["a\($0)"] } ?? [] }
    for (old, new) in [(before.boards, after.boards), (before.members, after.members)] {
      for id in Set(old.keys).union(new.keys) where old[id] != new[id] {
        let (old, new) = (old[id] ?? [], new[id] ?? [])
        // A move counts as a change of the whole list, because the model does not know which links
        // moved.
        let isInOrder = old.filter { new.contains($0) } == new.filter { old.contains($0) }
        let changed = isInOrder ? Set(old).symmetricDifference(new) : Set(old).union(new)
        names.insert("g\(id)")
        names.formUnion(changed.map { "a\($0)" })
      }
    }
    return names
  }
}

extension GuildState {
  /// The state after the undo of `write`, if no later write blocks the undo.
  ///
  /// A partial undo leaves out links to artisans that are gone. A whole undo is refused in that
  /// case.
  func undoing(_ write: GuildChange, isPart: Bool) -> GuildState {
    let (old, new) = (write.before, write.after)
    var state = self
    for id in Set(old.guilds.keys).union(new.guilds.keys) where old.guilds[id] != new.guilds[id] {
      guard let before = old.guilds[id], let after = new.guilds[id] else {
        state.guilds[id] = old.guilds[id]
        continue
      }
      if before.name != after.name { state.guilds[id]?.name = before.name }
      if before.parent != after.parent { state.guilds[id]?.parent = before.parent }
    }
    for id in Set(old.artisans.keys).union(new.artisans.keys)
    where old.artisans[id] != new.artisans[id] {
      guard let before = old.artisans[id], let after = new.artisans[id] else {
        state.artisans[id] = old.artisans[id]
        continue
      }
      if before.name != after.name { state.artisans[id]?.name = before.name }
      if before.guild != after.guild { state.artisans[id]?.guild = before.guild }
      if before.number != after.number { state.artisans[id]?.number = before.number }
      if before.isActive != after.isActive { state.artisans[id]?.isActive = before.isActive }
    }
    for id in Set(old.works.keys).union(new.works.keys) where old.works[id] != new.works[id] {
      guard let before = old.works[id], let after = new.works[id] else {
        state.works[id] = old.works[id]
        continue
      }
      if before.title != after.title { state.works[id]?.title = before.title }
      if before.price != after.price { state.works[id]?.price = before.price }
      if before.isLent != after.isLent { state.works[id]?.isLent = before.isLent }
      if before.maker != after.maker { state.works[id]?.maker = before.maker }
      if before.tags != after.tags { state.works[id]?.tags = before.tags }
      if before.grade != after.grade { state.works[id]?.grade = before.grade }
    }
    for id in Set(old.boards.keys).union(new.boards.keys) {
      let (before, after) = (Set(old.boards[id] ?? []), Set(new.boards[id] ?? []))
      let list = Set(state.boards[id] ?? []).subtracting(after.subtracting(before))
        .union(before.subtracting(after).filter { !isPart || state.artisans[$0] != nil })
      state.boards[id] = list.isEmpty || state.guilds[id] == nil ? nil : list.sorted()
    }
    state.members = [:]
    for (id, artisan) in state.artisans.sorted(by: { $0.key < $1.key }) {
      if let guild = artisan.guild { state.members[guild, default: []].append(id) }
    }
    return state
  }

  /// Returns the state with the grades of `other`.
  ///
  /// The program's own declaration lacks the grade.
  func takingGrades(of other: GuildState) -> GuildState {
    var state = self
    for id in works.keys {
      state.works[id]?.grade = other.works[id]?.grade ?? LaterWork.initialGrade
    }
    return state
  }
}

/// One write that the history reports.
struct GuildChange {
  var number: UInt64
  var before: GuildState
  var after: GuildState
  /// Whether an undo can take back all of it.
  var isWhole: Bool

  /// The records that it changed, linked or unlinked.
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
        let stay = (old.filter { new.contains($0) }, new.filter { old.contains($0) })
        // A move counts as a change of the whole list: the model does not know the moved links.
        let changed = stay.0 == stay.1 ? Set(old).symmetricDifference(new) : Set(old).union(new)
        names.insert("g\(id)")
        names.formUnion(changed.map { "a\($0)" })
      }
    }
    return names
  }
}

extension GuildState {
  /// Without what a write did, which stands in nobody's way.
  func undoing(_ write: GuildChange) -> GuildState {
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
        .union(before.subtracting(after))
      state.boards[id] = list.isEmpty || state.guilds[id] == nil ? nil : list.sorted()
    }
    state.members = [:]
    for (id, artisan) in state.artisans.sorted(by: { $0.key < $1.key }) {
      if let guild = artisan.guild { state.members[guild, default: []].append(id) }
    }
    return state
  }

  /// With the grades that `other` has, which the program's own declaration lacks.
  func takingGrades(of other: GuildState) -> GuildState {
    var state = self
    for id in works.keys {
      state.works[id]?.grade = other.works[id]?.grade ?? LaterWork.initialGrade
    }
    return state
  }
}

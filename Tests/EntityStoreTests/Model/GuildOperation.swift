import EntityStore

/// One call on a write transaction, as a value.
///
/// The store and the model both do it, and a failure prints it.
indirect enum GuildOperation: Sendable {
  case insertGuild(GuildState.GuildRow)
  case insertArtisans([GuildState.ArtisanRow])
  case insertWorks([GuildState.WorkRow], replacing: Bool)
  case updateGuild(UInt64, GuildState.GuildRow)
  case updateArtisan(UInt64, GuildState.ArtisanRow)
  case updateWork(UInt64, GuildState.WorkRow)
  case addMembers([UInt64], guild: UInt64)
  case setMembers([UInt64], guild: UInt64)
  case removeMembers([UInt64], guild: UInt64)
  case move(member: UInt64, guild: UInt64, place: Int)
  case addToBoard(UInt64, guild: UInt64, place: Int)
  case setBoard([UInt64], guild: UInt64)
  case linkBoards(guilds: [UInt64], artisans: [UInt64])
  case removeBoard([UInt64], guild: UInt64)
  case renumber(from: Int, to: Int?)
  case gather(named: String, guild: UInt64?)
  case lend(above: Int, Bool)
  case price(above: Int, by: Int)
  case deleteGuilds([UInt64])
  case deleteArtisans([UInt64], byQuery: Bool)
  case deleteWorks([UInt64])
  case deleteWorksOf(price: Int)
  /// The changes of a savepoint are undone if it throws.
  case savepoint([GuildOperation], throwing: Bool)

  static let tags = ["gold", "silver", "é", "e\u{301}", ""]

  // MARK: Random operations

  static func random(_ state: GuildState, _ numbers: inout SeededNumbers, depth: Int = 0)
    -> GuildOperation
  {
    func one<Row>(_ rows: [UInt64: Row]) -> UInt64 {
      // One of forty drawn ids belongs to no record.
      numbers.oneIn(40) ? 1 << 40 : rows.keys.sorted().randomElement(using: &numbers) ?? 1 << 40
    }
    func some<Row>(_ rows: [UInt64: Row], _ most: Int) -> [UInt64] {
      Array(rows.keys.sorted().shuffled(using: &numbers).prefix(numbers.below(most) + 1))
    }
    /// Repeats some of the ids in one of four cases.
    func again(_ ids: [UInt64]) -> [UInt64] {
      numbers.oneIn(4) ? ids + ids.prefix(numbers.below(3)) : ids
    }
    func artisan() -> GuildState.ArtisanRow {
      let guild = numbers.oneIn(3) ? nil : state.guilds.keys.sorted().randomElement(using: &numbers)
      let isNumbered = guild != nil && numbers.oneIn(2) || numbers.oneIn(30)
      return .init(
        name: "a\(numbers.below(60))", guild: guild, number: isNumbered ? numbers.below(9) : nil,
        isActive: !numbers.oneIn(3))
    }
    func work() -> GuildState.WorkRow {
      .init(
        title: "w\(numbers.below(90))", price: numbers.below(10), isLent: numbers.oneIn(6),
        maker: numbers.oneIn(3) ? nil : state.artisans.keys.sorted().randomElement(using: &numbers),
        tags: (0..<numbers.below(3)).map { _ in tags[numbers.below(tags.count)] })
    }
    func guild() -> GuildState.GuildRow {
      .init(
        name: "g\(numbers.below(14))",
        parent: numbers.oneIn(2) ? nil : state.guilds.keys.sorted().randomElement(using: &numbers))
    }
    let isFull = state.artisans.count > 24 || state.works.count > 40
    switch numbers.below(depth == 0 ? 30 : 28) {
    case 0, 1: return .insertGuild(guild())
    case 2, 3:
      if isFull { return .deleteArtisans(some(state.artisans, 4), byQuery: numbers.oneIn(2)) }
      return .insertArtisans((0..<numbers.below(3) + 1).map { _ in artisan() })
    case 4, 5, 6:
      if isFull { return .deleteWorks(some(state.works, 8)) }
      return .insertWorks(
        (0..<numbers.below(4) + 1).map { _ in work() }, replacing: numbers.oneIn(2))
    case 7: return .updateGuild(one(state.guilds), guild())
    case 8, 9:
      let id = one(state.artisans)
      guard var row = state.artisans[id], !numbers.oneIn(3) else {
        return .updateArtisan(id, artisan())
      }
      switch numbers.below(3) {
      case 0: row.isActive.toggle()
      case 1: row.number = row.guild == nil ? nil : numbers.below(9)
      default: row.guild = state.guilds.keys.sorted().randomElement(using: &numbers)
      }
      return .updateArtisan(id, row)
    case 10, 11:
      let id = one(state.works)
      guard var row = state.works[id], !numbers.oneIn(3) else { return .updateWork(id, work()) }
      switch numbers.below(3) {
      case 0: row.isLent.toggle()
      case 1: row.price = numbers.below(10)
      default: row.maker = state.artisans.keys.sorted().randomElement(using: &numbers)
      }
      return .updateWork(id, row)
    case 12: return .addMembers(again(some(state.artisans, 3)), guild: one(state.guilds))
    case 13: return .setMembers(again(some(state.artisans, 5)), guild: one(state.guilds))
    case 14:
      let id = one(state.guilds)
      return .removeMembers(
        (state.members[id] ?? []).filter { _ in numbers.oneIn(2) }, guild: id)
    case 15:
      let id = one(state.members)
      guard let member = state.members[id]?.randomElement(using: &numbers) else {
        return .deleteGuilds(some(state.guilds, 1))
      }
      return .move(member: member, guild: id, place: numbers.below(7))
    case 16:
      return .addToBoard(
        one(state.artisans), guild: one(state.guilds), place: numbers.below(6))
    case 17: return .setBoard(again(some(state.artisans, 5)), guild: one(state.guilds))
    case 18:
      return .linkBoards(
        guilds: again(some(state.guilds, 3)), artisans: again(some(state.artisans, 3)))
    case 19:
      let id = one(state.guilds)
      return .removeBoard((state.boards[id] ?? []).filter { _ in numbers.oneIn(2) }, guild: id)
    case 20:
      return .renumber(from: numbers.below(9), to: numbers.oneIn(3) ? nil : numbers.below(9))
    case 21:
      return .gather(
        named: "g\(numbers.below(14))", guild: numbers.oneIn(3) ? nil : one(state.guilds))
    case 22: return .lend(above: numbers.below(10), numbers.oneIn(4))
    case 23: return .price(above: numbers.below(10), by: numbers.below(5) - 2)
    case 24: return .deleteGuilds(some(state.guilds, 2))
    case 25: return .deleteArtisans(some(state.artisans, 3), byQuery: numbers.oneIn(2))
    case 26: return .deleteWorks(some(state.works, 4))
    case 27: return .deleteWorksOf(price: numbers.below(10))
    default:
      // All operations of the savepoint are drawn from the state before it, so later ones may name
      // deleted records.
      return .savepoint(
        (0...numbers.below(4)).map { _ in random(state, &numbers, depth: 1) },
        throwing: numbers.oneIn(2))
    }
  }

  // MARK: The model

  /// The state after the call; `ids` are the ids that the store assigned to new records.
  func applied(to state: GuildState, ids: [UInt64]) throws(GuildState.Refusal) -> GuildState {
    var next = state
    func known<Row>(_ ids: [UInt64], _ rows: [UInt64: Row]) throws(GuildState.Refusal) {
      if ids.contains(where: { rows[$0] == nil }) {
        throw GuildState.Refusal(codes: [.noSuchRecord, .missingTarget])
      }
    }
    func unique(_ ids: [UInt64]) -> [UInt64] {
      ids.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
    switch self {
    case .insertGuild(let row):
      next.guilds[ids.first ?? .max] = row
    case .insertArtisans(let rows):
      for (index, row) in rows.enumerated() {
        let id = index < ids.count ? ids[index] : .max - UInt64(index)
        var alone = row
        alone.guild = nil
        next.artisans[id] = alone
        next.setGuild(row.guild, of: id)
      }
    case .insertWorks(let rows, let replacing):
      // Rows of a batch with one key are merged one after the other.
      for (index, row) in rows.enumerated() {
        if replacing, let found = next.works.first(where: { $0.value.title == row.title }) {
          var row = row
          row.grade = found.value.grade
          next.works[found.key] = row
        } else {
          next.works[index < ids.count ? ids[index] : .max - UInt64(index)] = row
        }
      }
    case .updateGuild(let id, let row):
      try known([id], next.guilds)
      next.guilds[id] = row
    case .updateArtisan(let id, let row):
      try known([id], next.artisans)
      next.setGuild(row.guild, of: id)
      next.artisans[id] = row
    case .updateWork(let id, let row):
      try known([id], next.works)
      let grade = next.works[id]?.grade
      next.works[id] = row
      if let grade { next.works[id]?.grade = grade }
    case .addMembers(let members, let guild):
      if !members.isEmpty { try known([guild], next.guilds) }
      try known(members, next.artisans)
      for id in unique(members) { next.setGuild(guild, of: id) }
    case .setMembers(let members, let guild):
      if !members.isEmpty { try known([guild], next.guilds) }
      try known(members, next.artisans)
      for id in next.members[guild] ?? [] where !members.contains(id) { next.setGuild(nil, of: id) }
      for id in members { next.setGuild(guild, of: id) }
      next.members[guild] = members.isEmpty ? nil : unique(members)
    case .removeMembers(let members, let guild):
      for id in members where next.artisans[id]?.guild == guild { next.setGuild(nil, of: id) }
    case .move(let member, let guild, let place):
      guard next.members[guild]?.contains(member) == true else {
        throw GuildState.Refusal(codes: [.noSuchRecord])
      }
      next.edit(&next.members, guild) { list in
        list.removeAll { $0 == member }
        list.insert(member, at: min(place, list.count))
      }
    case .addToBoard(let artisan, let guild, let place):
      try known([guild], next.guilds)
      try known([artisan], next.artisans)
      next.edit(&next.boards, guild) { list in
        list.removeAll { $0 == artisan }
        list.insert(artisan, at: min(place, list.count))
      }
    case .setBoard(let board, let guild):
      if !board.isEmpty { try known([guild], next.guilds) }
      try known(board, next.artisans)
      next.boards[guild] = board.isEmpty ? nil : unique(board)
    case .linkBoards(let guilds, let artisans):
      if !guilds.isEmpty { try known(artisans, next.artisans) }
      if !artisans.isEmpty { try known(guilds, next.guilds) }
      for guild in guilds {
        next.edit(&next.boards, guild) { list in
          for id in artisans where !list.contains(id) { list.append(id) }
        }
      }
    case .removeBoard(let board, let guild):
      next.edit(&next.boards, guild) { $0.removeAll { board.contains($0) } }
    case .renumber(let from, let to):
      for id in next.artisans.keys where next.artisans[id]?.number == from {
        next.artisans[id]?.number = to
      }
    case .gather(let name, let guild):
      let named = state.guilds.filter { $0.value.name == name }.keys
      let ids = next.artisans.filter { $0.value.guild.map { named.contains($0) } ?? false }.keys
      for id in ids.sorted() { next.setGuild(guild, of: id) }
    case .lend(let price, let isLent):
      for id in next.works.keys where next.works[id]?.price ?? 0 > price {
        next.works[id]?.isLent = isLent
      }
    case .price(let price, let amount):
      for (id, work) in next.works where work.price > price {
        next.works[id]?.price += amount
      }
    case .deleteGuilds(let ids): next.delete(guilds: Set(ids))
    case .deleteArtisans(let ids, _): try next.delete(artisans: Set(ids))
    case .deleteWorks(let ids): for id in ids { next.works[id] = nil }
    case .deleteWorksOf(let price): next.works = next.works.filter { $0.value.price != price }
    case .savepoint: break
    }
    return try next.checked()
  }
}

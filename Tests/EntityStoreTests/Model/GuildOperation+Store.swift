import EntityStore

extension GuildOperation {
  /// Does the call; returns the ids of inserted records.
  ///
  /// - Precondition: The operation is not a savepoint.
  func perform(_ tx: inout WriteTransaction) throws -> [UInt64] {
    func guildID(_ id: UInt64) -> Guild.ID { .init(rawValue: id) }
    func artisanIDs(_ ids: [UInt64]) -> [Artisan.ID] { ids.map { .init(rawValue: $0) } }
    switch self {
    case .insertGuild(let row):
      let guild = Guild(row.name, parent: row.parent.map(guildID))
      return [try tx.insert(guild).id.rawValue]
    case .insertArtisans(let rows):
      if rows.count == 1 { return [try tx.insert(Artisan(rows[0])).id.rawValue] }
      return try tx.insert(rows.map { Artisan($0) }).ids.map(\.rawValue)
    case .insertWorks(let rows, let replacing):
      return try tx.insert(rows.map { Work($0) }, onConflict: replacing ? .replace : .fail)
        .ids.map(\.rawValue)
    case .updateGuild(let id, let row):
      var guild = Guild(row.name, parent: row.parent.map(guildID))
      guild.id = guildID(id)
      try tx.update(guild)
    case .updateArtisan(let id, let row):
      var artisan = Artisan(row)
      artisan.id = .init(rawValue: id)
      try tx.update(artisan)
    case .updateWork(let id, let row):
      let new = Work(row)
      try tx.modify(Work.ID(rawValue: id)) { work in
        let id = work.id
        work = new
        work.id = id
      }
    case .addMembers(let members, let guild):
      try tx.add(artisanIDs(members), to: Guild.members, of: guildID(guild))
    case .setMembers(let members, let guild):
      try tx.set(Guild.members, of: guildID(guild), to: artisanIDs(members))
    case .removeMembers(let members, let guild):
      try tx.remove(artisanIDs(members), from: Guild.members, of: guildID(guild))
    case .move(let member, let guild, let place):
      try tx.move(
        .init(rawValue: member), in: Guild.members, of: guildID(guild), to: .index(place))
    case .addToBoard(let artisan, let guild, let place):
      try tx.add(
        .init(rawValue: artisan), to: Guild.board, of: guildID(guild), at: .index(place))
    case .setBoard(let board, let guild):
      try tx.set(Guild.board, of: guildID(guild), to: artisanIDs(board))
    case .linkBoards(let guilds, let artisans):
      let pairs = guilds.flatMap { guild in
        artisanIDs(artisans).map { (guildID(guild), $0) }
      }
      try tx.link(pairs, by: Guild.board)
    case .removeBoard(let board, let guild):
      try tx.remove(artisanIDs(board), from: Guild.board, of: guildID(guild))
    case .renumber(let from, let to):
      try tx.update(Artisan.where { $0.number == from }) { $0.number = to }
    case .gather(let name, let guild):
      // The condition uses the related guild's name, because the derived copy is updated only when
      // the write ends.
      try tx.update(Artisan.where(format: "guild.name == %@", name)) {
        $0.guild = guild.map(guildID)
      }
    case .lend(let price, let isLent):
      try tx.update(Work.where { $0.price > price }) { $0.isLent = isLent }
    case .price(let price, let amount):
      try tx.update(Work.where { $0.price > price }) { $0.price.add(amount) }
    case .deleteGuilds(let ids): try tx.delete(ids.map(guildID))
    case .deleteArtisans(let ids, let byQuery):
      let ids = artisanIDs(ids)
      if byQuery { try tx.delete(Artisan.where { $0.id.isIn(ids) }) } else { try tx.delete(ids) }
    case .deleteWorks(let ids): try tx.delete(ids.map { Work.ID(rawValue: $0) })
    case .deleteWorksOf(let price): try tx.delete(Work.where { $0.price == price })
    case .savepoint: break
    }
    return []
  }
}

extension Artisan {
  init(_ row: GuildState.ArtisanRow) {
    self.init(
      row.name, guild: row.guild.map { .init(rawValue: $0) }, number: row.number,
      isActive: row.isActive)
  }
}

extension Work {
  init(_ row: GuildState.WorkRow) {
    self.init(
      row.title, price: row.price, isLent: row.isLent, maker: row.maker.map { .init(rawValue: $0) },
      tags: row.tags)
  }
}

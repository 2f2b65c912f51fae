import EntityStore

/// Guilds, artisans and works as dictionaries, with unique keys, rules, delete rules and orders.
struct GuildState: Equatable, Sendable {
  struct GuildRow: Equatable, Sendable {
    var name: String
    var parent: UInt64?
  }

  struct ArtisanRow: Equatable, Sendable {
    var name: String
    var guild: UInt64?
    var number: Int?
    var isActive = true
  }

  struct WorkRow: Equatable, Sendable {
    var title: String
    var price = 0
    var isLent = false
    var maker: UInt64?
    var tags: [String] = []
    /// An attribute that only ``LaterWork`` has.
    var grade = LaterWork.initialGrade
  }

  /// The refusal of a call that the store must make too.
  ///
  /// The store's error has one of the codes.
  struct Refusal: Error, Equatable {
    var codes: [StoreError.Code]
  }

  var guilds: [UInt64: GuildRow] = [:]
  var artisans: [UInt64: ArtisanRow] = [:]
  var works: [UInt64: WorkRow] = [:]
  /// By guild, the members in their order; guilds without members have no list.
  var members: [UInt64: [UInt64]] = [:]
  /// By guild, the artisans of the board in their order.
  var boards: [UInt64: [UInt64]] = [:]

  /// This state without the orders, which an undo does not restore.
  var unordered: GuildState {
    var state = self
    state.members = members.mapValues { $0.sorted() }
    state.boards = boards.mapValues { $0.sorted() }
    return state
  }

  // MARK: Rules

  /// The error codes of broken unique keys and rules, which each call checks.
  var violations: [StoreError.Code] {
    var codes: [StoreError.Code] = []
    func areUnique<Key: Hashable>(_ keys: some Sequence<Key>) -> Bool {
      var seen: Set<Key> = []
      return keys.allSatisfy { seen.insert($0).inserted }
    }
    let numbers = artisans.values.compactMap { artisan in
      artisan.guild.flatMap { guild in artisan.number.map { [Int(guild), $0] } }
    }
    if !areUnique(guilds.values.map(\.name)) || !areUnique(artisans.values.map(\.name))
      || !areUnique(works.values.map(\.title)) || !areUnique(numbers)
    {
      codes.append(.uniqueViolation)
    }
    if artisans.values.contains(where: { $0.number != nil && $0.guild == nil }) {
      codes.append(.invalidValue)
    }
    return codes
  }

  /// The error codes of broken late rules and of ids without a record, which the commit checks.
  var lateViolations: [StoreError.Code] {
    var codes: [StoreError.Code] = []
    if members.contains(where: { guilds[$0.key] != nil && $0.value.count > Guild.most }) {
      codes.append(.invalidValue)
    }
    let led = guilds.values.compactMap(\.parent) + artisans.values.compactMap(\.guild)
    if led.contains(where: { guilds[$0] == nil })
      || works.values.contains(where: { $0.maker.map { artisans[$0] == nil } ?? false })
    {
      codes.append(.missingTarget)
    }
    return codes
  }

  /// The state without the lists of missing guilds, to which a running write may refer.
  var readable: GuildState {
    var state = self
    state.members = members.filter { guilds[$0.key] != nil }
    state.boards = boards.filter { guilds[$0.key] != nil }
    return state
  }

  func checked() throws(Refusal) -> GuildState {
    let codes = violations
    if !codes.isEmpty { throw Refusal(codes: codes) }
    return self
  }

  // MARK: Links

  /// Makes `guild` the guild of an artisan, at the end of its members.
  mutating func setGuild(_ guild: UInt64?, of artisan: UInt64) {
    guard let before = artisans[artisan], before.guild != guild else { return }
    if let old = before.guild { edit(&members, old) { $0.removeAll { $0 == artisan } } }
    artisans[artisan]?.guild = guild
    if let guild { edit(&members, guild) { $0.append(artisan) } }
  }

  func edit(
    _ lists: inout [UInt64: [UInt64]], _ owner: UInt64, _ change: (inout [UInt64]) -> Void
  ) {
    var list = lists[owner] ?? []
    change(&list)
    lists[owner] = list.isEmpty ? nil : list
  }

  // MARK: Deletes

  // A delete of a missing record does nothing, even if the write adds references to it.

  mutating func delete(guilds named: Set<UInt64>) {
    let gone = named.filter { guilds[$0] != nil }
    for id in gone {
      guilds[id] = nil
      for artisan in members[id] ?? [] { artisans[artisan]?.guild = nil }
      members[id] = nil
      boards[id] = nil
    }
    for (id, guild) in guilds where guild.parent.map({ gone.contains($0) }) ?? false {
      guilds[id]?.parent = nil
    }
  }

  mutating func delete(artisans named: Set<UInt64>) throws(Refusal) {
    let gone = named.filter { artisans[$0] != nil }
    for work in works.values where work.isLent && work.maker.map({ gone.contains($0) }) ?? false {
      throw Refusal(codes: [.deleteDenied])
    }
    for id in gone { artisans[id] = nil }
    for (id, work) in works where work.maker.map({ gone.contains($0) }) ?? false { works[id] = nil }
    for id in members.keys { edit(&members, id) { $0.removeAll { gone.contains($0) } } }
    for id in boards.keys { edit(&boards, id) { $0.removeAll { gone.contains($0) } } }
  }
}

extension GuildState: CustomStringConvertible {
  var description: String {
    let guilds = guilds.sorted { $0.key < $1.key }.map { id, guild in
      let members = members[id] ?? [], board = boards[id] ?? []
      return "g\(id) \(guild) \(members) \(board)"
    }
    let artisans = artisans.sorted { $0.key < $1.key }.map { "a\($0.key) \($0.value)" }
    let works = works.sorted { $0.key < $1.key }.map { "w\($0.key) \($0.value)" }
    return (guilds + artisans + works).joined(separator: "; ")
  }

  /// The parts of this state that `other` lacks.
  func without(_ other: GuildState) -> String {
    let known = Set("\(other)".split(separator: ";").map { $0.trimmingPrefix(" ") })
    return "\(self)".split(separator: ";").map { $0.trimmingPrefix(" ") }
      .filter { !known.contains($0) }.joined(separator: "; ")
  }
}

extension GuildState.GuildRow: CustomStringConvertible {
  var description: String { "\(name) under \(parent ?? 0)" }
}

extension GuildState.ArtisanRow: CustomStringConvertible {
  var description: String {
    "\(name) of \(guild ?? 0) no \(number ?? -1)\(isActive ? "" : " resting")"
  }
}

extension GuildState.WorkRow: CustomStringConvertible {
  var description: String {
    "\(title) at \(price)\(isLent ? " lent" : "") by \(maker ?? 0) \(tags) grade \(grade)"
  }
}

extension Disagreement {
  init(_ what: some Any, _ found: GuildState, _ expected: GuildState) {
    self.init("\(what)\nfound \(found.without(expected))\nmodel \(expected.without(found))")
  }
}

// The state of a store.

extension GuildState {
  /// Reads all records and links.
  ///
  /// - Parameter checksDerived: Whether to compare derived attributes with their sources, which
  ///   agree at every commit.
  init<T: ReadableTransaction & ~Copyable>(_ view: borrowing T, checksDerived: Bool = true) throws {
    let guilds = try view.fetch(Guild.all)
    let artisans = try view.fetch(Artisan.all)
    for guild in guilds {
      let id = guild.id.rawValue
      self.guilds[id] = .init(name: guild.name, parent: guild.parent?.rawValue)
      let members = try view.relatedIDs(Guild.members, of: guild.id).map(\.rawValue)
      self.members[id] = members.isEmpty ? nil : members
      let board = try view.relatedIDs(Guild.board, of: guild.id).map(\.rawValue)
      boards[id] = board.isEmpty ? nil : board
    }
    for artisan in artisans {
      self.artisans[artisan.id.rawValue] = .init(
        name: artisan.name, guild: artisan.guild?.rawValue, number: artisan.number,
        isActive: artisan.isActive)
    }
    for work in try view.fetch(Work.all) {
      works[work.id.rawValue] = .init(
        title: work.title, price: work.price, isLent: work.isLent, maker: work.maker?.rawValue,
        tags: work.tags)
    }
    if checksDerived { try checkDerived(guilds, artisans) }
  }

  private func checkDerived(_ guilds: [Guild], _ artisans: [Artisan]) throws {
    var priceTotals: [UInt64: Int] = [:]
    for work in works.values {
      if let maker = work.maker { priceTotals[maker, default: 0] += work.price }
    }
    for artisan in artisans {
      let name = artisan.guild.flatMap { self.guilds[$0.rawValue]?.name }
      guard artisan.guildName == name, artisan.priceTotal == priceTotals[artisan.id.rawValue] ?? 0
      else { throw Disagreement("\(artisan), should have \(name ?? "-"), \(priceTotals)") }
    }
    for guild in guilds {
      let list = members[guild.id.rawValue] ?? []
      let rows = list.compactMap { self.artisans[$0] }
      let branches = self.guilds.filter { $0.value.parent == guild.id.rawValue }.keys
      let branchSize = branches.reduce(0) { $0 + (members[$1]?.count ?? 0) }
      let total = list.reduce(0) { $0 + (priceTotals[$1] ?? 0) }
      guard guild.size == list.count, guild.active == rows.count(where: \.isActive),
        guild.branchSize == branchSize, guild.priceTotal == total
      else { throw Disagreement("\(guild), should have \(list), \(branchSize), \(total)") }
    }
    let linked = self.artisans.filter { $0.value.guild != nil }
    for (id, artisan) in linked where !(members[artisan.guild ?? 0] ?? []).contains(id) {
      throw Disagreement("artisan \(id) is no member of \(artisan)")
    }
    guard members.values.reduce(0, { $0 + $1.count }) == linked.count else {
      throw Disagreement("members \(members) of \(linked)")
    }
  }

  /// Compares queries over indexes, elements, derived attributes and related records.
  func compareQueries<T: ReadableTransaction & ~Copyable>(
    _ view: borrowing T, _ numbers: inout SeededNumbers
  ) throws {
    let price = numbers.below(8)
    let tag = GuildOperation.tags[numbers.below(GuildOperation.tags.count)]
    let size = numbers.below(4)
    let name = "g\(numbers.below(6))"
    func compare(_ what: String, _ found: [UInt64], _ expected: some Sequence<UInt64>) throws {
      let expected = expected.sorted()
      if found != expected { throw Disagreement("\(what): \(found), the model \(expected)") }
    }
    try compare(
      "price > \(price)", try view.ids(Work.where { $0.price > price }).map(\.rawValue).sorted(),
      works.filter { $0.value.price > price }.keys)
    try compare(
      "tag \(tag)", try view.ids(Work.where { $0.tags.contains(tag) }).map(\.rawValue),
      works.filter { $0.value.tags.contains(tag) }.keys)
    try compare(
      "size \(size)", try view.ids(Guild.where { $0.size == size }).map(\.rawValue),
      guilds.keys.filter { (members[$0]?.count ?? 0) == size })
    try compare(
      "guild \(name)", try view.ids(Artisan.where { $0.guildName == name }).map(\.rawValue),
      artisans.filter { $0.value.guild.flatMap { guilds[$0]?.name } == name }.keys)
    try compare(
      "guild's name \(name)",
      try view.ids(try Artisan.where(format: "guild.name == %@", name)).map(\.rawValue),
      artisans.filter { $0.value.guild.flatMap { guilds[$0]?.name } == name }.keys)
  }
}

internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// The differences between a commit and the point of a history token.
///
/// The history is read once, for the records and links that changed and for the first change of
/// each. The current state comes from the commit.
struct HistoryDifferences: DifferenceSource {
  private typealias LinksOfHistory = (
    relationship: UInt32, pairs: [(pair: LinkPair, wasThere: Bool)]
  )

  private let side: DifferenceSide
  /// The number of the write after which the differences begin.
  private let token: UInt64
  /// The records with a change, by entity.
  private var records: [RecordsOfHistory] = []
  /// The links with a change since the token, and whether each of them existed before the change.
  private var links: [LinksOfHistory] = []
  /// The entities that the history does not record completely, and `buckets`.
  private(set) var uncompared: [String] = []
  /// The history contains no changes of the schema.
  var schema: [SchemaDifference] { [] }
  private var step = 0
  /// The place where the current step continues: the next record id, or the next index in a list of
  /// links.
  private var place: UInt64 = 0

  init(_ side: DifferenceSide, since token: HistoryToken, entities: Set<String>?) throws {
    self.side = side
    self.token = token.number
    try side.read { core in try read(core, token, entities) }
  }

  // MARK: Reading the history

  private mutating func read(
    _ core: TransactionCore, _ token: HistoryToken, _ names: Set<String>?
  ) throws {
    for name in (names ?? []).sorted() {
      guard try core.entity(named: name).description.history != nil else {
        throw StoreError(
          .invalidQuery,
          "cannot find the changes of \(name): it keeps no history; declare it with history: "
            + ".kept(), or compare two stores", entity: name)
      }
    }
    let log = HistoryLog(core)
    try log.check(token)
    var byNumber: [EntityNumber: RecordsOfHistory] = [:]
    var restarted: Set<EntityNumber> = []
    var pairs: [UInt32: [LinkPair: Bool]] = [:]
    for entity in core.schema.entities where names?.contains(entity.name) ?? true {
      if entity.description.history == nil {
        uncompared.append(entity.name)
      } else {
        byNumber[entity.number] = RecordsOfHistory(entity)
      }
    }
    if names == nil { uncompared.append("buckets") }
    var image: UInt64?
    var firstImage: UInt64?
    try log.forEachPart(from: token.number + 1) { number, _, part in
      if let header = part.header { image = header.images ?? number }
      if firstImage == nil { firstImage = image }
      for change in part.changes {
        if change.kind == .restarted { restarted.insert(change.entity) }
        byNumber[change.entity]?.add(change, image: image ?? number)
      }
      for group in part.links {
        guard Self.isWanted(group.relationship, names, core) else { continue }
        for pair in group.pairs where pairs[group.relationship]?[pair] == nil {
          pairs[group.relationship, default: [:]][pair] = group.kind != .added
        }
      }
      return true
    }
    for number in restarted {
      if let changed = byNumber[number] { uncompared.append(changed.pair.name) }
    }
    // The first write after the token may share its commit, and so the stored images, with writes
    // before the token.
    if let firstImage, firstImage <= token.number {
      try log.forEachPart(from: firstImage) { number, _, part in
        guard number <= token.number else { return false }
        for change in part.changes { byNumber[change.entity]?.addEarlier(change) }
        return true
      }
    }
    for number in byNumber.keys { byNumber[number]?.finish() }
    records = core.schema.entities.compactMap { byNumber[$0.number] }.filter {
      !$0.firsts.isEmpty
    }
    links = pairs.sorted { $0.key < $1.key }.map { number, pairs in
      (number, pairs.map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 })
    }
  }

  private static func isWanted(
    _ number: UInt32, _ names: Set<String>?, _ core: TransactionCore
  ) -> Bool {
    guard let names else { return true }
    guard let found = core.schema.relationship(number) else { return false }
    return names.contains(found.from.name) || names.contains(found.to.name)
  }

  // MARK: Differences

  mutating func advance(
    _ budget: inout DifferenceBudget, _ visit: (FoundDifference) throws -> Void
  ) throws -> Bool {
    let side = side
    return try side.read { core in
      while step < records.count + links.count {
        if budget.isSpent { return true }
        let isDone =
          step < records.count
          ? try runRecords(records[step], core, &budget, visit)
          : try runLinks(links[step - records.count], core, &budget, visit)
        if isDone {
          step += 1
          place = 0
        }
      }
      return false
    }
  }

  private mutating func runRecords(
    _ changes: RecordsOfHistory, _ core: TransactionCore, _ budget: inout DifferenceBudget,
    _ visit: (FoundDifference) throws -> Void
  ) throws -> Bool {
    guard let entity = changes.pair.newer else { return true }
    let log = HistoryLog(core)
    let cursor = try Cursor(entity.records, in: core.transaction)
    let start = changes.firsts.partitioningIndex { $0.ids.upperBound > place }
    for first in changes.firsts[start...] {
      var id = max(place, first.ids.lowerBound)
      while id < first.ids.upperBound {
        // A record that was inserted and deleted after the token is not a difference, so the loop
        // skips missing ids.
        if !first.wasThere {
          guard try cursor.seek(atOrAfter: id), first.ids.contains(cursor.integerKey),
            cursor.integerKey >= id
          else { break }
          id = cursor.integerKey
        }
        place = id
        if budget.isSpent { return false }
        budget.visits -= 16
        if let found = try difference(
          of: id, since: first, in: changes, of: entity, log: log, core: core)
        {
          budget.find(found.byteCount)
          try visit(.record(found))
        }
        id += 1
      }
      place = max(place, first.ids.upperBound)
    }
    return true
  }

  /// Returns the difference of one record; `nil` when its state is unchanged.
  private func difference(
    of id: UInt64, since first: RecordsOfHistory.FirstChange, in changes: RecordsOfHistory,
    of entity: StoredEntity, log: HistoryLog, core: TransactionCore
  ) throws -> FoundRecord? {
    let new = try core.record(id, of: entity)
    // Reads leave out expired records, so a new record that has expired is not a difference.
    if !first.wasThere, new == nil { return nil }
    let kind = HistoryChange.Kind(wasThere: first.wasThere, isThere: new != nil)
    let old = first.wasThere ? try image(of: id, first, changes, entity, log) : nil
    var changed: [Int] = []
    var preserved: Document?
    if let old, let new {
      if changes.pair.areEqual(old, new) { return nil }
      let (oldView, newView) = (try entity.view(old, id: id), try entity.view(new, id: id))
      changed = try changes.pair.differing(oldView, newView)
      if changed.isEmpty { return nil }
    } else if kind == .updated {
      changed = changes.pair.attributes.indices.filter { position in
        guard let number = changes.pair.attributes[position].newer?.number else { return false }
        return changes.attributes[number]?.contains(id) ?? false
      }
    } else if kind == .deleted, old == nil {
      preserved = try log.keptDocument(
        .tombstone(entity: entity.number, id: id, write: 0), of: nil)
    }
    for bytes in [old, new] {
      if let bytes { try entity.verifyChecksum(of: try entity.view(bytes, id: id), id: id) }
    }
    return FoundRecord(
      pair: changes.pair, kind: kind, oldID: first.wasThere ? id : 0, newID: new == nil ? 0 : id,
      old: old, new: new, changed: changed, preserved: preserved, older: core, newer: core)
  }

  /// Returns the record at the token; `nil` when its first change since then kept no image.
  private func image(
    of id: UInt64, _ first: RecordsOfHistory.FirstChange, _ changes: RecordsOfHistory,
    _ entity: StoredEntity, _ log: HistoryLog
  ) throws -> ByteView? {
    if first.image <= token, changes.earlier.contains(id) { return nil }
    return try log.image(.image(entity: entity.number, id: id, write: first.image))
  }

  private mutating func runLinks(
    _ changes: LinksOfHistory, _ core: TransactionCore, _ budget: inout DifferenceBudget,
    _ visit: (FoundDifference) throws -> Void
  ) throws -> Bool {
    guard let relationship = core.schema.relationship(changes.relationship),
      let index = relationship.linksFrom
    else { return true }
    let cursor = try LinkCursor(index, core: core)
    let expired = try ExpiredLinks(relationship, core)
    let pair = RelationshipPair(older: relationship, newer: relationship)
    for position in Int(clamping: place)..<changes.pairs.count {
      if budget.isSpent {
        place = UInt64(position)
        return false
      }
      budget.visits -= 16
      let link = changes.pairs[position]
      let isThere =
        try !expired.contains(link.pair.from, link.pair.to)
        && cursor.contains(link.pair.from, link.pair.to)
      guard isThere || link.wasThere else { continue }
      let kind: HistoryLinks.Kind = !link.wasThere ? .added : isThere ? .moved : .removed
      // Without an order, a link that was removed and added again is unchanged.
      if kind == .moved, relationship.orderFrom == nil, relationship.orderTo == nil { continue }
      budget.find(32)
      if let found = pair.difference(kind, link.pair.from, link.pair.to) { try visit(.link(found)) }
    }
    return true
  }
}

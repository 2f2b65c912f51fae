internal import LMDB
internal import LodestoreFormat

/// The rules of one `deduplicate` step.
struct DuplicateRules {
  var survivor: (MigratedRecord, MigratedRecord) throws -> MigrationStep.Survivor
  var merge: DuplicateMerge
  var links: DuplicateLinks
}

extension MigrationRun {
  func deduplicate(_ name: String, by attributes: [String], _ rules: DuplicateRules) throws {
    let core = try core()
    let entity = try core.entity(named: name)
    let names = MigratedRecord.Names(entity.description)
    func record(_ id: UInt64) throws -> MigratedRecord {
      guard let values = try core.changes(of: entity).values(of: id) else {
        throw StoreError.noSuchRecord(entity: name, id: id)
      }
      return MigratedRecord(id: id, names, values)
    }
    let groups = try self.groups(of: entity, by: attributes, core) { first, second in
      let survivor = try rules.survivor(try record(first), try record(second))
      try names.check()
      return survivor == .first ? first : second
    }
    guard !groups.isEmpty else { return report("no records are alike") }
    var gone = groups.flatMap(\.others)
    IDSort.sort(&gone)
    guard rules.links == .move else {
      let before = try core.count(of: entity)
      try merge(groups, by: rules.merge, of: entity, in: core, gone: gone, record: record) {
        _ = try core.delete(gone, of: entity)
      }
      try end(core)
      let others = before - gone.count - (try core.count(of: entity))
      return report(
        "\(gone.count) records go, for \(groups.count) that stay"
          + (others == 0 ? "" : "; \(others) others go with them by the rules of relationships"))
    }
    var heirs: [UInt64: UInt64] = [:]
    for group in groups { for other in group.others { heirs[other] = group.stays } }
    var move = DuplicateMove(entity, heirs: heirs, gone: gone, run: self, core: core)
    try move.run()
    let filled = try merge(
      groups, by: rules.merge, of: entity, in: core, gone: gone, record: record
    ) {
      _ = try core.erase(gone, of: entity)
    }
    try end(core)
    report(
      "\(gone.count) records are merged into \(groups.count), with \(move.movedLinks) links and "
        + "\(move.movedIDs) ids that led to them, and \(filled) changed values"
        + (move.droppedIDs == 0
          ? "" : "; \(move.droppedIDs) ids become null, as the record that stays has one already"))
  }

  /// Duplicate records, and the one of them that survives.
  private struct Group {
    var stays: UInt64
    var others: [UInt64]
  }

  private func groups(
    of entity: StoredEntity, by attributes: [String], _ core: WriteCore,
    _ survivor: (UInt64, UInt64) throws -> UInt64
  ) throws -> [Group] {
    let numbers = try attributes.map {
      entity.description.attributes[try self.index(of: $0, in: entity.description)].number
    }
    guard let entries = try core.uniqueEntries(over: numbers, of: entity, work) else { return [] }
    var groups: [Group] = []
    var key: [UInt8] = []
    var ids: [UInt64] = []
    func close() throws {
      guard var stays = ids.first, ids.count > 1 else { return }
      for id in ids.dropFirst() { stays = try survivor(min(stays, id), max(stays, id)) }
      groups.append(Group(stays: stays, others: ids.filter { $0 != stays }))
    }
    try entries.sorted.forEach { next, id in
      if !ids.isEmpty, key.elementsEqual(next) {
        ids.append(id)
        return true
      }
      try close()
      key = Array(next)
      ids = [id]
      return true
    }
    try close()
    return groups
  }

  /// Updates each surviving record to its merged values, after `remove` has removed the others;
  /// returns the number of changed values.
  ///
  /// All values are read and merged before the first record is removed, because delete rules may
  /// remove records of several groups together.
  @discardableResult
  private func merge(
    _ groups: [Group], by merge: DuplicateMerge, of entity: StoredEntity, in core: WriteCore,
    gone: [UInt64], record: (UInt64) throws -> MigratedRecord, remove: () throws -> Void
  ) throws -> Int {
    let gone = Set(gone)
    let own = core.schema.relationships.filter { $0.from === entity && $0.to === entity }
      .compactMap(\.description.attribute)
    let positions = own.compactMap { entity.layout.slotIndex(ofAttribute: $0) }
    var merged: [(id: UInt64, values: [Int: Value])] = []
    for group in groups {
      let before = try record(group.stays)
      var after = before
      for other in group.others { try merge.body(&after, try record(other)) }
      // The merged values of the surviving record must not contain its own id, nor the id of a
      // removed record.
      for position in positions {
        guard case .integer(let number) = after.values[position],
          let id = UInt64(exactly: number)
        else { continue }
        if id == group.stays || gone.contains(id) {
          after.values[position] = before.values[position]
        }
      }
      let values = try after.checkedValues()
      let changed = values.indices.filter { values[$0] != before.values[$0] }
      guard !changed.isEmpty else { continue }
      merged.append(
        (group.stays, Dictionary(uniqueKeysWithValues: changed.map { ($0, values[$0]) })))
    }
    // Records are removed first, so that their unique values can move to the surviving record.
    try remove()
    for group in groups where try core.record(group.stays, of: entity) == nil {
      throw StoreError.cannotMigrate(
        "\(entity.name) \(group.stays) is to stay in place of \(group.others[0]), and would be deleted "
          + "by the rules of its relationships; take 'links: .move', or let another record stay",
        entity: entity.name, recordID: group.stays)
    }
    for (id, others) in merged {
      // Delete rules may have set ids in the surviving record to null, so it is read again.
      var values = try record(id).values
      for (position, value) in others { values[position] = value }
      let changes = core.changes(of: entity)
      _ = try changes.update(id, to: try changes.encode(values))
    }
    return merged.reduce(0) { $0 + $1.values.count }
  }
}

extension TransactionCore {
  /// Returns the sorted entries that a unique index on the attributes `numbers` would have; `nil`
  /// when there are no records.
  func uniqueEntries(
    over numbers: [UInt32], of entity: StoredEntity, _ work: OpeningWork?
  ) throws(StoreError) -> IndexEntries? {
    let index = StoredIndex(
      description: .init(number: 0, attributes: numbers, isUnique: true), tree: entity.records,
      name: entity.name, entityName: entity.name)
    return try sortedEntries(of: index, of: entity, work)
  }
}

/// Redirects links and ids from removed records to the surviving ones.
private struct DuplicateMove {
  private let entity: StoredEntity
  /// The surviving record for each removed one.
  private let heirs: [UInt64: UInt64]
  /// The ids of the removed records, in ascending order.
  private let gone: [UInt64]
  private let migration: MigrationRun
  private let core: WriteCore
  private(set) var movedLinks = 0
  private(set) var movedIDs = 0
  private(set) var droppedIDs = 0

  init(
    _ entity: StoredEntity, heirs: [UInt64: UInt64], gone: [UInt64], run: MigrationRun,
    core: WriteCore
  ) {
    self.entity = entity
    self.heirs = heirs
    self.gone = gone
    migration = run
    self.core = core
  }

  mutating func run() throws {
    for end in core.schema.ends(of: entity) {
      if let attribute = end.opposite.attribute {
        try moveIDs(in: attribute, end)
      } else if end.relationship.linksFrom != nil {
        try moveLinks(end)
      }
    }
    movePendingLinks()
  }

  /// Returns the id of the record that survives in place of record `id` of the entity `other`; `id`
  /// itself when that record stays.
  private func heir(_ id: UInt64, of other: StoredEntity) -> UInt64 {
    other.number == entity.number ? heirs[id] ?? id : id
  }

  // MARK: Ids in attributes

  private mutating func moveIDs(
    in attribute: EntityDescription.Attribute, _ end: RelationshipEnd
  ) throws {
    let holder = end.target
    let names = MigratedRecord.Names(holder.description)
    let changes = core.changes(of: holder)
    let isUnique = end.links?.isUnique ?? false
    var moves: [(holder: UInt64, target: UInt64)] = []
    try core.forEachRelated(of: gone, by: end) { (target, id) throws(StoreError) in
      moves.append((id, target))
      return true
    }
    migration.touched.formUnion([holder.number, entity.number])
    let order = try LinkOrderWriter(end, core: core)
    for move in moves {
      guard let heir = heirs[move.target], let values = try changes.values(of: move.holder)
      else { continue }
      var record = MigratedRecord(id: move.holder, names, values)
      let leadsToItself =
        self.heir(move.holder, of: holder) == heir && holder.number == entity.number
        && move.holder != move.target
      let isTaken = try isUnique && !core.orderedIDs(of: heir, by: end).isEmpty
      if (leadsToItself || isTaken) && attribute.isOptional {
        record.set(attribute.name, .null)
        droppedIDs += 1
      } else {
        record.set(attribute.name, .integer(unsigned: heir))
        movedIDs += 1
        if let order {
          try order.remove(move.holder, from: move.target)
          if try order.position(of: move.holder, in: heir) == nil {
            try order.append([move.holder], to: heir)
          }
        }
      }
      _ = try changes.update(move.holder, to: try changes.encode(try record.checkedValues()))
    }
  }

  // MARK: Links in link trees

  private mutating func moveLinks(_ end: RelationshipEnd) throws {
    var pairs: [(id: UInt64, other: UInt64)] = []
    try core.forEachRelated(of: gone, by: end) { (id, other) throws(StoreError) in
      pairs.append((id, other))
      return true
    }
    guard !pairs.isEmpty else { return }
    migration.touched.formUnion([end.source.number, end.target.number])
    try moveOrders(pairs, end)
    var old = LinkList(expectedCount: pairs.count)
    var new = LinkList(expectedCount: pairs.count)
    for pair in pairs {
      old.append(pair.id, pair.other)
      guard let id = heirs[pair.id] else { continue }
      let other = heir(pair.other, of: end.target)
      // A link between two records that become one is dropped.
      if end.target.number == entity.number, id == other, pair.id != pair.other { continue }
      new.append(id, other)
    }
    _ = try core.removeLinks(old, by: end)
    movedLinks += try core.addLinks(new, by: end)
  }

  private func moveOrders(_ pairs: [(id: UInt64, other: UInt64)], _ end: RelationshipEnd) throws {
    if let order = try LinkOrderWriter(end, core: core) {
      var owners: [UInt64] = []
      for pair in pairs where owners.last != pair.id { owners.append(pair.id) }
      for owner in owners {
        guard let stays = heirs[owner] else { continue }
        for other in try order.ids(of: owner) {
          try order.remove(other, from: owner)
          let next = heir(other, of: end.target)
          if next != stays || end.target.number != entity.number,
            try order.position(of: next, in: stays) == nil
          {
            try order.append([next], to: stays)
          }
        }
      }
    }
    guard let order = try LinkOrderWriter(end.opposite, core: core) else { return }
    for pair in pairs {
      guard let stays = heirs[pair.id],
        let position = try order.position(of: pair.id, in: pair.other)
      else { continue }
      let owner = heir(pair.other, of: end.target)
      if stays != owner || end.target.number != entity.number,
        try order.position(of: stays, in: owner) == nil
      {
        if owner == pair.other {
          try order.insert(stays, in: owner, after: position)
        } else {
          try order.append([stays], to: owner)
        }
      }
      try order.remove(pair.id, from: pair.other)
    }
  }

  /// Redirects links that an earlier step requested, and that are created only at the end of the
  /// migration.
  private func movePendingLinks() {
    for index in migration.links.indices {
      func source(_ id: UInt64) -> UInt64 {
        migration.links[index].source == entity.number ? heirs[id] ?? id : id
      }
      func target(_ id: UInt64) -> UInt64 {
        migration.links[index].target == entity.number ? heirs[id] ?? id : id
      }
      let link = migration.links[index]
      migration.links[index].pairs = link.pairs.map { (source($0.source), target($0.target)) }
      var orders: [UInt64: [UInt64]] = [:]
      for order in link.orders {
        for id in order.sources.map(source)
        where !orders[target(order.target), default: []].contains(id) {
          orders[target(order.target), default: []].append(id)
        }
      }
      migration.links[index].orders = orders.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
  }
}

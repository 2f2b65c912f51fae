internal import LMDB
internal import LodestoreFormat

extension WriteTransaction {
  /// Takes back what the write behind `token` did, as changes of this one.
  ///
  /// The undo is a write, which can be undone in its turn, by its own token: that makes the changes
  /// again.
  ///
  ///     let undo = try store.write { tx in
  ///       try tx.undo(token)
  ///       return try tx.ownHistoryToken()
  ///     }
  ///
  /// Records that it inserted are removed, those that it deleted are there again under their ids, and attributes
  /// that it changed have their old values. Links likewise.
  ///
  /// To be called before anything else is changed in the transaction. All entities that the write changed must
  /// keep images; see ``HistoryPolicy/kept(preserving:images:)``. Positions in ordered relationships are not
  /// kept: what comes back comes last, and a write that moved records is not taken back.
  ///
  /// - Returns: how many records were changed.
  /// - Throws: ``StoreError/Code/cannotUndo``, before anything is changed, when a later write has changed the
  ///   same attributes of a record, has deleted or linked it, when an image was not kept, or when
  ///   later changes may have been told nowhere, because the history of the entity is off or began
  ///   anew; other errors, such as a unique key that is in use again, leave a transaction that
  ///   cannot be committed. A later
  ///   write that has been undone itself is not in the way, nor is its undo.
  @discardableResult
  public mutating func undo(_ token: HistoryToken) throws -> Int {
    guard core.changeCount == 0 else {
      throw StoreError.cannotUndo(
        token.number, "this transaction has changed records already; undo in one of its own")
    }
    let undoing = try HistoryUndo(token, core)
    try undoing.check()
    return try undoing.apply()
  }
}

/// What is to be done to take back a write.
private struct HistoryUndo {
  private let core: TransactionCore
  private let log: HistoryLog
  private let number: UInt64
  private var image: UInt64 = 0
  private var changes: [HistoryPart.Change] = []
  private var links: [HistoryPart.Links] = []

  init(_ token: HistoryToken, _ core: TransactionCore) throws {
    self.core = core
    log = HistoryLog(core)
    number = token.number
    try log.check(token, includesWrite: token.number > 0)
    var found: [HistoryPart] = []
    try log.forEachPart(from: token.number) { number, _, part in
      guard number == token.number else { return false }
      found.append(part)
      return true
    }
    guard let header = found.first?.header else {
      throw StoreError.cannotUndo(token.number, "the history does not tell of it")
    }
    image = header.images ?? token.number
    changes = found.flatMap(\.changes)
    links = found.flatMap(\.links)
  }

  private func entity(_ number: EntityNumber) throws(StoreError) -> StoredEntity {
    guard let entity = core.schema.entities.first(where: { $0.number == number }) else {
      throw .cannotUndo(self.number, "entity \(number) is not there any more")
    }
    return entity
  }

  // MARK: Checks

  func check() throws {
    if let moved = links.first(where: { $0.kind == .moved }) {
      let names = core.schema.relationships.filter { $0.description.number == moved.relationship }
        .flatMap { [$0.end(.from), $0.end(.to)] }.filter { $0.order != nil }.map(\.label)
      throw StoreError.cannotUndo(
        number,
        "it moved records in \(names.first ?? "a relationship"), whose order before is not kept")
    }
    for change in changes {
      let entity = try entity(change.entity)
      guard change.kind != .restarted else {
        throw StoreError.cannotUndo(number, "it is where the history of \(entity.name) begins")
      }
      guard entity.description.history != nil else {
        throw StoreError.cannotUndo(
          number,
          "\(entity.name) keeps no history any more, and later changes of it are told nowhere")
      }
      guard change.kind != .inserted else { continue }
      var restored: [UInt32]?
      if case .updated(let attributes) = change.kind { restored = attributes }
      for id in change.ids { try checkImage(id, of: entity, restored) }
    }
    try checkLaterWrites()
    for change in changes where change.kind == .deleted {
      let entity = try entity(change.entity)
      for id in change.ids where try core.record(id, of: entity) != nil {
        throw StoreError.cannotUndo(
          number, "\(entity.name) \(id), which it deleted, is there", entity, id)
      }
    }
    for change in changes where change.kind == .inserted {
      try checkUnlinked(change.ids, of: try entity(change.entity))
    }
  }

  /// Throws when there is no image of a record, or none that can be restored.
  ///
  /// - Parameter attributes: those that get the values of the image; `nil` for all.
  private func checkImage(
    _ id: UInt64, of entity: StoredEntity, _ attributes: [UInt32]?
  ) throws {
    guard let image = try log.image(key(entity, id)) else {
      throw StoreError.cannotUndo(
        number, "no image was kept of \(entity.name) \(id); see HistoryPolicy", entity, id)
    }
    let view = try entity.view(image, id: id)
    if view.layout === entity.layout { return }
    try entity.verifyChecksum(of: view, id: id)
    if let lacking = try entity.attribute(lackingIn: view, among: attributes) {
      throw StoreError.cannotUndo(
        number, "\(entity.name) \(id) had no value in '\(lacking)', which is required since",
        entity, id)
    }
  }

  /// Those of `ids` that are records.
  private func records(_ ids: IDRuns, of entity: StoredEntity) throws -> [UInt64] {
    var found: [UInt64] = []
    try ToldIDs(ids, recordsOf: entity, core).forEach { found.append($0) }
    return found
  }

  private func key(_ entity: StoredEntity, _ id: UInt64) -> HistoryKey {
    .image(entity: entity.number, id: id, transaction: image)
  }

  /// The later writes of which nothing is left: those that were taken back, and the undos of these.
  ///
  /// From the last one on, as an undo that was undone has taken nothing back.
  private func laterWritesTakenBack() throws -> Set<UInt64> {
    var takenBack: Set<UInt64> = []
    try log.forEachPart(from: number + 1, backwards: true) { later, _, part in
      if let undone = part.header?.undoes, undone > number, !takenBack.contains(later) {
        takenBack.formUnion([later, undone])
      }
      return true
    }
    return takenBack
  }

  /// Throws when a later write is in the way.
  private func checkLaterWrites() throws {
    let pairs = Dictionary(grouping: links, by: \.relationship)
      .mapValues { Set($0.flatMap(\.pairs)) }
    let takenBack = try laterWritesTakenBack()
    try log.forEachPart(from: number + 1) { later, _, part in
      if takenBack.contains(later) { return true }
      for change in part.changes {
        for mine in changes where mine.entity == change.entity {
          if change.kind == .restarted {
            throw StoreError.cannotUndo(
              number,
              "the history of \(try entity(mine.entity).name) began anew with write \(later), and "
                + "changes before that are told nowhere")
          }
          guard isInTheWay(change.kind, of: mine.kind) else { continue }
          let common = mine.ids.intersection(change.ids)
          guard let id = common.ranges.first?.lowerBound else { continue }
          let entity = try entity(mine.entity)
          throw StoreError.cannotUndo(
            number, "\(entity.name) \(id) was changed again by write \(later)", entity, id)
        }
      }
      for group in part.links {
        guard let mine = pairs[group.relationship],
          let pair = group.pairs.first(where: mine.contains)
        else { continue }
        throw StoreError.cannotUndo(
          number, "the link of \(pair.from) and \(pair.to) was changed again by write \(later)")
      }
      return true
    }
  }

  private func isInTheWay(
    _ later: HistoryPart.Change.Kind, of mine: HistoryPart.Change.Kind
  ) -> Bool {
    if case .updated(let changed) = later, case .updated(let mine) = mine {
      return !Set(mine).isDisjoint(with: changed)
    }
    return true
  }

  /// Throws when records that are to go are linked by something that stays.
  private func checkUnlinked(_ ids: IDRuns, of entity: StoredEntity) throws {
    let list = try records(ids, of: entity)
    for end in core.schema.ends(of: entity) where end.links != nil {
      let mine = Set(
        links.filter { $0.relationship == end.relationship.description.number && $0.kind == .added }
          .flatMap(\.pairs).map { end.side == .from ? $0 : LinkPair(from: $0.to, to: $0.from) })
      let going = changes.filter {
        $0.kind == .inserted && $0.entity == end.target.number
      }
      var found: (UInt64, UInt64)?
      try core.forEachRelated(of: list, by: end) { (id, other) throws(StoreError) in
        if mine.contains(LinkPair(from: id, to: other)) { return true }
        if going.contains(where: { $0.ids.contains(other) }) { return true }
        // A record that led here before the write will do so no more.
        if try isRestored(other, holding: end) { return true }
        found = (id, other)
        return false
      }
      if let (id, other) = found {
        throw StoreError.cannotUndo(
          number, "\(end.target.name) \(other) is linked to \(entity.name) \(id) since", entity, id)
      }
    }
  }

  /// Whether the attribute of record `other` by which it leads to a record is taken back, too.
  private func isRestored(_ other: UInt64, holding end: RelationshipEnd) throws(StoreError) -> Bool
  {
    guard let attribute = end.opposite.attribute?.number else { return false }
    return changes.contains { change in
      guard change.entity == end.target.number, case .updated(let numbers) = change.kind else {
        return false
      }
      return numbers.contains(attribute) && change.ids.contains(other)
    }
  }

  // MARK: Changes

  func apply() throws -> Int {
    var count = 0
    for group in links where group.kind == .added { try change(group) }
    // They may have the unique keys that others had.
    for change in changes where change.kind == .inserted {
      let entity = try entity(change.entity)
      count += try core.remove(try records(change.ids, of: entity), of: entity)
    }
    var updates: [EntityNumber: [(ids: IDRuns, attributes: [UInt32])]] = [:]
    for change in changes {
      guard case .updated(let attributes) = change.kind else { continue }
      updates[change.entity, default: []].append((change.ids, attributes))
    }
    for (number, groups) in updates.sorted(by: { $0.key < $1.key }) {
      count += try revert(groups, of: try entity(number))
    }
    for change in changes where change.kind == .deleted {
      let entity = try entity(change.entity)
      for id in change.ids { try restore(id, of: entity) }
      count += change.ids.count
    }
    for group in links where group.kind == .removed { try change(group) }
    core.changeCount += 1
    core.undone = (number, core.changeCount)
    return count
  }

  private func change(_ group: HistoryPart.Links) throws {
    guard
      let relationship = core.schema.relationships.first(where: {
        $0.description.number == group.relationship
      }), relationship.linksFrom != nil
    else { throw StoreError.cannotUndo(number, "a relationship of it is not there any more") }
    var list = LinkList(expectedCount: group.pairs.count)
    for pair in group.pairs { list.append(pair.from, pair.to) }
    let end = relationship.end(.from)
    _ =
      group.kind == .added ? try core.removeLinks(list, by: end) : try core.addLinks(list, by: end)
  }

  private func restore(_ id: UInt64, of entity: StoredEntity) throws(StoreError) {
    var content = try values(id, of: entity)
    try core.breakingOnError {
      try content.withMutableBytes { (bytes) throws(StoreError) in
        try core.changes(of: entity).restore(bytes.recordContent, id: id)
      }
    }
  }

  /// The image in the current layout, with room for its checksum.
  private func values(_ id: UInt64, of entity: StoredEntity) throws(StoreError) -> [UInt8] {
    guard let bytes = try log.image(key(entity, id)) else { return [] }
    let view = try entity.view(bytes, id: id)
    try entity.verifyChecksum(of: view, id: id)
    return try core.carriedOver(view, id: id, of: entity)
  }

  /// Gives records the values that attributes had; returns how many records.
  ///
  /// All records of an entity at once, as they may have exchanged unique keys.
  private func revert(
    _ groups: [(ids: IDRuns, attributes: [UInt32])], of entity: StoredEntity
  ) throws -> Int {
    var places: [UInt64: Set<Int>] = [:]
    for group in groups {
      let positions = Set(
        entity.layout.attributes.indices.filter {
          group.attributes.contains(entity.layout.attributes[$0].number)
        })
      for id in group.ids { places[id] = places[id]?.union(positions) ?? positions }
    }
    let changes = core.changes(of: entity)
    let batch = ChangeBatch(
      changes, memoryLimit: core.store.options.batchMemoryInBytes, core: core)
    var count = 0
    try core.breakingOnError {
      try core.forEachStored(places.keys.sorted(), of: entity) { id, cursor in
        guard let image = try log.image(key(entity, id)) else { return }
        let before = try entity.view(image, id: id)
        try entity.verifyChecksum(of: before, id: id)
        let current = try changes.stored(cursor.value, id: id, isCarriedOver: true)
        var values = try entity.values(of: current)
        let old = try entity.values(of: before)
        for position in places[id] ?? [] { values[position] = old[position] }
        var record = try changes.content(of: values)
        if let derived = try record.withBytes({ (bytes) throws(StoreError) in
          try changes.derived(bytes, over: current)
        }) {
          record = derived
        }
        try record.withUnsafeMutableBytes { bytes in
          let whole = changes.seal(bytes.recordContent, id: id)
          try changes.check(try entity.view(whole, id: id), id: id)
          try batch.replace(current, id: id, with: whole, at: cursor)
        }
        count += 1
      }
      try batch.finish(checksUnique: true)
    }
    return count
  }
}

extension StoreError {
  fileprivate static func cannotUndo(
    _ number: UInt64, _ reason: String, _ entity: StoredEntity? = nil, _ id: UInt64? = nil
  ) -> StoreError {
    StoreError(
      .cannotUndo, "cannot undo write \(number): \(reason)", entity: entity?.name, recordID: id)
  }
}

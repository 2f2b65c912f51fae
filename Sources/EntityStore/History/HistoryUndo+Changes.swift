internal import LMDB
internal import LodestoreFormat

extension HistoryUndo {
  /// Makes the changes of the undo, after ``check()`` has found no obstacle.
  func apply() throws -> PartialUndo {
    var count = 0
    for group in links where group.kind == .added { try change(group) }
    // Records are removed first, because they may have the unique keys of restored values.
    for change in changes where change.kind == .inserted {
      let entity = try entity(change.entity)
      count += try core.erase(try records(change.ids, of: entity), of: entity)
    }
    for entity in core.schema.entities { count += try revert(entity) }
    for change in changes where change.kind == .deleted {
      let entity = try entity(change.entity)
      for id in change.ids { try restore(id, of: entity) }
      count += change.ids.count
    }
    for group in links where group.kind == .removed { try change(group) }
    core.countChange()
    // The write is marked as undone only if no recorded change stays: a partly undone write remains
    // an obstacle for the undo of earlier writes.
    if !leavesRecordedChange { core.noteUndo(of: number) }
    return PartialUndo(recordCount: count, stayingEntities: staying.sorted())
  }

  private func change(_ group: HistoryPart.Links) throws {
    var list = LinkList(expectedCount: group.pairs.count)
    for pair in group.pairs { list.append(pair.from, pair.to) }
    let end = try relationship(group).end(.from)
    _ =
      group.kind == .added ? try core.removeLinks(list, by: end) : try core.addLinks(list, by: end)
  }

  private func restore(_ id: UInt64, of entity: StoredEntity) throws(StoreError) {
    guard let bytes = try log.image(imageKey(entity, id)) else {
      throw .damagedHistory(FormatError("\(entity.name) \(id) was deleted and has no image"))
    }
    let changes = core.changes(of: entity)
    let image = try changes.stored(bytes, id: id, isCarriedOver: true)
    try core.breakingOnError { try changes.restore(try changes.copy(of: image), id: id) }
  }

  /// The positions of the attributes to restore, by record.
  private func revertedPositions(of entity: StoredEntity) -> [UInt64: Set<Int>] {
    var positions: [UInt64: Set<Int>] = [:]
    func add(_ attributes: some Sequence<UInt32>, _ ids: some Sequence<UInt64>) {
      let found = Set(attributes.compactMap { entity.layout.slotIndex(ofAttribute: $0) })
      for id in ids { positions[id] = positions[id]?.union(found) ?? found }
    }
    for change in changes where change.entity == entity.number {
      if case .updated(let attributes) = change.kind { add(attributes, change.ids) }
    }
    for (id, attributes) in leading[entity.number] ?? [:] { add(attributes, CollectionOfOne(id)) }
    return positions
  }

  /// Restores attributes of `entity`'s records; returns the number of changed records.
  ///
  /// All records of an entity change in one batch, because they may have exchanged unique keys.
  private func revert(_ entity: StoredEntity) throws -> Int {
    let positions = revertedPositions(of: entity)
    guard !positions.isEmpty else { return 0 }
    let changes = core.changes(of: entity)
    var count = 0
    try changes.withChangeBatch(memoryLimit: core.store.options.batchMemoryInBytes) { batch in
      try core.forEachChangeable(positions.keys.sorted(), of: entity) { id, cursor in
        let current = try changes.stored(cursor.reads.value, id: id, isCarriedOver: true)
        var values = try changes.values(of: current)
        let old = try self.values(id, of: entity)
        // A record that was inserted in this commit has no image, and so no earlier values: the
        // attributes become null.
        for position in positions[id] ?? [] { values[position] = old?[position] ?? .null }
        let record = try changes.derived(try changes.encode(values), over: current)
        if try batch.change(current, to: record, at: cursor) { count += 1 }
      }
    }
    return count
  }

  /// Returns the values of a record's image, in the order of the current layout; `nil` without an
  /// image.
  private func values(_ id: UInt64, of entity: StoredEntity) throws -> [Value]? {
    guard let image = try log.image(imageKey(entity, id)) else { return nil }
    let before = try entity.view(image, id: id)
    try entity.verifyChecksum(of: before, id: id)
    return try entity.values(of: before)
  }
}

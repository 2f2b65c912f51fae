internal import LodestoreFormat

/// Records the changes of a write in the history, for the entities that keep one.
final class HistoryRecorder: ChangeSink {
  let name = "history"
  private let core: WriteCore
  private let log: WritableHistoryLog
  /// The number that the write gets in the history, if it is recorded.
  private let number: UInt64
  private var changes: [EntityNumber: NetChanges] = [:]
  private var links: [UInt32: NetLinks] = [:]
  /// For each entity, the records that were updated again after their image was stored.
  ///
  /// Such records may have the values of the image again.
  private var changedAgain: [EntityNumber: IDRuns] = [:]
  /// The entities without a history whose links the write has changed.
  private var entitiesWithUnrecordedLinks: Set<EntityNumber> = []
  /// Whether ``promisedNumber()`` has returned a number, so that the write must be recorded.
  private var isPromised = false

  /// Returns `nil` when no entity keeps a history.
  init?(_ schema: StoredSchema, core: WriteCore) throws(StoreError) {
    guard schema.keepsHistory else { return nil }
    self.core = core
    log = try WritableHistoryLog(creatingIn: core)
    number = try log.reads.lastNumber() + 1
  }

  func interest(in entity: StoredEntity) -> ChangeInterest? {
    guard let history = entity.description.history else { return nil }
    return history.keepsRecords
      ? [.attributes, .eachRemoval, .oldRecord] : [.attributes, .eachRemoval]
  }

  func record(_ change: RecordChange, of entity: StoredEntity) throws(StoreError) {
    switch change {
    case .inserted(let ids): try noteInserted(ids, entity)
    case .insertedRecord(let id, _): try noteInserted(id..<id + 1, entity)
    case .updated(let id, let old, _, let attributes):
      // If a record was only converted to the current layout, its values stay, so the history
      // records no change.
      guard let attributes, !attributes.isEmpty else { return }
      if let old, try !keepImage(old, id, entity) {
        changedAgain[entity.number, default: IDRuns()].append(id)
      }
      self[entity].update(id, attributes)
    case .removed(let id, let old):
      if let old {
        // The record is read before anything is written, as a write may move its page.
        let tombstone = try tombstone(of: old, id, entity)
        _ = try keepImage(old, id, entity)
        if let tombstone {
          try log.put(tombstone, .tombstone(entity: entity.number, id: id, write: number))
        }
      }
      self[entity].remove(id)
    case .cleared: break
    }
  }

  private func noteInserted(_ ids: Range<UInt64>, _ entity: StoredEntity) throws(StoreError) {
    let again = self[entity].insert(ids)
    if again.isEmpty { return }
    // A replay has removed these records before, so they are updated. Only their images are kept.
    for id in again {
      if entity.description.history?.keepsImages == true {
        changedAgain[entity.number, default: IDRuns()].append(id)
      }
      try log.delete(.tombstone(entity: entity.number, id: id, write: number))
    }
  }

  private subscript(entity: StoredEntity) -> NetChanges {
    @inline(__always) get { changes[entity.number] ?? NetChanges(of: entity) }
    @inline(__always) _modify {
      yield &changes[entity.number, default: NetChanges(of: entity)]
    }
  }

  /// Stores the image of a record before a change; returns false when an earlier image of this
  /// write exists.
  private func keepImage(
    _ old: RecordView, _ id: UInt64, _ entity: StoredEntity
  ) throws(StoreError) -> Bool {
    guard entity.description.history?.keepsImages == true, !self[entity].hasInserted(id) else {
      return true
    }
    return try log.keep(old.bytes, imageKey(id, entity))
  }

  private func imageKey(_ id: UInt64, _ entity: StoredEntity) -> HistoryKey {
    .image(entity: entity.number, id: id, write: number)
  }

  /// The values that are kept of a removed record; `nil` for none.
  private func tombstone(
    of old: RecordView, _ id: UInt64, _ entity: StoredEntity
  ) throws(StoreError) -> Document? {
    guard let preserved = entity.description.history?.preserved, !preserved.isEmpty,
      !self[entity].hasInserted(id)
    else { return nil }
    var members: [String: Document] = [:]
    do {
      for number in preserved {
        let attribute = entity.description.attribute(number: number)
        let value = try attribute.map { try old.value(of: $0) } ?? .null
        members["\(number)"] = EntityDescription.document(of: value)
      }
    } catch {
      throw .damagedRecord(entity: entity.name, recordID: id, error)
    }
    return .object(members)
  }

  func record(_ change: borrowing LinkChange) throws(StoreError) {
    let relationship = change.end.relationship
    guard isRecorded(relationship) else { return }
    links[relationship.description.number, default: NetLinks(relationship.end(.from))].note(change)
  }

  func recordMoves(_ ids: [UInt64], of owner: UInt64, by end: RelationshipEnd) throws(StoreError) {
    let relationship = end.relationship
    guard isRecorded(relationship) else { return }
    links[relationship.description.number, default: NetLinks(relationship.end(.from))]
      .noteMoves(ids, of: owner, by: end)
  }

  /// Returns whether the history records links of the relationship; if not, notes its entities.
  private func isRecorded(_ relationship: StoredRelationship) -> Bool {
    let entities = [relationship.from, relationship.to]
    if entities.contains(where: { $0.description.history != nil }) { return true }
    entitiesWithUnrecordedLinks.formUnion(entities.map(\.number))
    return false
  }

  func finish(_ core: WriteCore) throws(StoreError) {
    try dropRestoredRecords()
    let untold = unrecorded
    var sets = changes.sorted { $0.key < $1.key }.map { $0.value.result() }
    try dropMovesOfChangedLinks(sets)
    var linked = linkedByStep()
    let last = linked.removeLast()
    var next = number
    for (step, links) in zip(core.steps, linked) {
      let index = sets.firstIndex { $0.entity.number == step.entity }
      let part = index.map { sets[$0].within(step.ids) }
      if part?.isEmpty ?? true, links.isEmpty { continue }
      if let index { sets[index] = sets[index].without(step.ids) }
      var origin = core.origin
      origin.context = step.context
      try log.append(
        number: next, origin: origin, time: core.time, changes: part?.historyChanges() ?? [],
        links: links,
        images: number, untold: untold)
      next += 1
    }
    let recorded = sets.flatMap { $0.historyChanges(expired: core.evictedIDs[$0.entity.number]) }
    // An undo is recorded even if nothing was left to change, so that the undone write no longer
    // prevents other undos.
    guard !recorded.isEmpty || !last.isEmpty || isPromised || core.undone != nil else { return }
    var origin = core.origin
    if let step = core.steps.last { origin.context = step.context }
    try log.append(
      number: next, origin: origin, time: core.time, changes: recorded, links: last, images: number,
      undoes: core.undone?.number, untold: untold)
  }

  /// Compares records that were changed several times with their images, and drops changes of
  /// records that have their old values again.
  private func dropRestoredRecords() throws(StoreError) {
    for (number, runs) in changedAgain {
      guard let entity = changes[number]?.entity else { continue }
      let ids = runs.normalized
      var groups: [AttributeSet: IDRuns] = [:]
      for id in ids {
        let key = imageKey(id, entity)
        guard let image = try log.reads.image(key), let record = try core.record(id, of: entity)
        else {
          continue
        }
        let attributes = try core.differences(
          try entity.view(image, id: id), try entity.view(record, id: id), id: id, of: entity)
        groups[attributes, default: IDRuns()].append(id)
        if attributes.isEmpty { try log.delete(key) }
      }
      changes[number]?.regroupUpdates(ids, as: groups)
    }
    changedAgain = [:]
  }

  /// Drops moves of attribute-held links that did not exist before the write or do not exist after
  /// it.
  private func dropMovesOfChangedLinks(_ sets: [EntityChangeSet]) throws(StoreError) {
    for (number, moves) in links {
      guard let holder = moves.end.attribute?.number else { continue }
      let entity = moves.end.source
      let set = sets.first { $0.entity === entity }
      try links[number]?.keepMoves { (pair) throws(StoreError) in
        if set?.sets(holder, of: pair.from) ?? false { return false }
        guard let record = try core.record(pair.from, of: entity) else { return false }
        let view = try entity.view(record, id: pair.from)
        return try entity.recordID(ofAttribute: holder, in: view) == pair.to
      }
    }
    links = links.filter { !$0.value.isEmpty }
  }

  /// The entities without a history whose records or links were changed, in ascending order.
  private var unrecorded: [EntityNumber] {
    let changed = core.writtenEntities.union(entitiesWithUnrecordedLinks)
    return core.schema.entities.filter { entity in
      entity.description.history == nil && changed.contains(entity.number)
    }.map(\.number).sorted()
  }

  /// Returns the number of the write, which is then recorded in any case.
  ///
  /// Returns `nil` when there is nothing to record so far.
  func promisedNumber() -> UInt64? {
    isPromised =
      isPromised || core.undone != nil || changes.values.contains { !$0.result().isEmpty }
      || links.values.contains { !$0.isEmpty }
    return isPromised ? number : nil
  }

  /// The changed links of each of the write's steps.
  ///
  /// The last element contains the links that belong to no step.
  ///
  /// A link belongs to the last step that contains one of its two records.
  private func linkedByStep() -> [[HistoryPart.Links]] {
    let steps = core.steps.dropLast()
    var result = [[HistoryPart.Links]](repeating: [], count: steps.count + 1)
    for (number, links) in links.sorted(by: { $0.key < $1.key }) {
      let (from, to) = (links.end.source.number, links.end.target.number)
      for kind in [HistoryPart.Links.Kind.removed, .added, .moved] {
        var pairs = [[LinkPair]](repeating: [], count: result.count)
        for pair in links.pairs(kind) {
          let isInLast = core.steps.last?.has(pair, from, to) ?? true
          let step = isInLast ? nil : steps.lastIndex { $0.has(pair, from, to) }
          pairs[step ?? steps.count].append(pair)
        }
        for (step, pairs) in pairs.enumerated() where !pairs.isEmpty {
          result[step].append(HistoryPart.Links(relationship: number, kind: kind, pairs: pairs))
        }
      }
    }
    return result
  }
}

extension WriteStep {
  /// Returns whether a record of a link belongs to the step.
  fileprivate func has(_ pair: LinkPair, _ from: EntityNumber, _ to: EntityNumber) -> Bool {
    entity == from && ids.contains(pair.from) || entity == to && ids.contains(pair.to)
  }
}

extension EntityChangeSet {
  /// Returns whether the write inserted the record, or changed its attribute with this number.
  fileprivate func sets(_ attribute: UInt32, of id: UInt64) -> Bool {
    inserted.contains(id)
      || updated.contains { attributes, ids in
        ids.contains(id)
          && attributes.positions.contains { entity.layout.attributes[$0].number == attribute }
      }
  }

  /// The changes as the history records them.
  ///
  /// - Parameter expired: the records that were deleted because they had expired.
  fileprivate func historyChanges(expired: IDRuns? = nil) -> [HistoryPart.Change] {
    var recorded: [HistoryPart.Change] = []
    if !inserted.isEmpty {
      recorded.append(HistoryPart.Change(entity: entity.number, kind: .inserted, ids: inserted))
    }
    for (attributes, ids) in updated {
      let numbers = attributes.positions.map { entity.layout.attributes[$0].number }
      recorded.append(
        HistoryPart.Change(entity: entity.number, kind: .updated(numbers.sorted()), ids: ids))
    }
    let evicted = expired.map { deleted.intersection($0) } ?? IDRuns()
    for (ids, isExpired) in [(deleted.subtracting(evicted), false), (evicted, true)]
    where !ids.isEmpty {
      recorded.append(
        HistoryPart.Change(
          entity: entity.number, kind: .deleted, ids: ids, isExpired: isExpired))
    }
    return recorded
  }
}

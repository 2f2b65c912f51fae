internal import LodestoreFormat

/// Writes what a write has changed into the history, for the entities that keep one.
final class HistoryRecorder: ChangeSink {
  let name = "history"
  private let core: TransactionCore
  private let log: HistoryLog
  /// The number that the write gets, should anything be told of it.
  private let number: UInt64
  private var changes: [EntityNumber: NetChanges] = [:]
  private var links: [UInt32: NetLinks] = [:]
  /// Whether somebody has been given the number.
  private var isPromised = false

  /// `nil` where no entity keeps a history.
  init?(_ schema: StoredSchema, core: TransactionCore) throws(StoreError) {
    guard schema.keepsHistory else { return nil }
    self.core = core
    log = try HistoryLog(writing: core)
    number = try log.lastNumber() + 1
  }

  func interest(in entity: StoredEntity) -> ChangeInterest? {
    guard let history = entity.description.history else { return nil }
    return history.keepsRecords
      ? [.attributes, .eachRemoval, .oldRecord] : [.attributes, .eachRemoval]
  }

  func record(_ change: RecordChange, of entity: StoredEntity) throws(StoreError) {
    switch change {
    case .inserted(let ids): self[entity].insert(ids)
    case .insertedRecord(let id, _): self[entity].insert(id..<id + 1)
    case .updated(let id, let old, _, let attributes):
      if let attributes { self[entity].update(id, attributes) }
      if let old { try keepImage(old, id, entity) }
    case .removed(let id, let old):
      if let old {
        try keepImage(old, id, entity)
        try keepTombstone(old, id, entity)
      }
      self[entity].remove(id)
    case .cleared: break
    }
  }

  private subscript(entity: StoredEntity) -> NetChanges {
    @inline(__always) get { changes[entity.number] ?? NetChanges(of: entity) }
    @inline(__always) _modify {
      yield &changes[entity.number, default: NetChanges(of: entity)]
    }
  }

  private func keepImage(
    _ old: RecordView, _ id: UInt64, _ entity: StoredEntity
  ) throws(StoreError) {
    guard entity.description.history?.keepsImages == true, !self[entity].hasInserted(id) else {
      return
    }
    try log.keep(old.bytes, .image(entity: entity.number, id: id, transaction: number))
  }

  private func keepTombstone(
    _ old: RecordView, _ id: UInt64, _ entity: StoredEntity
  ) throws(StoreError) {
    guard let preserved = entity.description.history?.preserved, !preserved.isEmpty,
      !self[entity].hasInserted(id)
    else { return }
    var members: [String: Document] = [:]
    do {
      for attribute in preserved {
        var value = Value.null
        if let index = old.layout.slotIndex(ofAttribute: attribute) {
          value = try old.value(at: old.layout.slots[index])
        } else if let described = entity.description.attribute(number: attribute) {
          value = described.initial
        }
        members["\(attribute)"] = EntityDescription.document(of: value)
      }
    } catch {
      throw .damagedRecord(entity: entity.name, recordID: id, error)
    }
    try log.put(
      .object(members), .tombstone(entity: entity.number, id: id, transaction: number))
  }

  func record(_ change: borrowing LinkChange) throws(StoreError) {
    let relationship = change.end.relationship
    guard relationship.from.description.history != nil || relationship.to.description.history != nil
    else { return }
    links[relationship.description.number, default: NetLinks(relationship.end(.from))].note(change)
  }

  func recordMoves(
    _ ids: [UInt64], of owner: UInt64, by end: RelationshipEnd
  ) throws(StoreError) {
    let relationship = end.relationship
    guard relationship.from.description.history != nil || relationship.to.description.history != nil
    else { return }
    links[relationship.description.number, default: NetLinks(relationship.end(.from))]
      .noteMoves(ids, of: owner, by: end)
  }

  func finish(_ core: TransactionCore) throws(StoreError) {
    var sets = changes.sorted { $0.key < $1.key }.map { $0.value.result() }
    var next = number
    for step in core.steps.dropLast() {
      guard let index = sets.firstIndex(where: { $0.entity.number == step.entity }) else {
        continue
      }
      let part = sets[index].within(step.ids)
      if part.isEmpty { continue }
      sets[index] = sets[index].without(step.ids)
      var origin = core.origin
      origin.context = step.context
      try log.append(
        number: next, origin: origin, time: core.time, changes: part.told, links: [],
        images: number)
      next += 1
    }
    let told = sets.flatMap(\.told)
    let linked = self.linked
    guard !told.isEmpty || !linked.isEmpty || isPromised else { return }
    var origin = core.origin
    if let last = core.steps.last { origin.context = last.context }
    try log.append(
      number: next, origin: origin, time: core.time, changes: told, links: linked, images: number,
      undoes: core.undone?.number)
  }

  /// The number of the write, which is then told in any case; `nil` where there is nothing to tell
  /// so far.
  func promisedNumber() -> UInt64? {
    isPromised =
      isPromised || changes.values.contains { !$0.result().isEmpty } || !linked.isEmpty
    return isPromised ? number : nil
  }

  private var linked: [HistoryPart.Links] {
    var linked: [HistoryPart.Links] = []
    for (relationship, links) in links.sorted(by: { $0.key < $1.key }) {
      for kind in [HistoryPart.Links.Kind.removed, .added, .moved] {
        let pairs = links.pairs(kind)
        if pairs.isEmpty { continue }
        linked.append(HistoryPart.Links(relationship: relationship, kind: kind, pairs: pairs))
      }
    }
    return linked
  }
}

extension EntityChangeSet {
  /// As the history tells them.
  fileprivate var told: [HistoryPart.Change] {
    var told: [HistoryPart.Change] = []
    if !inserted.isEmpty {
      told.append(HistoryPart.Change(entity: entity.number, kind: .inserted, ids: inserted))
    }
    for (attributes, ids) in updated {
      let numbers = attributes.positions.map { entity.layout.attributes[$0].number }
      told.append(
        HistoryPart.Change(entity: entity.number, kind: .updated(numbers.sorted()), ids: ids))
    }
    if !deleted.isEmpty {
      told.append(HistoryPart.Change(entity: entity.number, kind: .deleted, ids: deleted))
    }
    return told
  }
}

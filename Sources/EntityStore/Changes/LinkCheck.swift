internal import LMDB
internal import LodestoreFormat

/// Ensures that no attribute leads to a missing record when a write ends.
///
/// Ids are collected as they are written, and looked up in one pass in their order before the
/// commit. Records can therefore be written in any order.
final class LinkCheck: ChangeSink {
  let name = "relationships"
  private let schema: StoredSchema
  /// For each entity, its attributes that hold ids.
  private var holders: [EntityNumber: [Holder]] = [:]
  /// For each entity, its removed records and the relationships that may still lead to them.
  private var left: [EntityNumber: Left] = [:]

  /// An attribute that leads to another entity, with the ids that were written into it.
  private final class Holder {
    let end: RelationshipEnd
    let number: UInt32
    var targets: [UInt64] = []
    /// The number of collected ids at which duplicates among them are removed, to save memory.
    var limit = 1 << 16

    init(_ end: RelationshipEnd, _ number: UInt32) {
      self.end = end
      self.number = number
    }

    func note(_ target: UInt64) {
      if targets.last == target { return }
      targets.append(target)
      guard targets.count >= limit else { return }
      IDSort.sortUnique(&targets)
      limit = max(1 << 16, targets.count * 2)
    }
  }

  private final class Left {
    let ends: [RelationshipEnd]
    var ids: [UInt64] = []

    init(_ ends: [RelationshipEnd]) { self.ends = ends }
  }

  /// Returns `nil` when the schema has nothing to check.
  init?(_ schema: StoredSchema) {
    guard !schema.relationships.isEmpty else { return nil }
    self.schema = schema
    for relationship in schema.relationships {
      if let number = relationship.description.attribute {
        holders[relationship.from.number, default: []].append(
          Holder(relationship.end(.from), number))
      }
    }
    for entity in schema.entities {
      let ends = schema.ends(of: entity).filter { $0.onDelete == .noAction && $0.links != nil }
      if !ends.isEmpty { left[entity.number] = Left(ends) }
    }
  }

  func interest(in entity: StoredEntity) -> ChangeInterest? {
    var interest: ChangeInterest = []
    if holders[entity.number] != nil { interest.insert(.newRecord) }
    if left[entity.number] != nil { interest.insert(.eachRemoval) }
    return interest.isEmpty ? nil : interest
  }

  func isConcerned(byUpdateOf attributes: Set<UInt32>, of entity: StoredEntity) -> Bool {
    holders[entity.number]?.contains { attributes.contains($0.number) } ?? false
  }

  func record(_ change: RecordChange, of entity: StoredEntity) throws(StoreError) {
    switch change {
    case .insertedRecord(_, let new): try note(new, of: entity)
    case .updated(_, _, let new, _): if let new { try note(new, of: entity) }
    case .removed(let id, _): left[entity.number]?.ids.append(id)
    case .inserted, .cleared: break
    }
  }

  private func note(_ view: RecordView, of entity: StoredEntity) throws(StoreError) {
    guard let attributes = holders[entity.number] else { return }
    for holder in attributes {
      if let target = try entity.recordID(ofAttribute: holder.number, in: view) {
        holder.note(target)
      }
    }
  }

  func flush(_ core: WriteCore) throws(StoreError) {
    for attributes in holders.values {
      for holder in attributes where !holder.targets.isEmpty {
        IDSort.sortUnique(&holder.targets)
        let ids = holder.targets
        holder.targets = []
        try core.checkTargets(ids, of: holder.end)
      }
    }
    for removed in left.values where !removed.ids.isEmpty {
      let ids = removed.ids
      removed.ids = []
      for end in removed.ends { try core.checkNoLinks(to: ids, end) }
    }
  }
}

extension WriteCore {
  /// Returns the first of `ids`, in ascending order, that is not a record of `entity`.
  func firstMissing(
    _ ids: some Sequence<UInt64>, in entity: StoredEntity
  ) throws(StoreError) -> UInt64? {
    do {
      let cursor = try Cursor(entity.records, in: transaction)
      var isAt = false
      for id in ids {
        // Consecutive ids are common; for them a step is cheaper than a search.
        if isAt, try cursor.next(), cursor.integerKey == id { continue }
        guard try cursor.seek(id) else { return id }
        isAt = true
      }
      return nil
    } catch {
      throw StoreError(error)
    }
  }

  /// Throws when a link of `relationship` leads to a missing record.
  func checkTargets(ofAll relationship: StoredRelationship) throws(StoreError) {
    for side in RelationshipSide.allCases {
      let end = relationship.end(side)
      guard let back = end.opposite.links else { continue }
      var ids: [UInt64] = []
      try LinkCursor(back, core: self).forEachSource { (id, _) throws(StoreError) in
        ids.append(id)
        guard ids.count >= 1 << 16 else { return }
        try checkTargets(ids, of: end)
        ids.removeAll(keepingCapacity: true)
      }
      try checkTargets(ids, of: end)
    }
  }

  /// Throws when one of `ids`, in ascending order, is missing and is a target of `end`.
  fileprivate func checkTargets(_ ids: [UInt64], of end: RelationshipEnd) throws(StoreError) {
    var rest = ids[...]
    while let missing = try firstMissing(rest, in: end.target) {
      // A later change of the write may have replaced the id in the attribute, so the check fails
      // only if some record still holds it.
      if let back = end.opposite.links,
        let holder = try LinkCursor(back, core: self).ids(of: missing, limit: 1).first
      {
        throw .missingTarget(end, holder: holder, target: missing)
      }
      rest = rest.drop { $0 <= missing }
    }
  }

  /// Throws when a link still leads to one of the removed records `ids`, which belonged to the
  /// source entity of `end`.
  fileprivate func checkNoLinks(to ids: [UInt64], _ end: RelationshipEnd) throws(StoreError) {
    guard let links = end.links else { return }
    let cursor = try LinkCursor(links, core: self)
    for id in ids.sorted() {
      guard let holder = try cursor.ids(of: id, limit: 1).first else { continue }
      throw .missingTarget(end.opposite, holder: holder, target: id)
    }
  }
}

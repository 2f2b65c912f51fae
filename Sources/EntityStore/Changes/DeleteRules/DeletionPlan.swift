internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// The records that a delete removes by the rules of relationships, found before anything is
/// written.
///
/// Records are found in rounds: the records of one round lead, by rules that cascade, to the
/// records of the next round. Since each record is added once, cycles end. After the last round,
/// the rules that deny are checked.
///
/// As with SQL's RESTRICT, a rule that denies considers the records before the delete. A record
/// denies even if another relationship would delete it too. Only the records named by the delete
/// itself do not deny.
struct DeletionPlan {
  private let core: WriteCore
  /// The entity and the ids of the records that the delete names.
  private let named: (entity: EntityNumber, ids: Set<UInt64>)
  /// The records to be removed, by entity.
  private var idsToDelete: [EntityNumber: Set<UInt64>] = [:]
  private var entities: [EntityNumber: StoredEntity] = [:]
  /// By entity and id of a removed record: the records whose delete cascades to it.
  ///
  /// Stored only to find the named records that a denial concerns.
  private var causes: [EntityNumber: [UInt64: [(entity: EntityNumber, id: UInt64)]]] = [:]

  /// A record that a delete must not remove.
  private struct Denial {
    let end: RelationshipEnd
    let id: UInt64
    /// The related record that prevents the delete.
    let other: UInt64
    /// The deny condition that the related record satisfies; `nil` for a rule without a condition.
    var condition: String?
  }

  /// Plans the delete of the records with `ids` of `entity`.
  ///
  /// The ids must ascend.
  ///
  /// - Throws: ``StoreError/Code/deleteDenied``, with nothing written.
  init(deleting ids: [UInt64], of entity: StoredEntity, core: WriteCore) throws(StoreError) {
    try self.init(naming: ids, of: entity, core: core, keepsCauses: false)
    try forEachDenial { (denial) throws(StoreError) in
      throw .denied(denial.end, denial.id, denial.other, where: denial.condition)
    }
  }

  /// Plans the delete of the records with `ids` that no rule denies.
  ///
  /// The ids must ascend.
  ///
  /// - Parameter denied: receives the ids of the records whose delete a rule denies.
  init(
    deletingUndenied ids: [UInt64], of entity: StoredEntity, core: WriteCore,
    denied: inout Set<UInt64>
  ) throws(StoreError) {
    var ids = ids
    while true {
      let plan = try DeletionPlan(naming: ids, of: entity, core: core, keepsCauses: true)
      let found = try plan.deniedNames()
      if found.isEmpty {
        self = plan
        return
      }
      // A denied record stays, and may now deny the delete of another one by its own link. The plan
      // is therefore repeated.
      denied.formUnion(found)
      ids.removeAll { found.contains($0) }
    }
  }

  private init(
    naming ids: [UInt64], of entity: StoredEntity, core: WriteCore, keepsCauses: Bool
  ) throws(StoreError) {
    self.core = core
    var round = [(entity: entity, ids: ids)]
    named = (entity.number, Set(ids))
    idsToDelete[entity.number] = named.ids
    entities[entity.number] = entity
    while !round.isEmpty {
      var next: [EntityNumber: [UInt64]] = [:]
      for (entity, ids) in round {
        for end in core.schema.ends(of: entity) where end.onDelete == .cascade {
          let target = end.target.number
          entities[target] = end.target
          try core.forEachRelated(of: ids, by: end) { (id, other) throws(StoreError) in
            if keepsCauses {
              causes[target, default: [:]][other, default: []].append((entity.number, id))
            }
            if idsToDelete[target, default: []].insert(other).inserted {
              next[target, default: []].append(other)
            }
            return true
          }
        }
      }
      round = next.compactMap { number, ids in
        guard let entity = entities[number] else { return nil }
        var ids = ids
        IDSort.sort(&ids)
        return (entity, ids)
      }
    }
  }

  /// Returns the named records for which a rule denies their delete, or the delete of a record
  /// removed with them.
  private func deniedNames() throws(StoreError) -> Set<UInt64> {
    var found: [EntityNumber: Set<UInt64>] = [:]
    var open: [(entity: EntityNumber, id: UInt64)] = []
    try forEachDenial { denial in
      let entity = denial.end.source.number
      if found[entity, default: []].insert(denial.id).inserted { open.append((entity, denial.id)) }
    }
    while let (entity, id) = open.popLast() {
      for cause in causes[entity]?[id] ?? []
      where found[cause.entity, default: []].insert(cause.id).inserted { open.append(cause) }
    }
    return named.ids.intersection(found[named.entity] ?? [])
  }

  /// Returns the ids of the records of an entity that are removed, ascending.
  func ids(of entity: EntityNumber) -> [UInt64] {
    var ids = Array(idsToDelete[entity] ?? [])
    IDSort.sort(&ids)
    return ids
  }

  /// Calls `body` for each record to be removed whose delete a rule denies.
  private func forEachDenial(_ body: (Denial) throws(StoreError) -> Void) throws(StoreError) {
    for (number, entity) in entities.sorted(by: { $0.key < $1.key }) {
      let ends = core.schema.ends(of: entity)
      let mayDeny = ends.contains {
        $0.onDelete == .deny || $0.nullifiesHolders || $0.denyCondition != nil
      }
      guard mayDeny else { continue }
      let ids = ids(of: number)
      for end in ends { try forEachDenial(byConditionOf: end, ids, body) }
      for end in ends where end.onDelete == .deny || end.nullifiesHolders && end.isRequired {
        let others = passedOver(by: end)
        try core.forEachRelated(of: ids, by: end) { (id, other) throws(StoreError) in
          if !others.contains(other) { try body(Denial(end: end, id: id, other: other)) }
          return true
        }
      }
    }
  }

  /// Calls `body` for each record of `ids` that has a related record which satisfies the deny
  /// condition of `end`.
  private func forEachDenial(
    byConditionOf end: RelationshipEnd, _ ids: [UInt64], _ body: (Denial) throws(StoreError) -> Void
  ) throws(StoreError) {
    guard let text = end.denyCondition, let condition = try core.denyCondition(of: end) else {
      return
    }
    let target = end.target
    let passedOver = named.entity == target.number ? named.ids : []
    try wrappingErrors {
      let records = try Cursor(target.records, in: core.transaction)
      try core.forEachRelated(of: ids, by: end) { (id, other) throws(StoreError) in
        guard !passedOver.contains(other) else { return true }
        do {
          guard try records.seek(other),
            try condition.admits(try target.view(records.value, id: other), id: other)
          else { return true }
        } catch {
          throw StoreError(wrapping: error)
        }
        try body(Denial(end: end, id: id, other: other, condition: text))
        return true
      }
    }
  }

  /// Returns the related records that are ignored when `end` is checked for denials.
  ///
  /// If the declared rule is to deny, these are the records named in the delete call. Otherwise a
  /// delete is denied because an attribute is required. A record that is removed itself does not
  /// need its attribute, so the result is all records to be removed.
  private func passedOver(by end: RelationshipEnd) -> Set<UInt64> {
    if !end.isDenied { return idsToDelete[end.target.number] ?? [] }
    return named.entity == end.target.number ? named.ids : []
  }

  /// Removes the records of the plan, and returns the number of removed records of `root`.
  ///
  /// After an error the transaction can only be aborted.
  ///
  /// - Parameter body: called with each record of `root` before it is removed.
  func run(
    _ root: StoredEntity, _ body: ((UInt64, ByteView) throws(StoreError) -> Void)? = nil
  ) throws(StoreError) -> Int {
    let all = entities.values.sorted { $0.number < $1.number }.map { ($0, ids(of: $0.number)) }
    let nulled = try nulledLinks(all)
    // A record rule that forbids the null in an attribute thus refuses the delete before anything
    // is written.
    for (entity, links) in nulled { try rehearse(links, of: entity) }
    for (entity, links) in nulled { _ = try core.nullify(links, of: entity) }
    for (entity, ids) in all {
      for end in core.schema.ends(of: entity) where end.relationship.linksFrom != nil {
        try core.removeLinks(of: ids, by: end)
      }
    }
    var count = 0
    for (entity, ids) in all {
      let isRoot = entity === root
      let removed: Int
      var isAll = try core.count(of: entity) == ids.count
      // A damaged link may lead to a missing record, which must not be counted.
      if isAll, !isRoot { isAll = try core.present(ids, of: entity).count == ids.count }
      if isAll, body == nil || !isRoot {
        removed = ids.count
        try core.breakingOnError { try core.changes(of: entity).clear() }
      } else {
        removed = try core.erase(ids, of: entity, isRoot ? body : nil)
      }
      if isRoot { count = removed }
    }
    return count
  }

  /// Returns the attributes that become null because they refer to records in `all`, grouped by
  /// entity.
  private func nulledLinks(
    _ all: [(StoredEntity, [UInt64])]
  ) throws(StoreError) -> [(StoredEntity, [NulledLinks])] {
    var found: [(entity: StoredEntity, links: [NulledLinks])] = []
    for (entity, ids) in all {
      for end in core.schema.ends(of: entity) where end.nullifiesHolders {
        guard let attribute = end.opposite.attribute else { continue }
        let others = idsToDelete[end.target.number] ?? []
        var holders: [UInt64] = []
        try core.forEachRelated(of: ids, by: end) { (_, holder) throws(StoreError) in
          if !others.contains(holder) { holders.append(holder) }
          return true
        }
        if holders.isEmpty { continue }
        IDSort.sortUnique(&holders)
        let links = NulledLinks(attribute: attribute.number, ids: holders)
        if let known = found.firstIndex(where: { $0.entity === end.target }) {
          found[known].links.append(links)
        } else {
          found.append((end.target, [links]))
        }
      }
    }
    return found
  }

  private func rehearse(_ links: [NulledLinks], of entity: StoredEntity) throws(StoreError) {
    let changes = core.changes(of: entity)
    let indexes = entity.indexes
    guard ChangeRehearsal.isNeeded(changes, concerned: indexes),
      links.allIDs.count <= ChangeRehearsal.largestCount
    else { return }
    let rehearsal = try ChangeRehearsal(changes, concerned: indexes, core: core)
    _ = try core.nullify(links, of: entity, rehearsal: rehearsal)
    try rehearsal.check()
  }
}

extension RelationshipEnd {
  /// Whether attributes that hold the id of a deleted record become null.
  fileprivate var nullifiesHolders: Bool { opposite.attribute != nil && onDelete == .nullify }

  /// Whether the declared rule itself denies deletes.
  fileprivate var isDenied: Bool { relationship.description[side].onDelete == .deny }

  /// Whether the attributes that hold the id are required.
  fileprivate var isRequired: Bool { opposite.attribute.map { !$0.isOptional } ?? false }

  /// Whether a delete of a record of ``source`` has effects by this relationship, or may be denied
  /// by it.
  fileprivate var concernsDeletes: Bool {
    attribute == nil || onDelete == .cascade || onDelete == .deny || denyCondition != nil
  }
}

extension WriteCore {
  /// Returns whether relationships affect deletes of records of `entity`.
  func hasDeleteRules(_ entity: StoredEntity) -> Bool {
    schema.ends(of: entity).contains(where: \.concernsDeletes)
  }

  /// Removes the records with `ids`, and those removed with them by the rules of relationships.
  ///
  /// The ids must ascend.
  ///
  /// - Parameter body: called with each record of `ids` before it is removed.
  /// - Returns: the number of records of `ids` that existed.
  /// - Throws: ``StoreError/Code/deleteDenied`` before anything is written. After any other error
  ///   the transaction can only be aborted.
  func delete(
    _ ids: [UInt64], of entity: StoredEntity,
    _ body: ((UInt64, ByteView) throws(StoreError) -> Void)? = nil
  ) throws(StoreError) -> Int {
    guard hasDeleteRules(entity) else { return try erase(ids, of: entity, body) }
    let present = try self.present(ids, of: entity)
    _ = try DeletionPlan(deleting: present, of: entity, core: self).run(entity, body)
    return present.count
  }

  /// Removes the records with `ids` that no delete rule denies, and those removed with them.
  ///
  /// The ids must ascend.
  ///
  /// - Parameter willDelete: called with the ids of the records that are about to be removed.
  /// - Returns: the number of records of `ids` that existed, and the ids that a rule denies.
  func deleteUndenied(
    _ ids: [UInt64], of entity: StoredEntity, _ willDelete: ([UInt64]) -> Void
  ) throws(StoreError) -> (foundCount: Int, denied: Set<UInt64>) {
    guard hasDeleteRules(entity) else {
      willDelete(ids)
      return (try erase(ids, of: entity), [])
    }
    let present = try self.present(ids, of: entity)
    var denied: Set<UInt64> = []
    let plan = try DeletionPlan(deletingUndenied: present, of: entity, core: self, denied: &denied)
    if denied.count < present.count {
      willDelete(present.filter { !denied.contains($0) })
      _ = try plan.run(entity)
    }
    return (present.count, denied)
  }

  /// Removes the record `id`, and returns whether there was one.
  func delete(_ id: UInt64, of entity: StoredEntity) throws(StoreError) -> Bool {
    guard hasDeleteRules(entity) else { return try changes(of: entity).erase(id) }
    return try delete([id], of: entity) > 0
  }

  /// Removes all records of `entity`, and returns their number.
  func deleteAll(of entity: StoredEntity) throws(StoreError) -> Int {
    guard hasDeleteRules(entity) else {
      let count = try count(of: entity)
      try changes(of: entity).clear()
      return count
    }
    return try delete(try storedIDs(of: entity), of: entity)
  }
}

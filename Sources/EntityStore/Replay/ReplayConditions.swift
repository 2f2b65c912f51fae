internal import LMDB
internal import LodestoreFormat

/// The conditions of a copy that has only some records of its entities.
///
/// A link that leads from or to a record that the copy lacks is *left out*. The copy keeps left-out
/// links in a bucket of the library, and makes them when the missing record comes in.
struct ReplayConditions {
  /// The entities with a condition.
  let entities: [StoredEntity]
  /// The relationships that lead from or to an entity with a condition.
  let relationships: [StoredRelationship]
  private let conditions: [EntityNumber: RecordCondition]

  /// Parses the conditions, and checks that a copy can follow by them.
  ///
  /// - Parameter texts: The conditions as format strings, by the names of entities.
  /// - Returns: `nil` without conditions.
  /// - Throws: ``ReplayError/unsuitableCondition(entity:reason:)``.
  init?(_ texts: [String: String], _ scope: ReplayScope, _ core: TransactionCore) throws {
    if texts.isEmpty { return nil }
    var conditions: [EntityNumber: RecordCondition] = [:]
    var entities: [StoredEntity] = []
    for (name, text) in texts.sorted(by: { $0.key < $1.key }) {
      guard let entity = scope.entities.first(where: { $0.name == name }) else {
        throw ReplayError.unknownEntity(name)
      }
      conditions[entity.number] = try Self.condition(text, of: entity, core)
      entities.append(entity)
    }
    self.conditions = conditions
    self.entities = entities
    relationships = scope.relationships.filter { relationship in
      conditions[relationship.from.number] != nil || conditions[relationship.to.number] != nil
    }
    try checkRelationships()
    try checkDerivations(core.schema)
  }

  private static func condition(
    _ text: String, of entity: StoredEntity, _ core: TransactionCore
  ) throws(ReplayError) -> RecordCondition {
    let condition: RecordCondition
    do {
      condition = try RecordCondition(text, of: entity, core: core)
    } catch { throw .unsuitableCondition(entity: entity.name, reason: error.message) }
    if condition.dependsOnTime {
      throw .unsuitableCondition(
        entity: entity.name, reason: "its result changes with the time, and no change tells it")
    }
    return condition
  }

  private func checkRelationships() throws(ReplayError) {
    for relationship in relationships {
      for side in RelationshipSide.allCases where relationship.end(side).order != nil {
        let end = relationship.end(side)
        let entity = has(end.target) ? end.target : end.source
        throw .unsuitableCondition(
          entity: entity.name,
          reason: "\(end.label) is ordered, and the places of missing records are not known")
      }
      let end = relationship.end(.from)
      if let attribute = end.attribute, !attribute.isOptional, has(end.target) {
        throw .unsuitableCondition(
          entity: end.target.name,
          reason: "\(end.label) is required, and would lead to records that are left out")
      }
    }
  }

  private func checkDerivations(_ schema: StoredSchema) throws(ReplayError) {
    for derivation in schema.derived where has(derivation.end.target) {
      throw .unsuitableCondition(
        entity: derivation.end.target.name,
        reason: "\(derivation.label) is derived from its records, also from those that are left out"
      )
    }
  }

  /// Whether the entity has a condition.
  func has(_ entity: StoredEntity) -> Bool { conditions[entity.number] != nil }

  /// Whether the relationship leads from or to an entity with a condition.
  func has(_ relationship: StoredRelationship) -> Bool {
    has(relationship.from) || has(relationship.to)
  }

  /// Returns whether the copy has a record; it has all records of an entity without a condition.
  func admits(_ view: RecordView, id: UInt64, of entity: StoredEntity) throws(StoreError) -> Bool {
    try conditions[entity.number]?.admits(view, id: id) ?? true
  }

  /// The content that differs from that of the other store.
  ///
  /// An attribute that leads to a missing record is null in the copy.
  var partialContents: Set<DigestedContent> {
    var contents = Set(entities.map { DigestedContent.records(entity: $0.number) })
    for relationship in relationships {
      if relationship.linksFrom != nil {
        contents.insert(.links(relationship: relationship.description.number))
      } else if has(relationship.to) {
        contents.insert(.records(entity: relationship.from.number))
      }
    }
    return contents
  }
}

/// The records of one entity that a group of changes leads in or out of a copy.
struct ReplayAdmission {
  /// The changed records that the copy has after the changes, in ascending order of their ids.
  var puts: [ReplayNet.Put] = []
  /// The ids of records of the copy that fulfil the condition no longer.
  var leaving: [UInt64] = []
  /// The ids of records that the copy did not have before.
  var entering: [UInt64] = []

  init(
    _ all: [ReplayNet.Put], _ net: ReplayNet, _ entity: StoredEntity,
    _ conditions: ReplayConditions, _ core: WriteCore
  ) throws {
    let stored = try Cursor(entity.records, in: core.transaction)
    for put in all {
      let (records, index) = net.records(of: put)
      let isAdmitted = try records.bytes._withBytes { bytes in
        let view = try entity.view(bytes[records.range(at: index)], id: put.id)
        return try conditions.admits(view, id: put.id, of: entity)
      }
      if isAdmitted { puts.append(put) }
      switch (try stored.seek(put.id), isAdmitted) {
      case (true, false): leaving.append(put.id)
      case (false, true): entering.append(put.id)
      default: break
      }
    }
  }
}

extension ReadableTransaction where Self: ~Copyable {
  /// The names of the entities and relationships of which a copy has only a part.
  ///
  /// Their digests differ from those of the other store.
  package func partialContentNames() throws -> [String] {
    guard let cursor = try replicaCursor(), !cursor.conditions.isEmpty else { return [] }
    let scope = try ReplayScope(cursor.entities.map(Set.init), access.core)
    let conditions = try ReplayConditions(cursor.conditions, scope, access.core)
    return (conditions?.partialContents ?? []).map(scope.name(of:)).sorted()
  }
}

extension WriteTransaction {
  /// Removes the records that fulfil none of the cursor's conditions, and leaves out their links.
  ///
  /// Call this once, in ``Store/replaying(author:context:_:)``, in a copy that has all records.
  ///
  /// - Throws: ``ReplayError`` and ``StoreError``. After any error the write must end with it.
  /// - Complexity: O(*n* log *n*) for *n* removed records and links.
  package mutating func removeUnmatchedRecords() throws {
    precondition(core.purpose == .replay, "records are removed in a write that replays")
    guard let cursor = try replicaCursor() else { throw ReplayError.noCursor }
    if cursor.conditions.isEmpty { return }
    let core = core
    let scope = try ReplayScope(cursor.entities.map(Set.init), core)
    guard let conditions = try ReplayConditions(cursor.conditions, scope, core) else { return }
    var leaving: [(entity: StoredEntity, ids: [UInt64])] = []
    for entity in conditions.entities {
      var ids: [UInt64] = []
      try core.forEachRecord(of: entity) { (id, view) throws(StoreError) in
        if try !conditions.admits(view, id: id, of: entity) { ids.append(id) }
      }
      leaving.append((entity, ids))
    }
    let links = LeftOutLinks(core)
    for (entity, ids) in leaving { try links.leaveOut(linksOf: ids, of: entity, conditions) }
    for (entity, ids) in leaving {
      try links.forget(heldBy: ids, of: entity, conditions)
      _ = try core.erase(ids, of: entity)
    }
  }
}

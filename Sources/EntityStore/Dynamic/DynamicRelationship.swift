package import LodestoreFormat

/// A relationship from the perspective of one of its sides.
package struct DynamicRelationship: Sendable {
  let end: RelationshipEnd

  /// The name on this side; nil when it has none.
  package var name: String? { end.name }
  /// The entity of the targets.
  package var target: DynamicEntity { DynamicEntity(stored: end.target) }
  /// Whether an attribute of the record holds the id of its one target.
  package var isToOne: Bool { end.attribute != nil }
  /// Whether the attribute that holds the id may be null.
  package var isOptional: Bool { end.attribute?.isOptional ?? true }
  /// The name on the other side; nil when it has none.
  package var inverseName: String? { end.opposite.name }
  package var inverseIsToOne: Bool { end.opposite.attribute != nil }
  /// The number of the relationship, which both sides have in common.
  package var number: UInt32 { end.relationship.description.number }
  /// Whether the relationship was first declared from this side.
  package var isFirst: Bool { end.side == .from }
  package var onDelete: DeleteRule { end.onDelete }
  /// The condition with which a related record denies the delete of the record; nil for none.
  package var denyCondition: String? { end.denyCondition }
  /// Whether the targets of a record have an order.
  package var isOrdered: Bool { end.order != nil }
}

extension DynamicSnapshot {
  /// Returns the relationships of `entity` with a name on its side, sorted by name.
  package func relationships(of entity: DynamicEntity) -> [DynamicRelationship] {
    core.schema.ends(of: entity.stored).filter { $0.name != nil }
      .sorted { ($0.name ?? "") < ($1.name ?? "") }.map { DynamicRelationship(end: $0) }
  }

  /// Returns the ids of the targets of record `id`, in the order of the relationship.
  package func relatedIDs(
    of id: UInt64, by relationship: DynamicRelationship
  ) throws(StoreError) -> [UInt64] {
    try core.orderedIDs(of: id, by: relationship.end)
  }

  /// Visits the targets of the records with `ids`, each once, until `body` returns false.
  ///
  /// The source records are visited in the order of their ids, and the targets of each in the order
  /// of the relationship.
  package func forEachRelated(
    to ids: [UInt64], by relationship: DynamicRelationship, _ body: (DynamicRecord) throws -> Bool
  ) throws {
    var sources = ids
    IDSort.sortUnique(&sources)
    if sources.count == 1 {
      for id in try relatedIDs(of: sources[0], by: relationship) {
        guard let record = try record(id, of: relationship.target) else { continue }
        guard try body(record) else { return }
      }
      return
    }
    var targets: [UInt64] = []
    try core.forEachRelated(of: sources, by: relationship.end) { (_, other) throws(StoreError) in
      targets.append(other)
      return true
    }
    IDSort.sortUnique(&targets)
    for id in targets {
      guard let record = try record(id, of: relationship.target) else { continue }
      guard try body(record) else { return }
    }
  }
}

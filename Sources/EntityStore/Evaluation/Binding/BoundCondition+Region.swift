internal import LodestoreFormat

extension BoundExpression {
  /// The entities and relationships that the expression depends on, apart from the record it is
  /// evaluated on.
  var region: ObservedRegion {
    var region = ObservedRegion()
    _ = has { region.add($0) }
    return region
  }
}

/// The entities and relationships that a read depends on.
struct ObservedRegion: Sendable {
  var entities: Set<EntityNumber> = []
  /// The numbers of relationships whose links the read depends on.
  var relationships: Set<UInt32> = []
}

extension ObservedRegion {
  var isEmpty: Bool { entities.isEmpty && relationships.isEmpty }

  mutating func formUnion(_ other: ObservedRegion) {
    entities.formUnion(other.entities)
    relationships.formUnion(other.relationships)
  }

  /// Adds the entities and relationships that a part of a condition depends on.
  ///
  /// Always returns false, so that ``BoundExpression/has(_:)`` visits every part.
  fileprivate mutating func add(_ part: BoundPart) -> Bool {
    guard case .related(let end, let condition, let operand) = part else { return false }
    entities.insert(end.target.number)
    entities.insert(end.source.number)
    relationships.insert(end.relationship.description.number)
    if let condition { formUnion(condition.region) }
    if let operand { formUnion(operand.region) }
    return false
  }
}

extension ReadTracker {
  /// Adds all entities and relationships that a condition or an order depends on, before it is
  /// evaluated.
  func note(_ region: ObservedRegion) {
    for entity in region.entities { note(entity) }
    relationships.formUnion(region.relationships)
  }
}

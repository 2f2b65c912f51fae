internal import LodestoreFormat

extension BoundCondition {
  /// The entities and relationships that it depends on, apart from the tested record.
  var region: ObservedRegion {
    var region = ObservedRegion()
    add(to: &region)
    return region
  }

  private func add(to region: inout ObservedRegion) {
    switch self {
    case .constant, .test, .closure: break
    case .all(let parts), .any(let parts): for part in parts { part.add(to: &region) }
    case .not(let part): part.add(to: &region)
    case .related(let test):
      region.add(test.end)
      test.condition.add(to: &region)
    case .expression(let comparison):
      comparison.left.add(to: &region)
      comparison.right.add(to: &region)
    }
  }
}

extension BoundOperand {
  /// The entities and relationships that it depends on, apart from the record it is evaluated on.
  var region: ObservedRegion {
    var region = ObservedRegion()
    add(to: &region)
    return region
  }

  fileprivate func add(to region: inout ObservedRegion) {
    switch self {
    case .value, .document, .attribute, .element: break
    case .list(let operands), .call(_, let operands):
      for operand in operands { operand.add(to: &region) }
    case .arithmetic(_, let left, let right):
      left.add(to: &region)
      right.add(to: &region)
    case .negative(let operand), .cast(let operand, _), .datePart(_, let operand, _):
      operand.add(to: &region)
    case .conditional(let condition, let first, let second):
      region.formUnion(condition.region)
      first.add(to: &region)
      second.add(to: &region)
    case .subquery(let operand, let condition, _):
      operand.add(to: &region)
      region.formUnion(condition.region)
    case .related(let related):
      region.add(related.end)
      if let condition = related.condition { region.formUnion(condition.region) }
      related.question.operand?.add(to: &region)
    }
  }
}

/// The entities and relationships that a read depends on.
struct ObservedRegion: Sendable {
  var entities: Set<EntityNumber> = []
  /// The numbers of relationships, for their links.
  var relationships: Set<UInt32> = []
}

extension ObservedRegion {
  var isEmpty: Bool { entities.isEmpty && relationships.isEmpty }

  mutating func formUnion(_ other: ObservedRegion) {
    entities.formUnion(other.entities)
    relationships.formUnion(other.relationships)
  }

  fileprivate mutating func add(_ end: RelationshipEnd) {
    entities.insert(end.target.number)
    entities.insert(end.source.number)
    relationships.insert(end.relationship.description.number)
  }
}

extension BoundOrder {
  /// The entities and relationships that the order depends on, apart from the records that it
  /// sorts.
  var region: ObservedRegion {
    terms.reduce(into: ObservedRegion()) { $0.formUnion($1.operand.region) }
  }
}

extension ReadTracker {
  /// Notes all that a condition or an order depends on, before it is evaluated.
  func note(_ region: ObservedRegion) {
    for entity in region.entities { note(entity) }
    relationships.formUnion(region.relationships)
  }
}

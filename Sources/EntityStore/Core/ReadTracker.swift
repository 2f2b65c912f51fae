internal import LodestoreFormat

/// The entities and relationships that a read has used, so that it can be repeated when they
/// change.
final class ReadTracker {
  private(set) var entities: Set<EntityNumber> = []
  var relationships: Set<UInt32> = []

  func note(_ entity: EntityNumber) { entities.insert(entity) }

  func note(_ end: RelationshipEnd) {
    entities.insert(end.source.number)
    entities.insert(end.target.number)
    relationships.insert(end.relationship.description.number)
  }
}

internal import LodestoreFormat

extension TransactionCore {
  /// Returns the relationship of the file that `declared` names.
  func end<E: Entity, Target: Entity>(
    _ declared: ToMany<E, Target>
  ) throws(StoreError) -> RelationshipEnd {
    let entity = try entity(E.self)
    // This call, like the one before, throws if the type does not fit the entity in the file.
    _ = try self.entity(Target.self)
    guard let name = declared.name else {
      throw .badQuery(
        "a relationship from \(entity.name) to \(Target.schema.name) is not in its schema; list it in "
          + "'relationships'")
    }
    if let end = schema.end(named: name, of: entity) {
      tracker?.note(end)
      return end
    } else {
      throw .unknownRelationship(
        name, entity: entity.name, known: schema.ends(of: entity).compactMap(\.name))
    }
  }
}

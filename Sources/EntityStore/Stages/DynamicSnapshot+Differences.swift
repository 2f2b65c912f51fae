internal import LodestoreFormat

extension DynamicSnapshot {
  /// The changes that a program would make in this store if it declared the entities of `other`.
  ///
  /// - Parameter names: the entities to compare; by default all of `other`.
  package func changes(
    toward other: DynamicSnapshot, names: Set<String>? = nil
  ) throws -> [SchemaChange] {
    let declared = try other.core.schema.entities
      .filter { names?.contains($0.name) ?? true }
      .map { try other.declared($0) }
    return try SchemaRehearsal.differences(
      declared, core.schema.entities.map(\.description),
      core.schema.relationships.map(\.description), records: core)
  }

  /// The declaration of an entity, as a program would write it, without functions.
  private func declared(_ entity: StoredEntity) throws -> DeclaredEntity {
    let attributes = entity.description.declaredAttributes
    var declared = try DeclaredEntity(
      name: entity.name,
      attributes: attributes.map { attribute in
        var storage = AttributeStorage(
          type: attribute.type, isOptional: attribute.isOptional, shape: attribute.shape)
        storage.members = attribute.members
        return DeclaredEntity.Attribute(
          name: attribute.name, source: attribute.source ?? attribute.name, storage: storage,
          initial: attribute.defaultValue, constraints: attribute.constraints)
      },
      indexes: entity.indexes.map { index in
        DeclaredEntity.DeclaredIndex(
          attributes: index.description.attributes.compactMap { number in
            attributes.firstIndex { $0.number == number }
          }, isUnique: index.isUnique)
      })
    for (position, attribute) in attributes.enumerated() {
      declared.attributes[position].derivation = declaration(of: attribute, entity)
    }
    declared.computedIndexes = entity.description.distinctComputedIndexes.map { index in
      DeclaredEntity.ComputedIndex(
        kind: index.kind,
        sources: index.sources.compactMap { source in
          attributes.firstIndex { $0.number == source.attribute }.map {
            .init(attribute: $0, path: source.path, weight: source.weight)
          }
        }, admitsInvalid: index.admitsInvalid, dimensions: index.dimensions)
    }
    declared.rules = entity.description.rules
    declared.history =
      entity.description.history.map { history in
        .kept(
          images: history.keepsImages,
          preserved: history.preserved.compactMap { number in
            attributes.firstIndex { $0.number == number }
          })
      } ?? .off
    if let expiry = entity.description.expiry,
      let position = attributes.firstIndex(where: { $0.number == expiry.attribute })
    {
      try declared.expire(by: position)
    }
    if let limit = entity.description.limit {
      try declared.setLimit(
        count: limit.count, bytes: limit.byteCount,
        by: limit.attribute.flatMap { number in
          attributes.firstIndex { $0.number == number }
        })
    }
    for end in core.schema.ends(of: entity) {
      guard let name = end.name else { continue }
      declared.relationships.append(
        DeclaredRelationship(
          name: name, target: end.target.name, kind: kind(of: end), onDelete: end.onDelete,
          denyCondition: end.denyCondition, isOrdered: end.order != nil))
    }
    return declared
  }

  private func kind(of end: RelationshipEnd) -> DeclaredRelationship.Kind {
    if end.attribute != nil { return .toOne }
    if let attribute = end.opposite.attribute {
      return .toMany(inverse: .attribute(attribute.name))
    }
    guard end.side == .to, let inverse = end.opposite.name else { return .toMany(inverse: .none) }
    return .toMany(inverse: .toMany(inverse))
  }

  private func declaration(
    of attribute: EntityDescription.Attribute, _ entity: StoredEntity
  ) -> DeclaredDerivation? {
    guard let derivation = attribute.derivation else { return nil }
    var declared = DeclaredDerivation(derivation.kind)
    declared.version = derivation.version
    declared.path = derivation.path
    declared.part = derivation.part
    declared.condition = derivation.condition
    if let related = core.schema.derived.first(where: {
      $0.owner === entity && $0.number == attribute.number
    }) {
      declared.source = related.source?.name
      declared.relationship = related.end.name
      declared.target = related.end.target.name
    } else {
      declared.source = derivation.source.flatMap { entity.description.attribute(number: $0)?.name }
    }
    return declared
  }
}

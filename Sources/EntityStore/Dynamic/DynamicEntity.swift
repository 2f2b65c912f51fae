package import LodestoreFormat

/// An entity as the catalogue has it.
package struct DynamicEntity: Sendable {
  let stored: StoredEntity

  /// The attributes and indexes, with their numbers and names.
  package var description: EntityDescription { stored.description }
  package var name: String { stored.name }
  package var indexes: [DynamicIndex] { stored.indexes.map(DynamicIndex.init) }
}

/// An index of an entity.
package struct DynamicIndex: Sendable {
  let stored: StoredIndex

  package var description: EntityDescription.Index { stored.description }
  /// `Entity.attribute+attribute`.
  package var name: String { stored.name }
  package var isUnique: Bool { stored.isUnique }
}

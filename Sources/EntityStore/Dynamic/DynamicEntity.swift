package import LodestoreFormat

/// An entity as the catalogue describes it.
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
  /// The name in the form `Entity.attribute+attribute`.
  package var name: String { stored.name }
  package var isUnique: Bool { stored.isUnique }
}

extension DeclaredEntity {
  /// Adds an index on the elements at `path` in the documents of the attribute at `position`.
  package mutating func addIndex(overElementsOf position: Int, path: [String]) throws(StoreError) {
    try addElementIndex(over: position, path: path)
  }
}

package import LodestoreFormat

/// An entity as the catalogue describes it.
package struct DynamicEntity: Sendable {
  let stored: StoredEntity

  /// The attributes and indexes, with their numbers and names.
  package var description: EntityDescription { stored.description }
  package var name: String { stored.name }
  package var indexes: [DynamicIndex] { stored.indexes.map(DynamicIndex.init) }
  /// The indexes on elements, each as an index on one attribute, the element.
  package var elementIndexes: [DynamicIndex] {
    stored.elementIndexes.map { DynamicIndex(stored: $0.entries) }
  }
  /// The indexes on words, whose entries have terms as keys.
  package var searchIndexes: [DynamicIndex] {
    stored.searchIndexes.map { DynamicIndex(stored: $0.entries) }
  }
  /// The indexes on places, whose entries have positions on a curve as keys.
  package var placeIndexes: [DynamicIndex] {
    stored.placeIndexes.map { DynamicIndex(stored: $0.entries) }
  }
  /// The indexes on vectors, whose entries have blocks of vectors.
  package var vectorIndexes: [DynamicIndex] {
    stored.vectorIndexes.map { DynamicIndex(stored: $0.entries) }
  }
}

/// An index of an entity.
package struct DynamicIndex: Sendable {
  let stored: StoredIndex

  package var description: EntityDescription.Index { stored.description }
  /// The name in the form `Entity.attribute+attribute`.
  package var name: String { stored.name }
  /// The name without the entity.
  package var shortName: String { String(stored.name.dropFirst(stored.entityName.count + 1)) }
  package var isUnique: Bool { stored.isUnique }
}

extension DeclaredEntity {
  /// Adds an index on the elements at `path` in the documents of the attribute at `position`.
  package mutating func addIndex(overElementsOf position: Int, path: [String]) throws(StoreError) {
    try add(.init(kind: .elements, sources: [.init(attribute: position, path: path)]))
  }

  /// Adds an index on places by a latitude and a longitude.
  package mutating func addPlaceIndex(
    over sources: [(attribute: Int, path: [String])], admitsInvalid: Bool
  ) throws(StoreError) {
    try add(
      .init(
        kind: .place, sources: sources.map { .init(attribute: $0.attribute, path: $0.path) },
        admitsInvalid: admitsInvalid))
  }

  /// Adds an index on the vectors of an attribute.
  package mutating func addVectorIndex(
    over attribute: Int, dimensions: Int
  ) throws(StoreError) {
    try add(
      .init(kind: .vector, sources: [.init(attribute: attribute)], dimensions: dimensions))
  }

  /// Adds an index on the words of texts.
  package mutating func addSearchIndex(
    over sources: [(attribute: Int, path: [String], weight: Int)]
  ) throws(StoreError) {
    let highest = EntityDescription.ComputedIndex.highestWeight
    guard sources.allSatisfy({ $0.weight >= 1 && $0.weight <= highest }) else {
      throw .badSchema(entity: name, "a weight of a search index is not from 1 to \(highest)")
    }
    try add(
      .init(
        kind: .search,
        sources: sources.map {
          .init(attribute: $0.attribute, path: $0.path, weight: UInt32($0.weight))
        }))
  }
}

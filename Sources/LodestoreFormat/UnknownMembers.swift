/// The permanent identity of an object within an entity's description.
package enum CatalogueObject: Sendable, Hashable {
  /// The description of the entity as a whole.
  case entity
  case attribute(UInt32)
  /// The derivation of the attribute with this number.
  case derivation(UInt32)
  case layout(UInt16)
  case layoutAttribute(layout: UInt16, attribute: UInt32)
  /// An element of `indexes` or `building`. An index keeps its number when it moves from `building`
  /// to `indexes`.
  case index(UInt32)
  /// An element of one of the lists of computed indexes. An index keeps its number when it moves
  /// from `buildingComputed` to another list.
  case computedIndex(EntityDescription.ComputedIndex.Kind, UInt32)
  /// A source of the search index or place index with this number.
  case indexSource(UInt32, attribute: UInt32, path: [String])
  case rule(String)
  case history
  case expiry
  case limit
}

/// Members of an entity's description that this version does not know.
///
/// Such members are written back unchanged.
///
/// Unknown members are stored separately from the objects, so that they affect neither the
/// comparison of a declaration with the file nor its replacement. The unknown members of a deleted
/// object are not written.
package struct UnknownMembers: Sendable, Equatable {
  private var byObject: [CatalogueObject: [String: Document]] = [:]

  package init() {}

  package subscript(object: CatalogueObject) -> [String: Document] {
    get { byObject[object] ?? [:] }
    set { byObject[object] = newValue.isEmpty ? nil : newValue }
  }

  mutating func merge(_ other: UnknownMembers) {
    if !other.byObject.isEmpty { byObject.merge(other.byObject) { $1 } }
  }
}

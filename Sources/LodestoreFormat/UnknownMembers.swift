/// An object within the description of an entity, by what it has for as long as it is the same
/// object.
package enum CatalogueObject: Sendable, Hashable {
  /// The description itself.
  case entity
  case attribute(UInt32)
  /// What the attribute is derived from.
  case derivation(UInt32)
  case layout(UInt16)
  case layoutAttribute(layout: UInt16, attribute: UInt32)
  /// One of `indexes` or `building`, from which it moves to the former.
  case index(UInt32)
  case elementIndex(UInt32)
  case rule(String)
  case history
  case expiry
  case limit
}

/// Members of the objects of a description that this version does not know, which are written back
/// as they were.
///
/// They stand beside the objects and not in them: declarations are compared with what the file has,
/// and take its place, neither of which may concern them. Those of an object that is gone are not
/// written.
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

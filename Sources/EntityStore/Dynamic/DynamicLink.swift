package import LodestoreFormat

/// A relationship whose targets a member names by their unique key; the member has the
/// relationship's name.
package struct DynamicLink: Sendable {
  /// The name of the relationship, or of the attribute that holds it.
  package let relationship: String
  /// The entity of the targets.
  package let target: String
  /// The attribute of the target that identifies its records.
  package let key: String
  /// Whether each record has at most one target.
  package let isToOne: Bool

  var imported: ImportedLink {
    ImportedLink(
      member: relationship, target: target, key: key, name: relationship, isToOne: isToOne,
      makesMissing: false)
  }
}

extension DynamicSnapshot {
  /// Returns the relationships of `entity` whose links can be written as unique keys of the
  /// targets.
  ///
  /// Each relationship is written on one side only.
  ///
  /// A relationship is left out when its target has no unique index on a single attribute. A
  /// required key attribute is preferred to an optional one.
  package func links(of entity: DynamicEntity) -> [DynamicLink] {
    core.schema.ends(of: entity.stored).compactMap { end in
      guard let name = end.name, isReported(end) else { return nil }
      let keys = end.target.indexes.lazy
        .filter { $0.isUnique && $0.description.attributes.count == 1 }
        .compactMap { end.target.description.attribute(number: $0.description.attributes[0]) }
        .filter { $0.type != .recordID && $0.derivation == nil }
      guard let key = keys.first(where: { !$0.isOptional }) ?? keys.first else { return nil }
      return DynamicLink(
        relationship: name, target: end.target.name, key: key.name, isToOne: end.attribute != nil)
    }
  }

  /// Returns the named relationships of `entity` that ``links(of:)`` leaves out.
  package func unlistedRelationships(
    of entity: DynamicEntity
  ) -> [(name: String, target: String, isAttribute: Bool)] {
    let reported = Set(links(of: entity).map(\.relationship))
    return core.schema.ends(of: entity.stored).compactMap { end in
      guard let name = end.name, isReported(end), !reported.contains(name) else { return nil }
      return (name, end.target.name, end.attribute != nil)
    }
  }

  /// Returns whether the links of the relationship are written in the records on the side `end`.
  ///
  /// If an attribute holds the relationship, the links are written on the attribute's side,
  /// otherwise on the first side that has a name.
  private func isReported(_ end: RelationshipEnd) -> Bool {
    if end.opposite.attribute != nil { return false }
    return end.attribute != nil || end.side == .from || end.opposite.name == nil
  }

  /// Throws unless both sides of a relationship with link trees contain the same links.
  ///
  /// - Complexity: O(*n*) in the number of links.
  package func checkSides(of link: DynamicLink, of entity: DynamicEntity) throws {
    guard let end = core.schema.end(named: link.relationship, of: entity.stored),
      end.attribute == nil, end.opposite.attribute == nil, let here = end.links,
      let there = end.opposite.links
    else { return }
    let mine = try LinkCursor(here, core: core).sum(isTurned: false)
    guard try LinkCursor(there, core: core).sum(isTurned: true) == mine else {
      throw StoreError.damagedRelationship(end.label, "its two sides have different links")
    }
  }

  /// Returns the keys of the targets of record `id`, in the order of the relationship.
  ///
  /// - Throws: ``StoreError/Code/damaged`` when a target does not exist;
  ///   ``StoreError/Code/unstorableValue`` when a target has no key.
  package func keys(of link: DynamicLink, from id: UInt64, of entity: DynamicEntity) throws
    -> [Value]
  {
    guard let end = core.schema.end(named: link.relationship, of: entity.stored),
      let key = end.target.description.attribute(named: link.key)
    else { return [] }
    var keys: [Value] = []
    let others = try core.orderedIDs(of: id, by: end)
    if end.order != nil, try others.sorted() != core.relatedIDs(of: id, by: end) {
      throw StoreError.damagedRelationship(
        end.label, "the order of record \(id) does not have the records that it leads to")
    }
    for other in others {
      guard let bytes = try core.record(other, of: end.target) else {
        throw StoreError.damagedRelationship(
          end.label, "record \(id) leads to \(end.target.name) \(other), which is not there")
      }
      let view = try end.target.view(bytes, id: other)
      let value: Value
      do {
        value = try view.value(of: key)
      } catch {
        throw StoreError.damagedRecord(entity: end.target.name, recordID: other, error)
      }
      guard value != .null else {
        throw StoreError(
          .unstorableValue,
          "cannot name the link of \(entity.name) \(id) by \(end.label): \(end.target.name) "
            + "\(other) has no '\(link.key)'; give it one", entity: entity.name,
          attribute: link.relationship, recordID: id)
      }
      keys.append(value)
    }
    return keys
  }
}

internal import LodestoreFormat

/// The declaration of a relationship by one entity, without Swift types.
struct DeclaredRelationship: Sendable, Hashable {
  /// The way the relationship is stored, with its inverse.
  enum Kind: Sendable, Hashable {
    /// The relationship is stored in the attribute with its name.
    case toOne
    case toMany(inverse: DeclaredInverse)
  }

  var name: String
  /// The name of the entity that the relationship leads to.
  var target: String
  var kind: Kind
  var onDelete: DeleteRule
  /// A condition as a format string: related records that fulfil it deny the delete.
  var denyCondition: String?
  /// Whether the related records have an order.
  var isOrdered = false

  /// Returns the to-one and to-many relationships that `schema` declares.
  static func relationships<E: Entity>(
    of schema: EntitySchema<E>
  ) throws(StoreError) -> [DeclaredRelationship] {
    var found: [DeclaredRelationship] = []
    for attribute in schema.attributes {
      guard let toOne = attribute.toOne else { continue }
      found.append(
        DeclaredRelationship(
          name: attribute.name, target: toOne.target(), kind: .toOne,
          onDelete: toOne.onDelete.stored))
    }
    for relationship in schema.relationships {
      let declaration = relationship.declaration
      let condition = try declaration.denyCondition?()
      guard condition == nil || declaration.onDelete != .deny else {
        throw .badSchema(
          entity: schema.name, attribute: relationship.name,
          "'\(relationship.name)' denies deletes with a condition and without one; say by 'onDelete' what "
            + "happens to the records that do not fulfil it, as .cascade")
      }
      found.append(
        DeclaredRelationship(
          name: relationship.name, target: declaration.target(),
          kind: .toMany(inverse: try declaration.inverse(relationship.name)),
          onDelete: declaration.onDelete.stored, denyCondition: condition,
          isOrdered: declaration.isOrdered))
    }
    return found
  }
}

extension DeclaredEntity {
  /// Throws if names of `relationships` are invalid, already used, or listed in ``removed``.
  func check(_ relationships: [DeclaredRelationship]) throws(StoreError) {
    var names = Set(attributes.map(\.name))
    for relationship in relationships {
      let name = relationship.name
      guard EntityDescription.isValidAttributeName(name) else {
        throw .badName(name, of: "a relationship of \(self.name)")
      }
      if case .toOne = relationship.kind { continue }
      guard names.insert(name).inserted else {
        throw .badSchema(
          entity: self.name, attribute: name,
          "'\(name)' is declared twice, as a relationship and as something else")
      }
      guard !removed.contains(name) else {
        throw .badSchema(
          entity: self.name, attribute: name,
          "relationship '\(name)' is declared, and named in 'removed'; take it out of one of them")
      }
    }
  }

  /// Adds an index over the attribute `name` alone, if none exists.
  mutating func index(attribute name: String) {
    guard let position = attributes.firstIndex(where: { $0.name == name }),
      !indexes.contains(where: { $0.attributes == [position] })
    else { return }
    indexes.append(DeclaredIndex(attributes: [position], isUnique: false))
  }

  /// Adds an index over each attribute that holds one side of a relationship, in the entity with
  /// the attribute.
  static func indexRelationships(of declared: inout [DeclaredEntity]) {
    for entity in declared {
      for relationship in entity.relationships {
        switch relationship.kind {
        case .toOne: index(relationship.name, of: entity.name, in: &declared)
        case .toMany(.attribute(let name)): index(name, of: relationship.target, in: &declared)
        case .toMany: break
        }
      }
    }
  }

  private static func index(
    _ attribute: String, of entity: String, in declared: inout [DeclaredEntity]
  ) {
    guard let position = declared.firstIndex(where: { $0.name == entity }) else { return }
    declared[position].index(attribute: attribute)
  }
}

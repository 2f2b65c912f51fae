internal import LMDB
internal import LodestoreFormat

/// A relationship of the catalogue with its entities and trees.
final class StoredRelationship: Sendable {
  let description: RelationshipDescription
  /// The entity of the side `from`; if an attribute holds the link, it belongs to this entity.
  let from: StoredEntity
  let to: StoredEntity
  /// The links from ids of `from` to ids of `to`; `nil` when an attribute holds the link.
  let linksFrom: StoredIndex?
  /// The links from ids of `to` to ids of `from`: the index of the attribute, or a link tree.
  let linksTo: StoredIndex
  /// The tree with the order of the targets of `from`; `nil` when they are not ordered.
  let orderFrom: Tree?
  /// The tree with the order of the targets of `to`; `nil` when they are not ordered.
  let orderTo: Tree?

  init(
    _ description: RelationshipDescription, entities: [StoredEntity],
    tree: (TreeName) throws -> Tree
  ) throws {
    self.description = description
    guard let from = entities.first(where: { $0.number == description.from.entity }),
      let to = entities.first(where: { $0.number == description.to.entity })
    else {
      throw FormatError("relationship \(description.number) is of an entity that is not there")
    }
    self.from = from
    self.to = to
    func order(_ side: RelationshipSide) throws -> Tree? {
      guard description[side].isOrdered else { return nil }
      return try tree(.order(relationship: description.number, side: side))
    }
    orderFrom = try order(.from)
    orderTo = try order(.to)
    if let attribute = description.attribute {
      guard let index = from.index(over: [attribute]) else {
        throw FormatError(
          "attribute \(attribute) of relationship \(description.number) has no index of its own")
      }
      linksFrom = nil
      linksTo = index
    } else {
      linksFrom = try Self.links(description, .from, from, tree)
      linksTo = try Self.links(description, .to, to, tree)
    }
  }

  private static func links(
    _ description: RelationshipDescription, _ side: RelationshipSide, _ entity: StoredEntity,
    _ tree: (TreeName) throws -> Tree
  ) throws -> StoredIndex {
    StoredIndex(
      description: .init(number: side.rawValue, attributes: [], isUnique: false),
      tree: try tree(.links(relationship: description.number, side: side)),
      name: "links.\(description.number).\(side.rawValue)", entityName: entity.name)
  }

  func end(_ side: RelationshipSide) -> RelationshipEnd { RelationshipEnd(self, side) }
}

/// A relationship from the perspective of one of its sides.
struct RelationshipEnd: Sendable {
  let relationship: StoredRelationship
  let side: RelationshipSide

  init(_ relationship: StoredRelationship, _ side: RelationshipSide) {
    self.relationship = relationship
    self.side = side
  }

  private var described: RelationshipDescription.Side {
    side == .from ? relationship.description.from : relationship.description.to
  }

  /// The entity of the records on this side.
  var source: StoredEntity { side == .from ? relationship.from : relationship.to }

  /// The entity of the targets.
  var target: StoredEntity { side == .from ? relationship.to : relationship.from }

  /// The attribute of ``source`` that holds the id; `nil` when the ids are in ``links``.
  var attribute: EntityDescription.Attribute? {
    guard side == .from, let number = relationship.description.attribute else { return nil }
    return relationship.from.description.attribute(number: number)
  }

  /// The links from ids of ``source`` to ids of ``target``; `nil` when ``attribute`` holds the
  /// link.
  var links: StoredIndex? { side == .from ? relationship.linksFrom : relationship.linksTo }

  /// The tree with the order of the targets; `nil` when they are not ordered.
  var order: Tree? { side == .from ? relationship.orderFrom : relationship.orderTo }

  /// The name of this side; `nil` when it has none.
  var name: String? { attribute?.name ?? described.name }

  /// The name in the form `Entity.name`, for messages.
  var label: String {
    name.map { "\(source.name).\($0)" } ?? "the records that \(opposite.label) leads to"
  }

  var opposite: RelationshipEnd { RelationshipEnd(relationship, side.opposite) }

  /// The condition with which a target denies the delete of its source records; `nil` for none.
  var denyCondition: String? { relationship.description[side].denyCondition }

  /// The effect on targets when a record of ``source`` is deleted.
  ///
  /// A required attribute without a named inverse denies the delete of its target.
  var onDelete: DeleteRule {
    guard side == .to, described.name == nil, described.onDelete == .nullify,
      let holder = opposite.attribute, !holder.isOptional
    else { return described.onDelete }
    return .deny
  }
}

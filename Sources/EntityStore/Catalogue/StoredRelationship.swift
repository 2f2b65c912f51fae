internal import LMDB
internal import LodestoreFormat

/// A relationship of the catalogue with its entities and trees.
final class StoredRelationship: Sendable {
  let description: RelationshipDescription
  /// The entity of the side `from`, which holds the id where an attribute does.
  let from: StoredEntity
  let to: StoredEntity
  /// By the ids of the side `from`, the ids of `to`; `nil` where an attribute holds them.
  let linksFrom: StoredIndex?
  /// By the ids of the side `to`, the ids of `from`: the index of the attribute, or a tree of links.
  let linksTo: StoredIndex
  /// The tree of the order of what a record of `from` leads to; `nil` where that has none.
  let orderFrom: Tree?
  /// The same for `to`.
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

/// A relationship as seen from the records of one of its sides.
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

  /// The entity whose records it leads away from.
  var source: StoredEntity { side == .from ? relationship.from : relationship.to }

  /// The entity whose records it leads to.
  var target: StoredEntity { side == .from ? relationship.to : relationship.from }

  /// The attribute of ``source`` that holds the id; `nil` where the ids are in ``links``.
  var attribute: EntityDescription.Attribute? {
    guard side == .from, let number = relationship.description.attribute else { return nil }
    return relationship.from.description.attribute(number: number)
  }

  /// By the id of a record of ``source``, the ids of those that it leads to; `nil` for ``attribute``.
  var links: StoredIndex? { side == .from ? relationship.linksFrom : relationship.linksTo }

  /// The tree of the order of what a record of ``source`` leads to; `nil` where that has none.
  var order: Tree? { side == .from ? relationship.orderFrom : relationship.orderTo }

  /// The name of this side; `nil` where it has none.
  var name: String? { attribute?.name ?? described.name }

  /// `Entity.name`, for messages.
  var label: String {
    name.map { "\(source.name).\($0)" } ?? "the records that \(opposite.label) leads to"
  }

  var opposite: RelationshipEnd { RelationshipEnd(relationship, side.opposite) }

  /// The condition by which a record of ``target`` keeps those of ``source`` that lead to it from
  /// being deleted; `nil` for none.
  var denyCondition: String? { relationship.description[side].denyCondition }

  /// What happens to records of ``target`` when one of ``source`` is deleted.
  ///
  /// An attribute that must have a value and has no named inverse holds on to what it leads to.
  var onDelete: DeleteRule {
    guard side == .to, described.name == nil, described.onDelete == .nullify,
      let holder = opposite.attribute, !holder.isOptional
    else { return described.onDelete }
    return .deny
  }
}

/// A relationship between the records of two entities as the catalogue describes it.
///
/// See Format.md, "Relationships".
package struct RelationshipDescription: Sendable, Hashable {
  /// The name and the behaviour of one of a relationship's two sides.
  package struct Side: Sendable, Hashable {
    package var entity: EntityNumber
    /// The side's name; `nil` if unnamed.
    ///
    /// If an attribute of this side holds the id, the side has the attribute's name.
    package var name: String?
    /// The effect on records of the other side when a record of this side is deleted.
    package var onDelete: DeleteRule
    /// A condition, as a format string, for the rule ``DeleteRule/deny``; `nil` for none.
    ///
    /// A linked record of the other side prevents the deletion only if it fulfils the condition.
    package var denyCondition: String?
    /// Whether the links of a record of this side have an order, which a tree stores.
    package var isOrdered: Bool
    /// Unknown members of a later version, which are written back unchanged.
    package var unknownMembers: [String: Document] = [:]

    package init(
      entity: EntityNumber, name: String? = nil, onDelete: DeleteRule = .nullify,
      denyCondition: String? = nil, isOrdered: Bool = false
    ) {
      self.entity = entity
      self.name = name
      self.onDelete = onDelete
      self.denyCondition = denyCondition
      self.isOrdered = isOrdered
    }
  }

  package var number: UInt32
  package var from: Side
  package var to: Side
  /// The attribute of the `from` entity that holds the id of a record of the `to` entity; `nil` if
  /// trees store the links.
  package var attribute: UInt32?
  /// Unknown members of the document, which are written back unchanged.
  package var unknownMembers: [String: Document]

  package init(
    number: UInt32, from: Side, to: Side, attribute: UInt32? = nil,
    unknownMembers: [String: Document] = [:]
  ) {
    self.number = number
    self.from = from
    self.to = to
    self.attribute = attribute
    self.unknownMembers = unknownMembers
  }

  package subscript(side: RelationshipSide) -> Side {
    get { side == .from ? from : to }
    set { if side == .from { from = newValue } else { to = newValue } }
  }

  /// The trees of the links, one for each side, and of their orders.
  package var trees: [TreeName] {
    let links = RelationshipSide.allCases.map { TreeName.links(relationship: number, side: $0) }
    return (attribute == nil ? links : []) + orders
  }

  /// The trees of the orders of both sides.
  package var orders: [TreeName] {
    RelationshipSide.allCases.filter { self[$0].isOrdered }
      .map { .order(relationship: number, side: $0) }
  }
}

/// One of the two sides of a relationship.
package enum RelationshipSide: UInt32, Sendable, Hashable, CaseIterable {
  case from = 1
  case to = 2

  package var opposite: RelationshipSide { self == .from ? .to : .from }
}

/// The effect on linked records when a record is deleted.
package enum DeleteRule: String, Sendable, Hashable, CaseIterable {
  /// The links are removed. An attribute that holds the record's id becomes null.
  case nullify
  /// The linked records are deleted too.
  case cascade
  /// The deletion is refused while the record has a link to a record that is not deleted too.
  case deny
  /// Nothing happens. Whoever deletes the record must repair the links to it before the commit.
  case noAction
}

// MARK: - Document

extension RelationshipDescription {
  /// The description as a document.
  package var document: Document {
    var members = unknownMembers
    members["from"] = Self.document(of: from)
    members["to"] = Self.document(of: to)
    members["attribute"] = attribute.map { .integer(Int64($0)) }
    return .object(members)
  }

  private static func document(of side: Side) -> Document {
    var members = side.unknownMembers
    members["entity"] = .integer(Int64(side.entity.rawValue))
    members["onDelete"] = .string(side.onDelete.rawValue)
    if let condition = side.denyCondition { members["denyWhere"] = .string(condition) }
    if let name = side.name { members["name"] = .string(name) }
    if side.isOrdered { members["ordered"] = .bool(true) }
    return .object(members)
  }

  /// Reads relationship `number` from its document and checks the rules that need no other object.
  package init(number: UInt32, document: Document) throws(FormatError) {
    try require(number >= 1, "the number of a relationship is 0, must be from 1 on", .catalogueKey)
    guard case .object = document else {
      throw FormatError(
        "the description of relationship \(number) is not an object", .relationshipMembers)
    }
    var object = CatalogueReader(document)
    self.number = number
    from = try Side(object.take("from"), "side 'from' of relationship \(number)")
    to = try Side(object.take("to"), "side 'to' of relationship \(number)")
    if let holder = object.take("attribute") {
      guard let attribute = holder.number,
        (1...EntityDescription.highestAttributeNumber).contains(attribute)
      else {
        throw FormatError(
          "relationship \(number) is held by no attribute from 1 to 16,383", .relationshipMembers)
      }
      self.attribute = attribute
    }
    unknownMembers = object.rest
  }

  /// Checks the rules that involve the entities of the catalogue.
  package func check(_ entities: [EntityNumber: EntityDescription]) throws(FormatError) {
    guard let holder = entities[from.entity], entities[to.entity] != nil else {
      throw FormatError(
        "relationship \(number) is of an entity that is not there", .relationshipEntities)
    }
    guard let attribute else { return }
    if from.isOrdered {
      throw FormatError(
        "relationship \(number) has an order of the one record of an attribute",
        .relationshipOrdered)
    }
    guard let held = holder.attribute(number: attribute), !held.isRemoved, held.type == .recordID
    else {
      throw FormatError(
        "relationship \(number) is held by attribute \(attribute), which holds no id",
        .relationshipHolder)
    }
    guard holder.indexes.contains(where: { $0.attributes == [attribute] }) else {
      throw FormatError(
        "attribute \(attribute) of relationship \(number) has no index of its own",
        .relationshipHolder)
    }
  }
}

extension RelationshipDescription.Side {
  /// Reads a side of a relationship.
  ///
  /// `label` names the side in messages.
  fileprivate init(_ document: Document?, _ label: String) throws(FormatError) {
    var object = CatalogueReader(document ?? .null)
    guard let entity = object.take("entity")?.number, entity > 0 else {
      throw FormatError("\(label) names no entity", .relationshipMembers)
    }
    guard let rule = object.take("onDelete")?.text.flatMap(DeleteRule.init(rawValue:)) else {
      throw FormatError(
        "\(label) has a rule for deletes that this version does not know", .relationshipMembers)
    }
    self.init(entity: EntityNumber(entity), onDelete: rule)
    if let member = object.take("denyWhere") {
      guard let condition = member.text, !condition.isEmpty, rule != .deny else {
        throw FormatError(
          "\(label) has a condition of its delete rule that is no text, is empty, or stands beside "
            + "'deny'", .relationshipCondition)
      }
      denyCondition = condition
    }
    if let member = object.take("ordered") {
      guard case .bool(let isOrdered) = member else {
        throw FormatError("\(label): 'ordered' is no boolean", .relationshipMembers)
      }
      self.isOrdered = isOrdered
    }
    if let member = object.take("name") {
      guard let name = member.text, EntityDescription.isValidAttributeName(name) else {
        throw FormatError("\(label) has a name that is none", .relationshipName)
      }
      self.name = name
    }
    unknownMembers = object.rest
  }
}

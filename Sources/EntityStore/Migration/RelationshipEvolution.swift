internal import LodestoreFormat

/// Applies declared relationships to the stored ones, without side effects.
///
/// A relationship is one entry of the catalogue, even if both sides are declared. Sides, names and
/// rules of the file that nobody declares stay. A new name or rule costs nothing. A new
/// relationship over an existing attribute reads the entries of its index, to check that each has a
/// target.
struct RelationshipEvolution {
  /// The resulting relationships; a new one has the number 0.
  private(set) var result: [RelationshipDescription]
  /// The relationships to be removed.
  private(set) var removed: [RelationshipDescription] = []
  /// The stored relationships by number, because a file may have thousands.
  private let stored: [UInt32: RelationshipDescription]
  private let entities: [EntityDescription]
  /// The declared sides, for detecting two declarations of one side.
  private var declaredSides: Set<DeclaredSide> = []

  private struct DeclaredSide: Hashable {
    var relationship: Int
    var side: RelationshipSide
  }

  /// - Parameter entities: the entities after their declarations have been applied.
  init(
    _ stored: [RelationshipDescription], declared: [DeclaredEntity], entities: [EntityDescription]
  ) throws(StoreError) {
    self.stored = Dictionary(stored.map { ($0.number, $0) }) { first, _ in first }
    self.entities = entities
    result = stored
    for entity in declared { remove(entity) }
    // Declarations with an inverse come last, because they name a side of a relationship declared
    // elsewhere.
    for entity in declared {
      for relationship in entity.relationships where relationship.isFirst {
        try matchOrAdd(relationship, of: entity)
      }
    }
    for entity in declared {
      for relationship in entity.relationships where !relationship.isFirst {
        try matchOrAdd(relationship, of: entity)
      }
    }
    try checkRequired()
  }

  /// The relationships that are new or differ from the stored ones.
  var changed: [RelationshipDescription] { result.filter { stored[$0.number] != $0 } }

  var isChanged: Bool { !removed.isEmpty || !changed.isEmpty }

  /// Whether programs that only read the file need the change: a relationship is new, or the name
  /// of a side changes.
  var concernsReaders: Bool {
    result.contains { $0.number == 0 }
      || changed.contains { relationship in
        guard let before = stored[relationship.number] else { return true }
        return before.from.name != relationship.from.name || before.to.name != relationship.to.name
      }
  }

  /// Returns whether the new declaration gives an order to existing links of `relationship`.
  func ordersLinks(of relationship: RelationshipDescription) -> Bool {
    guard let before = stored[relationship.number] else {
      return relationship.to.isOrdered && relationship.attribute != nil
    }
    return !before.from.isOrdered && relationship.from.isOrdered
      || !before.to.isOrdered && relationship.to.isOrdered
  }

  // MARK: Removing

  private mutating func remove(_ declared: DeclaredEntity) {
    guard let entity = entities.first(where: { $0.name == declared.name }) else { return }
    for relationship in result {
      var left = relationship
      if let attribute = relationship.attribute {
        let isGone =
          relationship.from.entity == entity.number
          && entity.attribute(number: attribute)?.isRemoved != false
        if isGone { drop(relationship) }
      }
      for side in RelationshipSide.allCases {
        guard let name = left[side].name, left[side].entity == entity.number,
          declared.removed.contains(name)
        else { continue }
        left[side].name = nil
        left[side].onDelete = .nullify
        left[side].denyCondition = nil
        left[side].isOrdered = false
      }
      guard left != relationship, let position = result.firstIndex(of: relationship) else {
        continue
      }
      if left.attribute == nil, left.from.name == nil, left.to.name == nil {
        drop(relationship)
      } else {
        result[position] = left
      }
    }
  }

  private mutating func drop(_ relationship: RelationshipDescription) {
    result.removeAll { $0.number == relationship.number }
    removed.append(relationship)
  }

  // MARK: One relationship

  private mutating func matchOrAdd(
    _ declared: DeclaredRelationship, of entity: DeclaredEntity
  ) throws(StoreError) {
    let source = try self.entity(entity.name, of: declared, entity)
    let target = try self.entity(declared.target, of: declared, entity)
    switch declared.kind {
    case .toOne:
      let position = try holder(declared.name, of: source, to: target, declared, entity)
      try name(.from, of: position, as: nil, declared: declared, in: entity)
    case .toMany(inverse: .attribute(let attribute)):
      let position = try holder(attribute, of: target, to: source, declared, entity)
      try name(.to, of: position, as: declared.name, declared: declared, in: entity)
    case .toMany(inverse: .none):
      let found = find(declared.name, of: source, to: target)
      let position = found?.position ?? add(from: source, to: target, attribute: nil)
      try name(
        found?.side ?? .from, of: position, as: declared.name, declared: declared, in: entity)
    case .toMany(inverse: .toMany(let inverse)):
      guard let found = find(inverse, of: target, to: source) else {
        throw .badSchema(
          entity: entity.name, attribute: declared.name,
          "the inverse of '\(declared.name)' is '\(inverse)', which does not lead from "
            + "\(target.name) to \(entity.name)")
      }
      let side = found.side.opposite
      try name(side, of: found.position, as: declared.name, declared: declared, in: entity)
    }
  }

  private func entity(
    _ name: String, of relationship: DeclaredRelationship, _ declared: DeclaredEntity
  ) throws(StoreError) -> EntityDescription {
    if let found = entities.first(where: { $0.name == name }) { return found }
    throw .badSchema(
      entity: declared.name, attribute: relationship.name,
      "'\(relationship.name)' leads to \(name), which is not among the store's entities; open the "
        + "store with both")
  }

  /// Returns the relationship held in an attribute, creating a new one if needed.
  private mutating func holder(
    _ attribute: String, of source: EntityDescription, to target: EntityDescription,
    _ declared: DeclaredRelationship, _ entity: DeclaredEntity
  ) throws(StoreError) -> Int {
    guard let held = source.attribute(named: attribute), held.type == .recordID else {
      throw .badSchema(
        entity: entity.name, attribute: declared.name,
        "'\(source.name).\(attribute)' holds no id of a record")
    }
    if let position = result.firstIndex(where: {
      $0.attribute == held.number && $0.from.entity == source.number
    }) {
      guard result[position].to.entity == target.number else {
        throw .badSchema(
          entity: entity.name, attribute: declared.name,
          "'\(source.name).\(attribute)' leads to another entity in the file than \(target.name)")
      }
      return position
    }
    return add(from: source, to: target, attribute: held.number)
  }

  private mutating func add(
    from source: EntityDescription, to target: EntityDescription, attribute: UInt32?
  ) -> Int {
    result.append(
      RelationshipDescription(
        number: 0, from: .init(entity: source.number), to: .init(entity: target.number),
        attribute: attribute))
    return result.count - 1
  }

  /// Returns the relationship with links that has `name` on the side of `source`.
  private func find(
    _ name: String, of source: EntityDescription, to target: EntityDescription
  ) -> (position: Int, side: RelationshipSide)? {
    for (position, relationship) in result.enumerated() where relationship.attribute == nil {
      for side in RelationshipSide.allCases
      where relationship[side].entity == source.number && relationship[side].name == name
        && relationship[side.opposite].entity == target.number
      {
        return (position, side)
      }
    }
    return nil
  }

  private mutating func name(
    _ side: RelationshipSide, of position: Int, as name: String?,
    declared: DeclaredRelationship, in entity: DeclaredEntity
  ) throws(StoreError) {
    let before = result[position][side]
    guard declaredSides.insert(DeclaredSide(relationship: position, side: side)).inserted else {
      throw .badSchema(
        entity: entity.name, attribute: declared.name,
        "'\(declared.name)' has the same inverse as '\(before.name ?? "another one")'")
    }
    result[position][side].name = name
    result[position][side].onDelete = declared.onDelete
    result[position][side].denyCondition = declared.denyCondition
    // A program that declares no order keeps an existing order.
    if declared.isOrdered { result[position][side].isOrdered = true }
  }

  /// Throws for the rule nullify on an attribute that cannot be null.
  private func checkRequired() throws(StoreError) {
    for relationship in result {
      guard let number = relationship.attribute, let inverse = relationship.to.name,
        relationship.to.onDelete == .nullify,
        let source = entities.first(where: { $0.number == relationship.from.entity }),
        let target = entities.first(where: { $0.number == relationship.to.entity }),
        let attribute = source.attribute(number: number), !attribute.isOptional
      else { continue }
      throw .badSchema(
        entity: target.name, attribute: inverse,
        "to delete a \(target.name) would make '\(source.name).\(attribute.name)' null, which is "
          + "required; make it optional, or say onDelete: .cascade or .deny for "
          + "'\(target.name).\(inverse)'")
    }
  }
}

extension DeclaredRelationship {
  /// Whether the declaration may create a relationship, and not only name a side of one.
  fileprivate var isFirst: Bool {
    switch kind {
    case .toOne, .toMany(inverse: .none): true
    case .toMany: false
    }
  }
}

internal import LodestoreFormat

/// What declared relationships make of the stored ones: pure, so that the rules are one page.
///
/// A relationship is one entry of the catalogue however many of its sides are declared. What the file has
/// and nobody declares stays, names of sides and rules included. A new name or rule costs nothing; a
/// relationship over an attribute that has been there reads the entries of its index, to see that each
/// leads to a record.
struct RelationshipEvolution {
  /// The relationships as they will be; a new one has the number 0.
  private(set) var result: [RelationshipDescription]
  /// Those that go.
  private(set) var removed: [RelationshipDescription] = []
  /// By their numbers: a file may have thousands.
  private let stored: [UInt32: RelationshipDescription]
  private let entities: [EntityDescription]
  /// What is declared for a side, so that two declarations of one are found.
  private var declaredSides: Set<DeclaredSide> = []

  private struct DeclaredSide: Hashable {
    var relationship: Int
    var side: RelationshipSide
  }

  /// - Parameter entities: as they are once the declared ones have been settled.
  init(
    _ stored: [RelationshipDescription], declared: [DeclaredEntity], entities: [EntityDescription]
  ) throws(StoreError) {
    self.stored = Dictionary(stored.map { ($0.number, $0) }) { first, _ in first }
    self.entities = entities
    result = stored
    for entity in declared { remove(entity) }
    // Those with an inverse come last: they give a name to what another one makes.
    for entity in declared {
      for relationship in entity.relationships where relationship.isFirst {
        try settle(relationship, of: entity)
      }
    }
    for entity in declared {
      for relationship in entity.relationships where !relationship.isFirst {
        try settle(relationship, of: entity)
      }
    }
    try checkRequired()
  }

  /// Those that are new or different.
  var changed: [RelationshipDescription] { result.filter { stored[$0.number] != $0 } }

  var isChanged: Bool { !removed.isEmpty || !changed.isEmpty }

  /// Whether a declared relationship is not in the file.
  var concernsReaders: Bool {
    result.contains { $0.number == 0 }
      || changed.contains { relationship in
        guard let before = stored[relationship.number] else { return true }
        return before.from.name != relationship.from.name || before.to.name != relationship.to.name
      }
  }

  /// Whether links that are there get an order.
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

  // MARK: Settling

  private mutating func settle(
    _ declared: DeclaredRelationship, of entity: DeclaredEntity
  ) throws(StoreError) {
    let source = try self.entity(entity.name, of: declared, entity)
    let target = try self.entity(declared.target, of: declared, entity)
    switch declared.kind {
    case .toOne:
      let position = try holder(declared.name, of: source, to: target, declared, entity)
      try name(nil, position, .from, declared, entity)
    case .toMany(inverse: .attribute(let attribute)):
      let position = try holder(attribute, of: target, to: source, declared, entity)
      try name(declared.name, position, .to, declared, entity)
    case .toMany(inverse: .none):
      let found = find(declared.name, of: source, to: target)
      let position = found?.position ?? add(from: source, to: target, attribute: nil)
      try name(declared.name, position, found?.side ?? .from, declared, entity)
    case .toMany(inverse: .toMany(let inverse)):
      guard let found = find(inverse, of: target, to: source) else {
        throw .badSchema(
          entity: entity.name, attribute: declared.name,
          "the inverse of '\(declared.name)' is '\(inverse)', which does not lead from "
            + "\(target.name) to \(entity.name)")
      }
      let side = found.side.opposite
      try name(declared.name, found.position, side, declared, entity)
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

  /// The relationship that an attribute holds, made where it is new.
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

  /// The relationship with links that `source` knows as `name`.
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
    _ name: String?, _ position: Int, _ side: RelationshipSide,
    _ declared: DeclaredRelationship, _ entity: DeclaredEntity
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
    // A program that does not ask for an order keeps the one that there is.
    if declared.isOrdered { result[position][side].isOrdered = true }
  }

  /// Nullify needs an attribute that can be null.
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
  /// Whether it may make a relationship, rather than name a side of one.
  fileprivate var isFirst: Bool {
    switch kind {
    case .toOne, .toMany(inverse: .none): true
    case .toMany: false
    }
  }
}

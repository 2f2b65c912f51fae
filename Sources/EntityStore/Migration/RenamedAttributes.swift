internal import LMDB
internal import LodestoreFormat

/// The renamed attributes of one entity, applied to conditions of the catalogue: rules, and
/// conditions of delete rules and derived attributes.
///
/// Everywhere else the catalogue refers to attributes by number.
struct RenamedAttributes {
  private let entity: EntityNumber
  /// The new names, by the old ones.
  private let names: [String: String]

  init(from before: EntityDescription, to after: EntityDescription) {
    entity = after.number
    var names: [String: String] = [:]
    for attribute in before.declaredAttributes {
      guard let new = after.attribute(number: attribute.number), !new.isRemoved,
        !new.name.utf8.elementsEqual(attribute.name.utf8)
      else { continue }
      names[attribute.name] = new.name
    }
    self.names = names
  }

  var isEmpty: Bool { names.isEmpty }

  /// Returns the rules with the new names.
  func renamed(_ rules: [EntityDescription.Rule]) -> [EntityDescription.Rule] {
    rules.map { rule in
      var rule = rule
      rule.condition = renamed(rule.condition)
      return rule
    }
  }

  /// Renames attributes in all conditions on records of the entity, except the entity's own rules.
  func rename(
    in entities: inout [EntityDescription], _ relationships: inout [RelationshipDescription]
  ) {
    guard !isEmpty else { return }
    for index in entities.indices {
      for position in entities[index].attributes.indices {
        guard let derivation = entities[index].attributes[position].derivation,
          let condition = derivation.condition, let side = derivation.side,
          let relationship = relationships.first(where: { $0.number == derivation.relationship }),
          relationship[side.opposite].entity == entity
        else { continue }
        entities[index].attributes[position].derivation?.condition = renamed(condition)
      }
    }
    for index in relationships.indices {
      for side in RelationshipSide.allCases
      where relationships[index][side.opposite].entity == entity {
        relationships[index][side].denyCondition =
          relationships[index][side].denyCondition.map(renamed)
      }
    }
  }

  /// Returns the condition with the new names.
  ///
  /// Returns it unchanged if it contains none of the old names, or if this version cannot parse it.
  private func renamed(_ condition: String) -> String {
    guard let parsed = try? ConditionParser.parse(condition),
      !parsed.tree.memberNames.isDisjoint(with: names.keys),
      let tree = try? parsed.tree.renamingMembers(names)
    else { return condition }
    return ConditionPrinter.text(tree)
  }
}

/// A name in a condition of the catalogue for which no attribute exists.
struct LostName {
  var entity: String
  var message: String

  /// Returns all lost names of the catalogue, in the order of `entities` and `relationships`.
  static func all(
    _ entities: [EntityDescription], _ relationships: [RelationshipDescription]
  ) -> [LostName] {
    var found: [LostName] = []
    func check(
      _ condition: String, on target: EntityDescription, _ owner: EntityDescription, _ what: String
    ) {
      guard let parsed = try? ConditionParser.parse(condition) else { return }
      for name in parsed.tree.memberNames.sorted()
      where name != ValuePath.recordIDName && target.attribute(named: name) == nil {
        found.append(
          LostName(
            entity: owner.name,
            message: "'\(name)' is no attribute of \(target.name), and \(what) names it: "
              + "'\(condition)'; declare the type of \(owner.name) with another condition"))
      }
    }
    func entity(_ number: EntityNumber) -> EntityDescription? {
      entities.first { $0.number == number }
    }
    for owner in entities {
      for rule in owner.rules { check(rule.condition, on: owner, owner, "the rule '\(rule.name)'") }
      for attribute in owner.attributes where !attribute.isRemoved {
        guard let derivation = attribute.derivation, let condition = derivation.condition,
          let side = derivation.side,
          let relationship = relationships.first(where: { $0.number == derivation.relationship }),
          let target = entity(relationship[side.opposite].entity)
        else { continue }
        check(condition, on: target, owner, "the derived attribute '\(attribute.name)'")
      }
    }
    for relationship in relationships {
      for side in RelationshipSide.allCases {
        guard let condition = relationship[side].denyCondition,
          let owner = entity(relationship[side].entity),
          let target = entity(relationship[side.opposite].entity)
        else { continue }
        check(
          condition, on: target, owner,
          "the delete rule of '\(owner.name).\(relationship[side].name ?? "?")'")
      }
    }
    return found
  }
}

extension EntityDescription {
  /// Updates the rules to the names of attributes that have changed since `before`.
  mutating func renameInRules(since before: EntityDescription) {
    rules = RenamedAttributes(from: before, to: self).renamed(rules)
  }
}

extension StoreCore {
  /// Writes new names of attributes into the conditions of the catalogue, except the entity's own
  /// rules.
  func renameInConditions(
    from before: EntityDescription, to after: EntityDescription, in transaction: WritingTransaction
  ) throws {
    let renamed = RenamedAttributes(from: before, to: after)
    guard !renamed.isEmpty else { return }
    let entities = try trees.descriptions(in: transaction.reads)
    let relationships = try trees.relationships(in: transaction.reads)
    var (newEntities, newRelationships) = (entities, relationships)
    renamed.rename(in: &newEntities, &newRelationships)
    for (old, new) in zip(entities, newEntities)
    where old.attributes != new.attributes {
      try trees.put(new, in: transaction)
    }
    for (old, new) in zip(relationships, newRelationships) where old != new {
      try trees.put(new, in: transaction)
    }
  }

  /// Returns the messages about conditions of the catalogue that name missing attributes.
  func lostNames(in transaction: Transaction) throws -> Set<String> {
    Set(try allLostNames(in: transaction).map(\.message))
  }

  /// Throws ``StoreError/Code/badSchema`` if a condition of the catalogue names a missing
  /// attribute.
  ///
  /// - Parameter lost: the messages to ignore, since their names were already missing before the
  ///   change.
  func checkNames(except lost: Set<String>, in transaction: Transaction) throws {
    let all = try allLostNames(in: transaction)
    guard let first = all.first(where: { !lost.contains($0.message) }) else { return }
    throw StoreError.badSchema(entity: first.entity, first.message)
  }

  private func allLostNames(in transaction: Transaction) throws -> [LostName] {
    LostName.all(
      try trees.descriptions(in: transaction), try trees.relationships(in: transaction))
  }
}

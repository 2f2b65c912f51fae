internal import LodestoreFormat

/// Applies declared derivations to the stored ones, without side effects.
///
/// Every new or changed derivation costs a pass over the records. A derivation that is no longer
/// declared leaves the attribute with its values, and programs set it from then on. Derived
/// attributes of the file whose entity or attribute is not declared stay.
struct DerivationEvolution {
  /// The entities whose descriptions change.
  private(set) var changed: [EntityDescription] = []
  /// The attributes to compute for all records, by entity.
  private(set) var rebuilt: [EntityNumber: Set<UInt32>] = [:]

  /// Changes no description, and rebuilds these attributes.
  init(rebuilding attributes: [EntityNumber: Set<UInt32>]) { rebuilt = attributes }

  /// - Parameters:
  ///   - entities: the entities after their declarations have been applied.
  ///   - relationships: the relationships after their declarations have been applied.
  init(
    declared: [DeclaredEntity], entities: [EntityDescription],
    relationships: [RelationshipDescription]
  ) throws(StoreError) {
    var result = entities
    for declaration in declared where !declaration.isPartial {
      guard let position = entities.firstIndex(where: { $0.name == declaration.name }) else {
        continue
      }
      for attribute in declaration.attributes {
        let index = result[position].attributes.firstIndex {
          $0.name == attribute.name && !$0.isRemoved
        }
        guard let index else { continue }
        let wanted = try attribute.derivation.map { (derivation) throws(StoreError) in
          try Self.description(
            of: derivation, attribute.name, in: entities[position], entities, relationships)
        }
        let stored = result[position].attributes[index].derivation
        // Strings that Swift compares as equal may have different bytes, and then name different
        // members of a document.
        let isSame =
          stored == wanted && (stored?.path ?? []).hasSameBytes(as: wanted?.path ?? [])
          && [stored?.condition ?? ""].hasSameBytes(as: [wanted?.condition ?? ""])
        if isSame { continue }
        result[position].attributes[index].derivation = wanted
        if wanted != nil {
          rebuilt[entities[position].number, default: []].insert(
            result[position].attributes[index].number)
        }
      }
    }
    for (before, after) in zip(entities, result) {
      do {
        // Unchanged descriptions were checked when they were read from the file.
        if before.attributes != after.attributes {
          _ = try EntityDescription(number: after.number, document: after.document)
        }
        // Undeclared derivations are checked too, because their sources may be gone.
        try after.checkDerivations(result, relationships)
      } catch {
        throw .badSchema(entity: after.name, error.reason)
      }
      if before.attributes != after.attributes { changed.append(after) }
    }
    if isChanged { try DerivationCycles(result, relationships).check(rebuilt) }
  }

  var isChanged: Bool { !changed.isEmpty }

  /// Rebuilds the attributes derived from the records of these entities, except times of inserts
  /// and changes.
  mutating func rebuild(_ touched: Set<EntityNumber>, _ schema: StoredSchema) {
    for entity in schema.entities where touched.contains(entity.number) {
      for attribute in entity.description.declaredAttributes {
        guard let kind = attribute.derivation?.kind, kind != .inserted, kind != .changed else {
          continue
        }
        rebuilt[entity.number, default: []].insert(attribute.number)
      }
    }
    for derivation in schema.derived where touched.contains(derivation.end.target.number) {
      rebuilt[derivation.owner.number, default: []].insert(derivation.number)
    }
  }

  /// Also rebuilds attributes whose sources or conditions are among the ones being rebuilt.
  mutating func rebuildDependents(_ schema: StoredSchema) {
    var isComplete = false
    while !isComplete {
      isComplete = true
      for derivation in schema.derived {
        let changed = concerned(derivation.end.target)
        guard !changed.isEmpty, derivation.isConcerned(byUpdateOf: changed) else { continue }
        let isNew = rebuilt[derivation.owner.number, default: []].insert(derivation.number).inserted
        if isNew { isComplete = false }
      }
    }
  }

  /// The attributes of an entity whose values may change.
  private func concerned(_ entity: StoredEntity) -> Set<UInt32> {
    guard let numbers = rebuilt[entity.number] else { return [] }
    if case .related = entity.occasion(rebuilding: numbers) { return numbers }
    return numbers.union(entity.derivations?.dependents(of: numbers) ?? [])
  }

  /// The attributes whose values may change, by entity.
  func concerned(_ schema: StoredSchema) -> [EntityNumber: Set<UInt32>] {
    Dictionary(
      uniqueKeysWithValues: schema.entities.lazy.filter { rebuilt[$0.number] != nil }
        .map { ($0.number, concerned($0)) })
  }

  /// The attributes to rebuild, each after its sources.
  ///
  /// Attributes derived from their own record come first: none of their sources is derived from
  /// related records.
  func inOrder(_ derived: [RelatedDerivation]) -> [(EntityNumber, Set<UInt32>)] {
    var byRank: [Int: [EntityNumber: Set<UInt32>]] = [:]
    for (entity, numbers) in rebuilt {
      for number in numbers {
        let related = derived.first { $0.owner.number == entity && $0.number == number }
        byRank[related?.rank ?? 0, default: [:]][entity, default: []].insert(number)
      }
    }
    return byRank.sorted { $0.key < $1.key }.flatMap { _, entities in
      entities.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
  }

  private static func description(
    of declared: DeclaredDerivation, _ name: String, in entity: EntityDescription,
    _ entities: [EntityDescription], _ relationships: [RelationshipDescription]
  ) throws(StoreError) -> DerivationDescription {
    var result = DerivationDescription(
      declared.kind, version: declared.version, path: declared.path, part: declared.part,
      condition: declared.condition)
    var owner = entity
    if declared.kind.isOfRelated {
      guard
        let (relationship, side) = find(declared.relationship ?? "", of: entity, relationships),
        let target = entities.first(where: { $0.name == declared.target })
      else {
        throw .badSchema(
          entity: entity.name, attribute: name,
          "'\(name)' is derived from relationship '\(declared.relationship ?? "")', which is not there"
        )
      }
      result.relationship = relationship.number
      result.side = side
      owner = target
    }
    if let source = declared.source {
      guard let number = owner.attribute(named: source)?.number else {
        throw .badSchema(
          entity: entity.name, attribute: name,
          "'\(name)' is derived from '\(source)', which is no attribute of \(owner.name)")
      }
      result.source = number
    }
    return result
  }

  /// Returns the relationship with this name on the side of `entity`, or held in the attribute of
  /// this name.
  private static func find(
    _ name: String, of entity: EntityDescription, _ relationships: [RelationshipDescription]
  ) -> (RelationshipDescription, RelationshipSide)? {
    for relationship in relationships {
      if let number = relationship.attribute, relationship.from.entity == entity.number,
        entity.attribute(named: name)?.number == number
      {
        return (relationship, .from)
      }
      for side in RelationshipSide.allCases
      where relationship[side].entity == entity.number && relationship[side].name == name {
        return (relationship, side)
      }
    }
    return nil
  }
}

extension StoredEntity {
  /// The occasion for rebuilding the attributes with these numbers.
  ///
  /// When all of them depend on related records only, the program's derivation functions are not
  /// called, because the program may not have them.
  func occasion(rebuilding numbers: Set<UInt32>) -> RecordDerivations.Occasion {
    let isOfRelated = numbers.allSatisfy {
      description.attribute(number: $0)?.derivation?.kind.isOfRelated == true
    }
    return isOfRelated ? .related : .rebuild
  }
}

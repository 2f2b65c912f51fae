internal import LodestoreFormat

/// Applies declared derivations to the stored ones: pure, so that the rules are one page.
///
/// Every new or changed derivation costs a pass over the records. One that is declared no more leaves the
/// attribute with its values, which programs give from then on. What the file has and nobody declares
/// stays.
struct DerivationEvolution {
  /// The entities that are described in another way now.
  private(set) var changed: [EntityDescription] = []
  /// By entity, the attributes to compute for all records.
  private(set) var rebuilt: [EntityNumber: Set<UInt32>] = [:]

  /// Changes nothing, and rebuilds these attributes.
  init(rebuilding attributes: [EntityNumber: Set<UInt32>]) { rebuilt = attributes }

  /// - Parameters:
  ///   - entities: as they are once the declared ones have been settled, and `relationships` likewise.
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
        guard
          let index = result[position].attributes.firstIndex(where: {
            $0.name == attribute.name && !$0.isRemoved
          })
        else { continue }
        let wanted = try attribute.derivation.map { (derivation) throws(StoreError) in
          try Self.description(
            of: derivation, attribute.name, in: entities[position], entities, relationships)
        }
        let stored = result[position].attributes[index].derivation
        // Names that are equal may have other bytes, and then they are another member's.
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
        // The descriptions that did not change were checked when they were read from the file.
        if before.attributes != after.attributes {
          _ = try EntityDescription(number: after.number, document: after.document)
        }
        // Also of those that are not declared: what they are derived from may be gone.
        try after.checkDerivations(result, relationships)
      } catch {
        throw .badSchema(entity: after.name, error.reason)
      }
      if before.attributes != after.attributes { changed.append(after) }
    }
    if isChanged { try DerivationCycles(result, relationships).check(rebuilt) }
  }

  var isChanged: Bool { !changed.isEmpty }

  /// Rebuilds the attributes derived from the records of these entities, but no times.
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

  /// The attributes that may have other values afterwards.
  private func concerned(_ entity: StoredEntity) -> Set<UInt32> {
    guard let numbers = rebuilt[entity.number] else { return [] }
    if case .related = entity.occasion(rebuilding: numbers) { return numbers }
    return numbers.union(entity.derivations?.dependents(of: numbers) ?? [])
  }

  /// By entity, the attributes that may have other values afterwards.
  func concerned(_ schema: StoredSchema) -> [EntityNumber: Set<UInt32>] {
    Dictionary(
      uniqueKeysWithValues: schema.entities.lazy.filter { rebuilt[$0.number] != nil }
        .map { ($0.number, concerned($0)) })
  }

  /// The attributes to rebuild, each after those that it is derived from.
  ///
  /// Attributes derived from their own record come first: no attribute derived from related records
  /// is among their sources.
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

  /// The relationship that `entity` knows as `name`, or by the attribute of that name.
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
  /// What the records are derived for while the attributes with these numbers are worked out:
  /// functions, which the program may not have, are not asked where these depend on related records
  /// alone.
  func occasion(rebuilding numbers: Set<UInt32>) -> RecordDerivations.Occasion {
    let isOfRelated = numbers.allSatisfy {
      description.attribute(number: $0)?.derivation?.kind.isOfRelated == true
    }
    return isOfRelated ? .related : .rebuild
  }
}

internal import LodestoreFormat

/// An attribute that is derived from the related records of its record.
///
/// See Format.md, "Derived attributes".
struct RelatedDerivation: Sendable {
  /// The relationship from the perspective of the entity with the attribute.
  let end: RelationshipEnd
  let kind: DerivationDescription.Kind
  let number: UInt32
  let type: AttributeType
  /// The index in the current layout of the entity with the attribute.
  let position: Int
  /// The attribute of the related records; `nil` when records are only counted.
  let source: EntityDescription.Attribute?
  /// The condition that selects the related records, as a format string; `nil` selects all.
  let condition: String?
  /// The numbers of the attributes of related records on which the value depends.
  ///
  /// `nil` when its condition cannot be parsed.
  let sources: Set<UInt32>?
  /// The rank in the order of computation.
  ///
  /// The rank is 1 when no source is itself derived from related records. Otherwise it is one more
  /// than the highest rank of the sources. In a cycle of definitions, which older versions of the
  /// library allowed, all attributes have the highest rank.
  private(set) var rank = 1

  /// The entity with the attribute.
  var owner: StoredEntity { end.source }

  /// The attribute of related records that holds the owner's id; `nil` with link trees, and for
  /// copies.
  var holder: UInt32? { kind == .copy ? nil : end.opposite.attribute?.number }

  /// The name in the form `Entity.attribute`, for messages.
  var label: String { "\(owner.name).\(owner.attributeName(at: position))" }

  /// Returns the derivations of all attributes of `entities`; skips those whose source does not
  /// exist.
  static func all(
    _ entities: [StoredEntity], _ relationships: [StoredRelationship]
  ) -> [RelatedDerivation] {
    var all = entities.flatMap { entity in
      entity.description.declaredAttributes.enumerated().compactMap { position, attribute in
        RelatedDerivation(attribute, at: position, relationships)
      }
    }
    rank(&all)
    return all
  }

  private struct Key: Hashable {
    var entity: EntityNumber
    var attribute: UInt32
  }

  private static func rank(_ all: inout [RelatedDerivation]) {
    let positions = Dictionary(
      all.enumerated().map { (Key(entity: $1.owner.number, attribute: $1.number), $0) },
      uniquingKeysWith: { first, _ in first })
    var isComplete = false
    while !isComplete {
      isComplete = true
      for index in all.indices {
        let target = all[index].end.target.number
        for attribute in all[index].sources ?? [] {
          guard let source = positions[Key(entity: target, attribute: attribute)],
            all[source].rank >= all[index].rank, all[index].rank < all.count
          else { continue }
          all[index].rank = min(all[source].rank + 1, all.count)
          isComplete = false
        }
      }
    }
  }

  /// Whether a related record must be read to determine its contribution.
  var readsRecords: Bool { source != nil || condition != nil }

  /// Returns whether an update of the attributes with these numbers may change the value that a
  /// related record contributes.
  func isConcerned(byUpdateOf attributes: Set<UInt32>) -> Bool {
    sources.map { !$0.isDisjoint(with: attributes) } ?? true
  }

  private init?(
    _ attribute: EntityDescription.Attribute, at position: Int,
    _ relationships: [StoredRelationship]
  ) {
    guard let derivation = attribute.derivation, derivation.kind.isOfRelated,
      let side = derivation.side,
      let relationship = relationships.first(where: {
        $0.description.number == derivation.relationship
      })
    else { return nil }
    end = relationship.end(side)
    kind = derivation.kind
    number = attribute.number
    type = attribute.type
    self.position = position
    let target = end.target.description
    source = derivation.source.flatMap { target.attribute(number: $0) }
    condition = derivation.condition
    sources = derivation.sources(in: target)
  }
}

extension DerivationDescription {
  /// Returns the numbers of the attributes of `target` that the derivation depends on, or `nil` if
  /// its condition cannot be parsed.
  ///
  /// - Parameter target: the entity of the related records.
  func sources(in target: EntityDescription) -> Set<UInt32>? {
    var numbers: Set<UInt32> = []
    if kind.isOfRelated, let source { numbers.insert(source) }
    guard let condition else { return numbers }
    guard let parsed = try? ConditionParser.parse(condition) else { return nil }
    for name in parsed.tree.memberNames where name != ValuePath.recordIDName {
      guard let attribute = target.attribute(named: name) else { return nil }
      numbers.insert(attribute.number)
    }
    return numbers
  }
}

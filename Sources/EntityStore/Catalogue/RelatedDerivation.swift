internal import LodestoreFormat

/// A derived attribute that depends on the records that its record leads to.
///
/// See Format.md, "Derived attributes".
struct RelatedDerivation: Sendable {
  /// The relationship as seen from the entity that has the attribute.
  let end: RelationshipEnd
  let kind: DerivationDescription.Kind
  let number: UInt32
  let type: AttributeType
  /// Index in the current layout of the entity that has it.
  let position: Int
  /// The attribute of the related records; `nil` where they are counted alone.
  let source: EntityDescription.Attribute?
  /// The condition, as a format string, that related records fulfil which count; `nil` where all
  /// do.
  let condition: String?
  /// The numbers of the attributes of related records that it depends on; `nil` where its condition
  /// cannot be read.
  let sources: Set<UInt32>?
  /// 1 where no attribute that it is derived from is derived from related records itself; otherwise
  /// one more than the highest rank of these.
  ///
  /// In a cycle of definitions, which older programs could declare, all have the highest rank.
  private(set) var rank = 1

  /// The entity that has the attribute.
  var owner: StoredEntity { end.source }

  /// The attribute of related records that holds the owner's id; `nil` where links are kept, and for
  /// copies.
  var holder: UInt32? { kind == .copy ? nil : end.opposite.attribute?.number }

  /// `Entity.attribute`, for messages.
  var label: String { "\(owner.name).\(owner.attributeName(at: position))" }

  /// Those of the attributes of `entities`; what leads to something that is not there is left out.
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

  /// Whether a related record must be read to tell what it adds.
  var readsRecords: Bool { source != nil || condition != nil }

  /// Whether an update of the attributes with these numbers may change what a related record adds.
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

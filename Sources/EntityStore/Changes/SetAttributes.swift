internal import LodestoreFormat

/// Attributes of an entity that a batch sets in stored records.
struct SetAttributes {
  /// The numbers of the attributes, and of the derived attributes that may change with them.
  let numbers: Set<UInt32>
  /// Whether derived attributes may change with the others.
  let derives: Bool
  /// The indexes whose keys may change, without those under construction.
  let indexes: [StoredIndex]

  init(_ attributes: Set<UInt32>, of entity: StoredEntity) {
    let derived = entity.derivations?.dependents(of: attributes) ?? []
    let numbers = attributes.union(derived)
    self.numbers = numbers
    derives = !derived.isEmpty
    indexes = entity.indexes.filter { !numbers.isDisjoint(with: $0.description.attributes) }
  }

  /// The derived attributes with `derived`, which are computed again on `occasion`.
  ///
  /// - Parameter laterIndexes: the numbers of indexes that are still empty and are built later, so
  ///   their entries are not changed.
  init(
    derived: Set<UInt32>, _ occasion: RecordDerivations.Occasion, of entity: StoredEntity,
    except laterIndexes: Set<UInt32>
  ) {
    var numbers = derived
    if case .rebuild = occasion {
      numbers.formUnion(entity.derivations?.dependents(of: derived) ?? [])
    }
    self.numbers = numbers
    derives = true
    indexes = entity.indexes.filter {
      !numbers.isDisjoint(with: $0.description.attributes)
        && !laterIndexes.contains($0.description.number)
    }
  }

  /// The attributes that a migration stage sets.
  ///
  /// The stage has emptied the indexes on them, and fills these afterwards.
  init(ofStage core: WriteCore) {
    precondition(!core.checksRules, "a write outside of stages maintains all indexes")
    numbers = []
    derives = true
    indexes = []
  }
}

/// The proof that a write may change the bytes of certain attributes directly in the page of a
/// record.
///
/// No index, rule, derived attribute or sink reads these attributes. Only this file creates it.
struct UnreadAttributes {
  fileprivate init() {}
}

extension EntityChanges {
  /// Returns `nil` when an index, rule, derived attribute or sink reads the attributes.
  ///
  /// Records must then be replaced as a whole.
  func unread(_ attributes: SetAttributes) -> UnreadAttributes? {
    let isInBuilding = entity.building.contains {
      !attributes.numbers.isDisjoint(with: $0.description.attributes)
    }
    guard !attributes.derives, attributes.indexes.isEmpty, !isInBuilding, !hasConstraints,
      !listeners.wantBytes(ofUpdateOf: attributes.numbers)
    else { return nil }
    return UnreadAttributes()
  }
}

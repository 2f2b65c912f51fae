internal import LodestoreFormat

/// The attributes of a unique index, for incoming records that contain only some of the entity's
/// attributes.
struct KeyParts {
  /// How many of the key's attributes an incoming record contains.
  enum Coverage {
    case all, some, none
  }

  /// The numbers of the attributes; for a derived attribute, the number of its source.
  let numbers: [UInt32]
  /// Whether all attributes of the key have initial values for a new record.
  let hasInitialKey: Bool
  /// The places of the attributes in the layout, and whether each has an initial value.
  private let places: [(place: Int, hasInitial: Bool)]
  /// Whether the key may depend on every attribute, as when one of its attributes is derived by a
  /// program's function.
  let dependsOnAll: Bool
  private let isDerived: [Bool]

  init(of index: StoredIndex, in entity: StoredEntity) {
    let derivations = entity.derivations
    let given = index.description.attributes.map { derivations?.given($0) ?? $0 }
    numbers = given
    dependsOnAll = given.contains { derivations?.contains($0) ?? false }
    isDerived = derivations?.isDerived ?? []
    places = given.compactMap { number in
      guard let place = entity.layout.slotIndex(ofAttribute: number) else { return nil }
      return (place, entity.description.attribute(number: number)?.defaultValue != .null)
    }
    hasInitialKey = places.allSatisfy { $0.hasInitial }
  }

  /// Returns whether the record at `position` contains all, some or none of the key's attributes.
  ///
  /// When the record contains some of them, missing attributes with an initial value count as
  /// present. A new record would have a key with these values.
  func coverage(in batch: IncomingRecords, at position: Int) -> Coverage {
    if dependsOnAll {
      let isWhole = batch.layout.attributes.indices.allSatisfy {
        batch.isGiven($0, at: position) || isDerived[$0]
      }
      return isWhole ? .all : .some
    }
    var givenCount = 0
    var isComplete = true
    for (place, hasInitial) in places {
      if batch.isGiven(place, at: position) {
        givenCount += 1
      } else {
        isComplete = isComplete && hasInitial
      }
    }
    if givenCount == places.count { return .all }
    if givenCount == 0 { return .none }
    return isComplete ? .all : .some
  }
}

extension MergeRule {
  /// Whether a merge may change an attribute in which the stored and the incoming record are equal.
  var mayChangeEqualValues: Bool {
    if case .closure = self { true } else { false }
  }

  /// Returns whether a merged record may have a key of these attributes that neither record has.
  ///
  /// The result is valid for an incoming record that was given all attributes of the key, or none
  /// of them.
  func mayCombineKeys(_ parts: KeyParts) -> Bool {
    switch self {
    case .fail, .ignore: return false
    case .closure: return true
    case .replace, .reinsert, .patchGiven: return false
    case .patch(let numbers):
      let count = parts.numbers.count(where: numbers.contains)
      return parts.dependsOnAll || count > 0 && count < parts.numbers.count
    case .policy(let policies):
      let kinds = parts.numbers.map { policies.byNumber[$0] ?? policies.standard }
      if parts.dependsOnAll { return true }
      return kinds.contains { kind in
        switch kind {
        case .incoming, .fail: false
        case .stored, .newest: kinds.count > 1
        case .combine: true
        }
      }
    }
  }
}

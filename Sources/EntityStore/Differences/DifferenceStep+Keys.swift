internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// An entity in two stores, with the unique index by which its records are matched.
struct KeyedPair: Sendable {
  let pair: EntityPair
  let older: StoredIndex
  let newer: StoredIndex
}

extension DifferenceStep {
  /// Compares the records of the two stores in the order of their unique keys.
  ///
  /// The unique indexes of both stores are walked side by side, and the record of each entry is
  /// looked up by its id.
  mutating func runKeys(
    _ keyed: KeyedPair, _ visit: (FoundDifference) throws -> Void
  ) throws -> Bool {
    let pair = keyed.pair
    guard let oldEntity = pair.older, let newEntity = pair.newer else { return true }
    let step = self
    func find(_ old: Row?, _ new: Row?, _ budget: inout DifferenceBudget) throws {
      guard old != nil || new != nil, let found = try step.compare(pair, old, new) else { return }
      budget.find(found.byteCount)
      try visit(.record(found))
    }
    return try mergeKeys(keyed.older.tree, keyed.newer.tree) { key, before, after, budget in
      let old = try before.flatMap { try Self.record($0, keyed.older, oldEntity, step.older) }
      let new = try after.flatMap { try Self.record($0, keyed.newer, newEntity, step.newer) }
      budget.visits -= 7
      // An index key that contains null ends with its record's id. Records with such a key have no
      // unique key, so they do not match, even if the bytes are equal.
      if let old, let new, try !keyed.hasNull(new.bytes, new.id) {
        if pair.haveEqualContent(old.bytes, new.bytes), !pair.followsLinks { return }
        return try find(old, new, &budget)
      }
      try find(old, nil, &budget)
      try find(nil, new, &budget)
    }
  }

  /// Returns the record of an entry; `nil` when it has expired.
  private static func record(
    _ body: ByteView, _ index: StoredIndex, _ entity: StoredEntity, _ core: TransactionCore
  ) throws -> Row? {
    guard body.count == 8 else {
      throw StoreError.damagedIndex(index.name, "an entry's body has \(body.count) bytes, not 8")
    }
    let id = body.uint64(at: 0)
    if try core.expired(of: entity)?.contains(id) ?? false { return nil }
    guard let bytes = try core.record(id, of: entity) else {
      throw StoreError.damagedIndex(index.name, "it leads to record \(id), which is not there")
    }
    return (id, bytes)
  }
}

extension KeyedPair {
  /// Returns whether a record of the newer store has a null in the key.
  fileprivate func hasNull(_ bytes: ByteView, _ id: UInt64) throws -> Bool {
    guard let entity = pair.newer else { return false }
    let attributes = newer.description.attributes.compactMap {
      entity.description.attribute(number: $0)
    }
    guard attributes.contains(where: \.isOptional) else { return false }
    let view = try entity.view(bytes, id: id)
    return try attributes.contains { try EntityPair.value($0, view) == .null }
  }
}

extension EntityPair {
  /// Whether equal bytes may stand for different values, as record ids of two stores do.
  fileprivate var followsLinks: Bool {
    attributes.contains {
      if case .byTarget = $0.comparison { true } else { false }
    }
  }
}

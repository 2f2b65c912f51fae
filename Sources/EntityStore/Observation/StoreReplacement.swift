internal import LMDB
internal import LodestoreFormat

/// The changes from a sealed file to the one that replaces it, for observers of both.
///
/// Only files with equal schemas are compared: numbers of entities and layouts of records then mean
/// the same in both. Nobody writes a sealed file, so whatever was read of the older one is of the
/// commit that is compared. Where nothing is known, the observer reads everything again.
enum StoreReplacement {
  /// The changes of what an observer depends on; `nil` where they are not known.
  ///
  /// Equal digests tell in O(1) that nothing has changed.
  ///
  /// - Parameters:
  ///   - region: the entities and relationships that the observer depends on.
  ///   - listed: the entity whose changed records the result lists, at most 256, after a pass over the records
  ///     of both files; `nil` to list none.
  static func delta(
    from older: StoreCore, to newer: TransactionCore, in region: ObservedRegion,
    listing listed: StoredEntity? = nil
  ) throws -> ChangeDelta? {
    try older.read { try delta(from: $0, to: newer, in: region, listing: listed) }
  }

  /// The changes from a read of a sealed file; see
  /// ``delta(from:to:in:listing:)-(StoreCore,_,_,_)``.
  static func delta(
    from older: TransactionCore, to newer: TransactionCore, in region: ObservedRegion,
    listing listed: StoredEntity? = nil
  ) throws -> ChangeDelta? {
    guard let old = older.store.seal, let new = newer.store.seal, old.schema == new.schema,
      !newer.schema.hasExpiry, let names = names(of: region, newer.schema)
    else { return nil }
    // Matching by ids compares all.
    var plan = try DifferencePlan(older, newer, .id, entities: names)
    let steps = try plan.recordSteps() + plan.otherSteps()
    guard let first = steps.first else { return ChangeDelta() }
    guard steps.count == 1, let listed, case .records(let pair) = first,
      pair.name == listed.name, let entity = try changes(of: pair, older, newer)
    else { return nil }
    var delta = ChangeDelta()
    delta.entities[listed.number] = entity
    return delta
  }

  /// The names of the entities of a region; `nil` for an empty one, and where a number is unknown.
  private static func names(of region: ObservedRegion, _ schema: StoredSchema) -> Set<String>? {
    var names: Set<String> = []
    for number in region.entities {
      guard let entity = schema.entity(number) else { return nil }
      names.insert(entity.name)
    }
    for number in region.relationships {
      guard let found = schema.relationship(number) else { return nil }
      names.formUnion([found.from.name, found.to.name])
    }
    return names.isEmpty ? nil : names
  }

  /// The changed records of one entity; `nil` for too many.
  private static func changes(
    of pair: EntityPair, _ older: TransactionCore, _ newer: TransactionCore
  ) throws -> EntityDelta? {
    var budget = DifferenceBudget()
    budget.visits = .max
    var step = DifferenceStep(older: older, newer: newer, place: .id(0), budget: budget)
    var delta = EntityDelta()
    let isWhole = try step.run(.records(pair)) { found in
      guard case .record(let record) = found else { return }
      delta.touched.append(record.id)
      if let old = record.old {
        delta.olds[record.id] = Array(old)
      } else {
        delta.inserted.append(record.id)
      }
    }
    return isWhole ? delta : nil
  }
}

internal import LMDB
internal import LodestoreFormat

/// The changes from a sealed file to the one that replaces it, for observers of both.
///
/// Only files with equal schemas are compared, because then entity numbers and record layouts have
/// equal meanings. A sealed file never changes, so all reads of the older file are of the compared
/// commit. When the changes are unknown, the observer reads everything again.
enum StoreReplacement {
  /// The changes to the entities and relationships on which an observer depends; `nil` when
  /// unknown.
  ///
  /// Equal digests show in O(1) that nothing has changed.
  ///
  /// - Parameters:
  ///   - region: the entities and relationships on which the observer depends.
  ///   - listed: the entity whose changed records the result lists, at most 256. Listing takes a
  ///     pass over the records of both files. `nil` lists none.
  static func delta(
    from older: StoreCore, to newer: TransactionCore, in region: ObservedRegion,
    listing listed: StoredEntity? = nil
  ) throws -> CommitDelta? {
    try older.read { try delta(from: $0, to: newer, in: region, listing: listed) }
  }

  /// The changes since a read of a sealed file; see
  /// ``delta(from:to:in:listing:)-(StoreCore,_,_,_)``.
  static func delta(
    from older: TransactionCore, to newer: TransactionCore, in region: ObservedRegion,
    listing listed: StoredEntity? = nil
  ) throws -> CommitDelta? {
    guard let old = older.store.seal, let new = newer.store.seal, old.schema == new.schema,
      !newer.schema.hasExpiry, let names = names(of: region, newer.schema)
    else { return nil }
    // Records of the two files are matched by their ids, and all of them are compared.
    var plan = try DifferencePlan(older, newer, .id, entities: names)
    let steps = try plan.recordSteps() + plan.otherSteps()
    guard let first = steps.first else { return CommitDelta() }
    guard steps.count == 1, let listed, case .records(let pair) = first,
      pair.name == listed.name, let entity = try changes(of: pair, older, newer)
    else { return nil }
    var delta = CommitDelta()
    delta.entities[listed.number] = entity
    return delta
  }

  /// The names of the entities of a region; `nil` for an empty region and for an unknown number.
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

  /// The changed records of one entity; `nil` when there are too many.
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

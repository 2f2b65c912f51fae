internal import LMDB
internal import LodestoreFormat

/// Where the records lie that a walk is to find.
///
/// A limit ends a scan, or a walk of an index for its order, early only where some of these records
/// come early. A few entries of the most selective index tell whether they do: where data are
/// correlated, as the state of a record with its age, all of them may lie behind most others.
extension Planner {
  /// How many entries are sampled for a scan, and how many records for a walk of an index.
  private static let sampledIDs = 32
  private static let sampledRecords = 16
  /// Costs below this, in nanoseconds, are not worth a sample.
  private static let sampleCost = 100_000.0

  /// The best of `candidates`, and `scan` with the cost that samples tell of it.
  func best(
    of candidates: [QueryPlan], and scan: QueryPlan, _ accesses: [IndexAccess]
  ) throws -> (best: QueryPlan?, scan: QueryPlan) {
    var candidates = candidates
    var scan = scan
    var sampled: Set<ObjectIdentifier> = []
    let selective = accesses.min { $0.estimatedEntryCount < $1.estimatedEntryCount }
    while true {
      let best = candidates.min { $0.cost < $1.cost }
      let chosen = best.map { $0.cost < scan.cost ? $0 : scan } ?? scan
      guard let selective, chosen.isSpread, chosen.certainCost - chosen.cost > Self.sampleCost,
        !sampled.contains(ObjectIdentifier(chosen))
      else { return (best, scan) }
      let skipped = try skippedShare(of: chosen, selective)
      let costing = chosen.costing(
        min(chosen.certainCost, chosen.cost + skipped * chosen.certainCost))
      sampled.insert(ObjectIdentifier(costing))
      if chosen === scan { scan = costing }
      if let place = candidates.firstIndex(where: { $0 === chosen }) { candidates[place] = costing }
    }
  }

  /// About which share of the walk of `plan` comes before the first record that `access` leads to.
  private func skippedShare(of plan: QueryPlan, _ access: IndexAccess) throws -> Double {
    let isOfIndex: Bool
    let isReversed: Bool
    switch plan.arrangement {
    case .natural(let flag): (isOfIndex, isReversed) = (false, flag)
    case .index(let flag): (isOfIndex, isReversed) = (true, flag)
    case .merge, .sort, .groups: return 0
    }
    let count = isOfIndex ? Self.sampledRecords : Self.sampledIDs
    let ids = try statistics.ends(access, count)
    guard ids.count == count, let low = ids.min(), let high = ids.max() else { return 0 }
    let share: Double
    if isOfIndex {
      guard case .index(let walk) = plan.access else { return 0 }
      let elements = try statistics.firstElementsOf(walk.index, ids)
      let range: IndexRange
      if isReversed {
        let highest = elements.max { $0.lexicographicallyPrecedes($1) } ?? []
        range = IndexRange(lower: highest + [255], upper: nil)
      } else {
        range = IndexRange(
          lower: [], upper: elements.min { $0.lexicographicallyPrecedes($1) } ?? [])
      }
      share =
        Double(try statistics.estimate(walk.index, range)) / Double(max(1, statistics.recordCount))
    } else {
      guard let all = try statistics.ids(), all.contains(low), all.contains(high) else { return 0 }
      let before = isReversed ? all.upperBound - high : low - all.lowerBound
      share = Double(before) / (Double(all.upperBound - all.lowerBound) + 1)
    }
    // Of records that are spread evenly, the first of so many comes about there.
    return max(0, share - 3 / Double(count + 1))
  }
}

extension QueryPlan {
  /// Whether the cost counts on matches that are spread evenly over all records.
  fileprivate var isSpread: Bool {
    guard request.limit != nil else { return false }
    switch (access, arrangement) {
    case (.scan, .natural): return true
    case (.index(let access), .index): return access.clauses.isEmpty
    default: return false
    }
  }

  fileprivate func costing(_ cost: Double) -> QueryPlan {
    QueryPlan(
      subject: subject, access: access, residual: residual, arrangement: arrangement, cost: cost,
      certainCost: certainCost, estimatedMatchCount: estimatedMatchCount, alternative: alternative)
  }
}

extension TransactionCore {
  /// The ids of the first and of the last entries of `access`, half as many as `count` of each;
  /// fewer where there are not so many.
  func ends(of access: IndexAccess, _ count: Int) throws -> [UInt64] {
    guard access.rangeCount > 0 else { return [] }
    var ids: [UInt64] = []
    for isReversed in [false, true] {
      let range = access.range(at: isReversed ? access.rangeCount - 1 : 0)
      var left = count / 2
      let cursor = try Cursor(access.index.tree, in: transaction)
      try cursor.forEachEntry(in: range.keys, backwards: isReversed) { (key, value) throws in
        if access.index.isUnique {
          if value.count == 8 { ids.append(value._uint64(at: 0)) }
        } else if key.count >= 8 {
          ids.append(key._bigEndianUInt64(at: key.count - 8))
        }
        left -= 1
        return left > 0
      }
    }
    return ids
  }

  /// The first elements of the keys that the records with `ids` have in `index`.
  func firstElements(
    of ids: [UInt64], in index: StoredIndex, of entity: StoredEntity
  ) throws -> [[UInt8]] {
    let number = index.description.attributes[0]
    return try ids.compactMap { id in
      guard let bytes = try record(id, of: entity) else { return nil }
      let view = try entity.view(bytes, id: id)
      guard let place = view.layout.slotIndex(ofAttribute: number) else {
        return entity.description.attribute(number: number)
          .map { IndexConstraint.element($0.initial) }
      }
      let slot = view.layout.slots[place]
      var encoder = KeyEncoder()
      if view.isNull(slot) {
        encoder.appendNull()
      } else {
        try IndexTuple.append(slot, of: view, into: &encoder)
      }
      return Array(encoder.bytes)
    }
  }
}

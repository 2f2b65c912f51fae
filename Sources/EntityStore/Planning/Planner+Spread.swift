internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// Estimates from samples where the matching records lie in a walk.
///
/// A limit ends a scan, or a walk in index order, early only if some matching records come early. A
/// few entries of the most selective index show whether they do. With correlated attributes, such
/// as the state and the date of an order, all matching records may come after most others.
extension Planner {
  /// The number of sampled entries.
  ///
  /// With half as many entries, one sample in two hundred would rule out a walk although the
  /// matching records are evenly spread.
  private static let sampledIDs = 32
  /// A plan is sampled if its worst-case cost exceeds its cost by more than this number of
  /// nanoseconds.
  private static let sampleCost = 100_000.0

  /// Returns the best of `candidates`, and `scan`, with their costs corrected by samples.
  func sampledBest(
    of candidates: [QueryPlan], and scan: QueryPlan, by accesses: [IndexAccess]
  ) throws -> (best: QueryPlan?, scan: QueryPlan) {
    var candidates = candidates
    var scan = scan
    var sampled: Set<ObjectIdentifier> = []
    while true {
      let best = candidates.min { $0.cost < $1.cost }
      let chosen = best.map { $0.cost < scan.cost ? $0 : scan } ?? scan
      guard chosen.isSpread, chosen.worstCaseCost - chosen.cost > Self.sampleCost,
        !sampled.contains(ObjectIdentifier(chosen))
      else { return (best, scan) }
      // The clauses that bound the walk itself show nothing about the order within it.
      let walked = chosen.walkedClauses
      let others = accesses.filter { !$0.clauses.isSubset(of: walked) }
      guard let selective = others.min(by: { $0.estimatedEntryCount < $1.estimatedEntryCount })
      else { return (best, scan) }
      let skipped = try skippedShare(of: chosen, selective)
      let costing = chosen.with(
        cost: min(chosen.worstCaseCost, chosen.cost + skipped * chosen.worstCaseCost))
      sampled.insert(ObjectIdentifier(costing))
      if chosen === scan { scan = costing }
      if let place = candidates.firstIndex(where: { $0 === chosen }) { candidates[place] = costing }
    }
  }

  /// Returns the estimated share of the walk of `plan` that comes before the first record found by
  /// `access`.
  private func skippedShare(of plan: QueryPlan, _ access: IndexAccess) throws -> Double {
    switch (plan.access, plan.arrangement) {
    case (.scan, .natural(let isReversed)):
      let ids = try statistics.ends(of: access, Self.sampledIDs)
      guard ids.count == Self.sampledIDs, let low = ids.min(), let high = ids.max(),
        let all = try statistics.ids(), all.contains(low), all.contains(high)
      else { return 0 }
      let before = isReversed ? all.upperBound - high : low - all.lowerBound
      return Self.unexpected(
        Double(before), of: Double(all.upperBound - all.lowerBound) + 1, Self.sampledIDs)
    case (.index(let walk), .index(let isReversed)):
      let range = walk.range(at: 0)
      let ids = try statistics.ends(of: access, Self.sampledIDs)
      guard ids.count == Self.sampledIDs,
        let prefix = range.lower._withBytes({
          KeyDecoder.lengthOfBeginning(of: $0, elementCount: walk.fixedCount)
        })
      else { return 0 }
      // The keys are without the elements that the walk fixes to one value. A sampled record may be
      // outside of the walk's range.
      let keys = try statistics.keys(of: ids, in: walk.index, behind: walk.fixedCount)
      let edge =
        isReversed
        ? keys.max { $0.lexicographicallyPrecedes($1) }
        : keys.min { $0.lexicographicallyPrecedes($1) }
      guard let edge else { return 0 }
      let key = Array(range.lower[..<prefix]) + edge
      let skipped =
        isReversed
        ? IndexRange(lower: key + [255], upper: nil) : IndexRange(lower: [], upper: key)
      let common = skipped.intersection(range)
      guard !common.isEmpty else { return 0 }
      return Self.unexpected(
        Double(try statistics.estimate(walk.index, common)), of: Double(walk.estimatedEntryCount),
        Self.sampledIDs)
    default: return 0
    }
  }

  /// Returns the share of `all` before the first of `count` samples, minus the share to be expected
  /// with evenly spread samples.
  private static func unexpected(_ before: Double, of all: Double, _ count: Int) -> Double {
    min(1, max(0, before / max(1, all) - 3 / Double(count + 1)))
  }
}

extension QueryPlan {
  /// Whether the cost assumes that matches are spread evenly over the records of a walk.
  fileprivate var isSpread: Bool {
    // A query without a limit reads the whole walk, and one with a limit of 0 reads nothing.
    guard let limit = request.limit, limit > 0 else { return false }
    switch (access, arrangement) {
    case (.scan, .natural): return true
    case (.index(let access), .index): return access.rangeCount == 1
    default: return false
    }
  }

  /// The positions of the clauses that bound the walk.
  fileprivate var walkedClauses: Set<Int> {
    if case .index(let access) = access { access.clauses } else { [] }
  }
}

extension PlannerStatistics {
  /// Returns the ids of the first `count / 2` and the last `count / 2` entries of `access`, or
  /// fewer if it has fewer.
  fileprivate func ends(of access: IndexAccess, _ count: Int) throws -> [UInt64] {
    guard access.rangeCount > 0 else { return [] }
    var ids: [UInt64] = []
    for isReversed in [false, true] {
      let range = access.range(at: isReversed ? access.rangeCount - 1 : 0)
      var left = count / 2
      let cursor = try Cursor(access.index.tree, in: core.transaction)
      try cursor.forEachEntry(in: range.keys, backwards: isReversed) { (key, value) throws in
        if access.index.isUnique {
          if value.count == 8 { ids.append(value.uint64(at: 0)) }
        } else if key.count >= 8 {
          ids.append(key.bigEndianUInt64(at: key.count - 8))
        }
        left -= 1
        return left > 0
      }
    }
    return ids
  }

  /// Returns the keys of the records with `ids` in `index`, without their first `count` elements.
  fileprivate func keys(
    of ids: [UInt64], in index: StoredIndex, behind count: Int
  ) throws -> [[UInt8]] {
    var rest = index.description
    rest.attributes = Array(rest.attributes.dropFirst(count))
    return try ids.compactMap { id in
      var encoder = KeyEncoder()
      if !rest.attributes.isEmpty {
        guard let bytes = try core.record(id, of: entity) else { return nil }
        try IndexTuple.encode(
          rest, of: try entity.view(bytes, id: id), in: entity.description, into: &encoder,
          isCut: false)
      }
      if !index.isUnique { encoder.append(recordID: id) }
      return Array(encoder.bytes)
    }
  }
}

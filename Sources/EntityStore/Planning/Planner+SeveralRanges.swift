internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// Plans that use several ranges of one index.
extension Planner {
  /// The cost of a step from one value of an index's first attribute to the next, in nanoseconds.
  static let stepCost = 1_000.0

  /// Returns accesses by indexes for which the condition constrains the second attribute, but not
  /// the first.
  ///
  /// Each access reads the constrained entries under each value of the first attribute. The values
  /// must be few, so that the steps cost little compared with the best of `candidates` and with a
  /// scan.
  func skippingAccesses(beside candidates: [QueryPlan]) throws -> [IndexAccess] {
    guard request.ids == nil, !clauses.allSatisfy(\.isAlways) else { return [] }
    var found: [IndexAccess] = []
    var most: Int?
    for index in entity.indexes where canSkip(by: index) {
      guard !constraints.hasSome(on: index.description.attributes[0]) else { continue }
      let steps = most ?? mostSteps(beside: candidates)
      most = steps
      guard let access = try skippingAccess(by: index, atMost: steps) else { continue }
      found.append(access.filtered(by: clauses))
    }
    return found
  }

  /// Returns whether the condition constrains the second attribute of `index`.
  private func canSkip(by index: StoredIndex) -> Bool {
    let attributes = index.description.attributes
    return attributes.count > 1 && constraints.hasSome(on: attributes[1])
  }

  /// Returns the access to the constrained entries under each value of the first attribute of
  /// `index`.
  ///
  /// Returns `nil` if there are more than `steps` values, or if the condition does not constrain
  /// the second attribute.
  func skippingAccess(by index: StoredIndex, atMost steps: Int) throws -> IndexAccess? {
    guard canSkip(by: index), steps > 1,
      let firsts = try statistics.firstElements(of: index, atMost: steps)
    else { return nil }
    return try IndexAccess(index, constraints, behind: firsts, statistics)
  }

  private func mostSteps(beside candidates: [QueryPlan]) -> Int {
    let cost = min(candidates.map(\.cost).min() ?? .infinity, scan(beside: candidates).cost, 1e12)
    return min(256, Int(cost / (20 * Self.stepCost)))
  }

  /// Returns a plan that walks all ranges of `access` at once, if the entries within each range are
  /// in the query's order.
  func mergedPlan(_ access: IndexAccess) -> QueryPlan? {
    guard let wanted = request.wantedCount,
      let isReversed = order.isReversed(inEachRangeOf: access)
    else { return nil }
    let entries = Double(access.estimatedEntryCount)
    let passing = passingShare(of: access)
    let share = share(ofAllBut: access)
    let walked = min(entries, Double(wanted) / max(1e-9, share * passing))
    let fetched = isAnsweredByEntries(access) ? 0 : Cost.fetchedRecord
    let each = Cost.mergedEntry + passing * fetched
    let skipped = share == 1 ? min(walked * passing, Double(request.offset)) : 0
    let start = Double(access.rangeCount) * (Cost.range + Self.stepCost)
    return finished(
      .index(access), matches: Int(entries * passing),
      cost: walked * each - skipped * fetched + start, worstCaseCost: entries * each + start,
      covered: access.covered, arrangement: .merge(isReversed: isReversed))
  }
}

extension PlannerStatistics {
  /// Returns the values of the first attribute of `index` as elements of its keys, by one step for
  /// each.
  ///
  /// - Returns: the values, or `nil` if there are more than `most` or one may be cut.
  fileprivate func firstElements(of index: StoredIndex, atMost most: Int) throws -> PackedKeys? {
    let cursor = try Cursor(index.tree, in: core.transaction)
    var found = PackedKeys()
    var hasEntry = try cursor.first()
    while hasEntry {
      guard found.count < most, let end = KeyDecoder.endOfElement(in: cursor.key, at: 0),
        end < KeyEncoder.cutPrefix
      else { return nil }
      let element = Array(cursor.key[..<end])
      // Only a damaged file has keys out of order, and this plan is then not used.
      guard found.isEmpty || found[found.count - 1].lexicographicallyPrecedes(element) else {
        return nil
      }
      found.append(element)
      hasEntry = try (element + [255])._withBytes { try cursor.seek(atOrAfter: $0) }
    }
    return found
  }
}

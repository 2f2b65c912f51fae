internal import LodestoreFormat

extension Planner {
  /// Returns the plan for a condition on the record's id, which needs no index; `nil` if there is
  /// no such condition.
  func planByID() throws -> QueryPlan? {
    if let given = request.ids, !clauses.contains(where: \.isOfRecordID) {
      return finished(
        .ids(given), matches: given.count, cost: Double(given.count) * Cost.fetchedRecord)
    }
    var path: AccessPath?
    var covered: Set<Int> = []
    for (position, clause) in clauses.enumerated() {
      guard case .test(let test) = clause, test.attribute.isRecordID else { continue }
      covered.insert(position)
      path = test.recordIDs.intersection(path)
    }
    guard let path else { return nil }
    return try plan(path.restricted(to: request.ids), covering: covered)
  }

  private func plan(_ path: AccessPath, covering covered: Set<Int>) throws -> QueryPlan {
    switch path {
    case .ids(let ids):
      return finished(
        path, matches: ids.count, cost: Double(ids.count) * Cost.fetchedRecord, covered: covered)
    case .idRange(let range):
      let count = Double(try estimatedCount(of: range))
      let checked = Cost.scannedRecord + condition.checkingCost
      let share = share(of: 0..<(clauses.count - covered.count))
      return finished(
        path, matches: Int(count * share),
        cost: limitedCost(all: count, each: checked, share: share) + Cost.range,
        worstCaseCost: count * checked + Cost.range, covered: covered)
    default: return finished(.nothing, matches: 0, cost: 0)
    }
  }

  /// Returns the estimated number of records with ids within `range`, assuming evenly distributed
  /// ids.
  func estimatedCount(of range: ClosedRange<UInt64>) throws -> Int {
    guard let all = try statistics.ids(), all.overlaps(range) else { return 0 }
    let common = range.clamped(to: all)
    let share =
      (Double(common.upperBound - common.lowerBound) + 1)
      / (Double(all.upperBound - all.lowerBound) + 1)
    return min(statistics.recordCount, Int((Double(statistics.recordCount) * share).rounded(.up)))
  }
}

extension AttributeTest {
  /// The ids that pass a test of the record's id, as a path `ids`, `idRange` or `nothing`.
  var recordIDs: AccessPath {
    switch kind {
    case .interval(let interval):
      let low = max(1, UInt64(bitPattern: interval.low) ^ (1 << 63))
      let high = UInt64(bitPattern: interval.high) ^ (1 << 63)
      guard !interval.isEmpty, low <= high else { return .nothing }
      return low == high ? .ids([low]) : .idRange(low...high)
    case .numbers(let set):
      // The mapped numbers are in the order of the ids, so the ids ascend too.
      let ids = set.sorted.map { UInt64(bitPattern: $0) ^ (1 << 63) }.filter { $0 > 0 }
      return ids.isEmpty ? .nothing : .ids(ids)
    case .null, .text, .key, .keys: return .nothing
    }
  }
}

extension AccessPath {
  /// Returns the ids common to two paths by id; all ids of this path if `other` is `nil`.
  fileprivate func intersection(_ other: AccessPath?) -> AccessPath {
    guard let other else { return self }
    switch (self, other) {
    case (.ids(let ids), .idRange(let range)), (.idRange(let range), .ids(let ids)):
      return .ids(ids.filter { range.contains($0) })
    case (.ids(let ids), .ids(let others)):
      let wanted = Set(others)
      return .ids(ids.filter { wanted.contains($0) })
    case (.idRange(let a), .idRange(let b)):
      return a.overlaps(b) ? .idRange(a.clamped(to: b)) : .nothing
    default: return .nothing
    }
  }

  fileprivate func restricted(to ids: [UInt64]?) -> AccessPath {
    ids.map { intersection(.ids($0)) } ?? self
  }
}

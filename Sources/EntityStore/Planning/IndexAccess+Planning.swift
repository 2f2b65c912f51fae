internal import LMDB
internal import LodestoreFormat

extension IndexAccess {
  /// The maximum number of combinations of values from several lists.
  ///
  /// Beyond this number, only the lists for the first attributes of the index are used.
  private static let mostRanges = 1 << 17

  /// Creates an access to all of `index`, for its order.
  init(whole index: StoredIndex, count: Int) {
    self.index = index
    span = .ranges([.all])
    fixedCount = 0
    isExact = true
    clauses = []
    estimatedEntryCount = count
  }

  /// Creates an access to the entries of `index` that `constraints` admit; `nil` if no constraint
  /// is on its first attribute.
  ///
  /// - Parameters:
  ///   - firsts: all values of the first attribute, if no constraint is on it.
  ///   - statistics: used to estimate the number of entries, which is 0 without them.
  init?(
    _ index: StoredIndex, _ constraints: IndexConstraints, behind firsts: PackedKeys? = nil,
    _ statistics: PlannerStatistics?
  ) throws {
    let attributes = index.description.attributes
    // Most indexes end here, because the condition has no constraint on their first attribute.
    guard firsts != nil || constraints[attributes[0]] != nil else { return nil }
    var prefixes = firsts ?? PackedKeys([])
    var ranges: [IndexRange]?
    var used: Set<Int> = []
    var isExact = true
    var fixedCount = 0
    var completeCount = 0
    var mayHaveNulls = false
    if let firsts {
      completeCount = 1
      if firsts.count == 1 { fixedCount = 1 }
      mayHaveNulls = firsts.isEmpty || firsts[0] == [0]
    }
    attributes: for attribute in attributes.dropFirst(completeCount) {
      guard let (constraint, positions) = constraints[attribute] else { break }
      switch constraint.extent {
      case .points(let points):
        guard prefixes.count * max(1, points.count) <= Self.mostRanges else { break attributes }
        used.formUnion(positions)
        if points.count <= 1, fixedCount == completeCount { fixedCount += 1 }
        completeCount += 1
        // Null sorts first, so only the first value can be null.
        if !points.isEmpty, points[0] == [0] { mayHaveNulls = true }
        prefixes = prefixes.followed(by: points)
      case .range, .ranges:
        let list = constraint.extent.ranges.filter { !$0.isEmpty }
        guard prefixes.count * max(1, list.count) <= Self.mostRanges else { break attributes }
        used.formUnion(positions)
        ranges = (0..<prefixes.count).flatMap { prefix in
          list.map { $0.following(prefixes[prefix]) }
        }
        isExact = isExact && constraint.isExact
        break attributes
      }
      isExact = isExact && constraint.isExact
    }
    guard !used.isEmpty else { return nil }
    self.index = index
    self.fixedCount = fixedCount
    pointCount = completeCount
    self.isExact = isExact
    self.mayHaveNulls = mayHaveNulls
    clauses = used
    if let ranges {
      span = .ranges(ranges)
    } else if completeCount == attributes.count {
      span = .points(prefixes)
    } else {
      span = .prefixes(prefixes)
    }
    estimatedEntryCount = 0
    if let statistics { estimatedEntryCount = try estimate(statistics) }
  }

  /// The clauses that the entries alone guarantee.
  var covered: Set<Int> { (isExact ? clauses : []).union(filter?.clauses ?? []) }

  /// Returns an access to the same entries that also checks those of `conjuncts` which entries can
  /// decide.
  func filtered(by conjuncts: [BoundCondition]) -> IndexAccess {
    var access = self
    access.filter = EntryFilter(index, conjuncts, proven: isExact ? clauses : [])
    return access
  }

  /// Estimates the number of entries by descending the tree for each range, or for a sample of many
  /// ranges.
  private func estimate(_ statistics: PlannerStatistics) throws -> Int {
    if case .points(let points) = span, index.isUnique, points.count > 4 { return points.count }
    let ranges = sample(8)
    guard !ranges.isEmpty else { return 0 }
    var sum = 0
    for range in ranges { sum += try statistics.estimate(index, range) }
    return min(statistics.recordCount, sum * rangeCount / ranges.count)
  }

  private func sample(_ most: Int) -> [IndexRange] {
    let count = rangeCount
    let step = max(1, count / most)
    return stride(from: 0, to: count, by: step).prefix(most).map(range)
  }

  /// Returns one of the ranges of the span.
  func range(at index: Int) -> IndexRange {
    switch span {
    case .points(let keys), .prefixes(let keys): .beginning(with: keys[index])
    case .ranges(let ranges): ranges[index]
    }
  }
}

internal import LodestoreFormat

/// Access to records by their places.
struct PlaceAccess: Sendable {
  let place: BoundPlace
  /// The ranges of the index's entries that have all records of the region.
  let ranges: [IndexRange]
  let estimatedEntryCount: Int

  /// The access as text for plans.
  var text: String {
    let name = place.index.entries.name
    let cells = ranges.count == 1 ? "1 range" : "\(ranges.count) ranges"
    return "\(name) for \(place.text), \(cells) of cells, about \(estimatedEntryCount) "
      + (estimatedEntryCount == 1 ? "entry" : "entries")
  }
}

extension Planner {
  /// Returns the plan by a place index for `clause`, or `nil` for another clause.
  func placePlan(of clause: BoundCondition, covering position: Int) throws -> QueryPlan? {
    guard case .proximity(let proximity) = clause, let place = proximity as? BoundPlace,
      !place.index.isBuilding
    else { return nil }
    let ranges = place.cover.ranges().map(IndexRange.init(positions:))
    let entries = try ranges.reduce(0) { try $0 + statistics.estimate(place.index.entries, $1) }
    let access = PlaceAccess(place: place, ranges: ranges, estimatedEntryCount: entries)
    let matches = min(entries, statistics.recordCount)
    let wanted = request.wantedCount.map(Double.init) ?? .infinity
    let share = max(share(ofClauses: clauses.indices.filter { $0 != position }), 1e-9)
    let fetched = request.wantsOnlyEntries && clauses.count == 1 ? 0 : Cost.fetchedRecord
    let starts = Double(ranges.count) * Cost.range
    let collected = starts + Double(entries) * (2 * Cost.entry + Cost.sortedID)
    let cost: Double
    switch order.arrangement(for: .place(access), request: request) {
    case .ranked:
      // For each record found, some twenty entries of its cells are read.
      cost =
        20 * Cost.range
        + min(Double(matches), wanted / share) * (20 * Cost.entry + Cost.fetchedRecord)
    case .natural where order.isByID:
      cost = collected + min(Double(matches), wanted / share) * fetched
    default: cost = collected + Double(matches) * fetched
    }
    return finished(
      .place(access), matches: matches, cost: cost,
      worstCaseCost: collected + Double(matches) * (20 * Cost.entry + Cost.fetchedRecord),
      covered: [position])
  }
}

extension IndexRange {
  /// The entries at some positions of the curve.
  init(positions: ClosedRange<UInt64>) {
    let (end, overflows) = positions.upperBound.addingReportingOverflow(1)
    self.init(
      lower: bigEndianBytes(positions.lowerBound), upper: overflows ? nil : bigEndianBytes(end))
  }
}

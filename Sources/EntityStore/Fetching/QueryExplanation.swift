/// The use of a query, which together with its condition decides how it is run.
public enum QueryUse: Sendable, Equatable {
  /// Fetches the records in the query's order.
  case fetch
  /// Counts the records, or checks whether there is one.
  case count
  /// Fetches the ids of the records.
  case ids
  /// Finds the records that a batch update changes.
  case update
  /// Finds the records that a batch delete removes.
  case delete
  /// Groups records by some attributes, with aggregates of others.
  ///
  /// Without attributes to group by, the aggregates are over all records. Attributes are given by
  /// name, which may lead into JSON: `license.type`.
  case groups(by: [String], of: [String] = [])
}

/// An explanation of how a query is run.
///
///     print(try snapshot.explain(query))
///     // index   Pod.updatedAt, all of it, about 1000000 entries
///     // check   on each record: license == "MIT"
///     // order   of the index, backwards
///     // limit   50
///     // else    after 40000 records without an end: scan all records of Pod
public struct QueryExplanation: Sendable, CustomStringConvertible {
  /// The names of the indexes used, as `Entity.attribute+attribute`.
  public let index: String?
  /// Whether the plan scans, so that all records may be read.
  public let isScan: Bool
  /// The estimated number of index entries in the ranges that are read.
  public let estimatedEntryCount: Int
  /// The estimated number of records that match.
  public let estimatedRecordCount: Int
  /// The number of index entries read; `nil` unless the query was analyzed.
  public let entriesRead: Int?
  /// The number of records read; `nil` unless the query was analyzed.
  public let recordsRead: Int?
  /// The number of results; `nil` unless the query was analyzed.
  public let resultCount: Int?
  /// The plan as text, one line for each step.
  public let description: String
  /// The steps of the plan, each with a short title and its text.
  package let steps: [(title: String, text: String)]

  init(_ plan: PlanDescription, _ counts: PlanCounts?) {
    index = plan.index
    isScan = plan.isScan
    estimatedEntryCount = plan.estimatedEntryCount
    estimatedRecordCount = plan.estimatedRecordCount
    entriesRead = counts?.entriesRead
    recordsRead = counts?.recordsRead
    resultCount = counts?.results
    steps = plan.lines.map { ($0.title, $0.text) }
    var lines = plan.lines.map { line in
      line.title + String(repeating: " ", count: max(1, 8 - line.title.count)) + line.text
    }
    if let counts {
      lines.append(
        "read    \(counts.entriesRead) entries and \(counts.recordsRead) records for "
          + "\(counts.results) results")
      if let times = Self.estimateError(plan, counts) {
        let direction = counts.entriesRead > plan.estimatedEntryCount ? "more" : "fewer"
        lines.append(
          "off     \(counts.entriesRead) entries where about \(plan.estimatedEntryCount) were "
            + "expected, \(times) times \(direction)")
      }
    }
    description = lines.joined(separator: "\n")
  }

  /// Returns the factor between the estimated and the actual number of entries, if it is three or
  /// more.
  private static func estimateError(_ plan: PlanDescription, _ counts: PlanCounts) -> Int? {
    // A limit ends a run before its entries end, and an alternative reads entries of another index.
    guard !plan.lines.contains(where: { ["limit", "else", "both"].contains($0.title) }),
      plan.index != nil, max(plan.estimatedEntryCount, counts.entriesRead) >= 100
    else { return nil }
    let (low, high) = (
      min(plan.estimatedEntryCount, counts.entriesRead),
      max(plan.estimatedEntryCount, counts.entriesRead)
    )
    let times = high / max(1, low)
    return times >= 3 ? times : nil
  }
}

extension PlanRun {
  /// Explains how the groups are computed.
  func groupExplanation(
    by keys: [String], of others: [String], analyzing: Bool
  ) throws(StoreError) -> QueryExplanation {
    let paths = keys.map { Operand.path(ValuePath(dotted: $0)) }
    let terms = others.map { GroupTerm(.max, ValuePath(dotted: $0)) }
    let chosen = try coveringPlan(of: GroupQuestion(paths, terms, entity, core)) ?? plan
    if analyzing {
      var count = 0
      try forEachGroup(by: paths, terms) { _ in count += 1 }
      counts.results = count
    }
    var description = chosen.description
    // Groups are visited ascending by their values and without a limit.
    description.lines.removeAll { ["order", "limit", "offset", "else"].contains($0.title) }
    return QueryExplanation(description, analyzing ? counts : nil)
  }
}

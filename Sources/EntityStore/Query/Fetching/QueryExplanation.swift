/// What a query is used for, which decides with its condition how it is run.
public enum QueryUse: Sendable, Equatable {
  /// Records, in the query's order.
  case fetch
  /// How many there are, or whether there is one.
  case count
  /// Their ids.
  case ids
  /// The records that a batch update changes.
  case update
  /// The records that a batch delete removes.
  case delete
  /// Groups by the values of some attributes, with aggregates of others, or aggregates of all
  /// records where it names none to group by.
  ///
  /// Attributes by their names, also into JSON: `license.type`.
  case groups(by: [String], of: [String] = [])
}

/// How a query is run.
///
///     print(try snapshot.explain(query))
///     // index   Pod.updatedAt, all of it, about 1000000 entries
///     // check   on each record: license == "MIT"
///     // order   of the index, backwards
///     // limit   50
///     // else    after 40000 records without an end: scan all records of Pod
public struct QueryExplanation: Sendable, CustomStringConvertible {
  /// The indexes that are used, as `Entity.attribute+attribute`.
  public let index: String?
  /// Whether all records may be read.
  public let isScan: Bool
  /// About how many index entries are in the ranges that are looked at.
  public let estimatedEntryCount: Int
  /// About how many records match.
  public let estimatedRecordCount: Int
  /// How many index entries were read; `nil` unless the query was analyzed.
  public let entriesRead: Int?
  /// How many records were read; `nil` unless the query was analyzed.
  public let recordsRead: Int?
  /// How many results there were; `nil` unless the query was analyzed.
  public let resultCount: Int?
  /// The plan in lines.
  public let description: String
  /// The plan in steps: a word or two, and what it is.
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

  /// How many times more or fewer entries there were than expected, where it is three times or
  /// more.
  private static func estimateError(_ plan: PlanDescription, _ counts: PlanCounts) -> Int? {
    // A limit ends a run before its entries do, and an alternative reads those of another index.
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

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
    }
    description = lines.joined(separator: "\n")
  }
}

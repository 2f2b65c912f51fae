/// The numbers of entries, records and results of a run.
struct PlanCounts: Sendable, Hashable {
  var entriesRead = 0
  var recordsRead = 0
  var results = 0
}

/// A plan as facts and as lines of text.
struct PlanDescription: Sendable {
  /// One fact of a plan: a title of one or two words, and its text.
  struct Line: Sendable {
    let title: String
    let text: String

    init(_ title: String, _ text: String) { (self.title, self.text) = (title, text) }
  }

  var lines: [Line]
  var index: String?
  var isScan: Bool
  var estimatedEntryCount: Int
  var estimatedRecordCount: Int
}

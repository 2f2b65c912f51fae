import EntityStore

/// How a query is run, and what running it read.
struct PlanReport {
  let entity: String
  let plan: QueryExplanation
  /// How long running it took; nil when it was not run.
  let duration: Duration?

  /// One object in the JSON formats, a line a step for people, a row a step in CSV and Markdown.
  func write(on console: Console) throws {
    switch console.format {
    case .json, .jsonl: try console.writeObject(members)
    case .csv, .markdown:
      let writer = console.rows(of: [Column("step"), Column("text")])
      for step in steps { try writer.write([.text(step.title), .text(step.text)]) }
      try writer.finish()
    case .table, .line:
      let width = steps.map(\.title.count).max() ?? 0
      for step in steps {
        let space = String(repeating: " ", count: width - step.title.count + 2)
        let text = console.style.strong(step.title) + space + DisplayText.escaped(step.text)
        try console.output.write(text + "\n")
      }
    }
  }

  /// The steps of the plan, then what they are thought to read, and what they read.
  private var steps: [(title: String, text: String)] {
    var steps = plan.steps
    steps.append(
      ("estimated", Self.amount(plan.estimatedEntryCount, plan.estimatedRecordCount)))
    if let duration, let entriesRead = plan.entriesRead, let recordsRead = plan.recordsRead,
      let resultCount = plan.resultCount
    {
      steps.append(
        (
          "actual",
          Self.amount(entriesRead, recordsRead) + " read, "
            + Self.amount(resultCount, "result") + ", \(Self.text(of: duration))"
        ))
    }
    return steps
  }

  private var members: [(column: Column, cell: Cell)] {
    let steps = plan.steps.map { line in
      Cell.json(JSONText.object([("step", .text(line.title)), ("text", .text(line.text))]))
    }
    var members: [(column: Column, cell: Cell)] = [
      (Column("entity"), .text(entity)),
      (Column("index"), plan.index.map(Cell.text) ?? .null),
      (Column("scan"), .bool(plan.isScan)),
      (Column("estimatedEntries"), .count(plan.estimatedEntryCount)),
      (Column("estimatedRecords"), .count(plan.estimatedRecordCount)),
    ]
    if let duration, let entriesRead = plan.entriesRead, let recordsRead = plan.recordsRead,
      let resultCount = plan.resultCount
    {
      members += [
        (Column("entriesRead"), .count(entriesRead)),
        (Column("recordsRead"), .count(recordsRead)),
        (Column("results"), .count(resultCount)),
        (Column("seconds"), .double((duration / .microseconds(1)).rounded() / 1e6)),
      ]
    }
    return members + [(Column("plan"), .json(JSONText.array(steps)))]
  }

  private static func amount(_ entries: Int, _ records: Int) -> String {
    amount(entries, "entry", "entries") + " and " + amount(records, "record")
  }

  private static func amount(_ count: Int, _ noun: String, _ plural: String? = nil) -> String {
    "\(NumberText.grouped(count)) \(count == 1 ? noun : plural ?? noun + "s")"
  }

  /// "12.3 ms".
  private static func text(of duration: Duration) -> String {
    let tenths = (duration / .milliseconds(1) * 10).rounded()
    let (whole, tenth) = (Int(exactly: tenths) ?? 0).quotientAndRemainder(dividingBy: 10)
    return "\(NumberText.grouped(whole)).\(tenth) ms"
  }
}

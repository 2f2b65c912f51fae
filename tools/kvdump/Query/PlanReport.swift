import EntityStore

/// How a query is run, and what running it read.
struct PlanReport {
  /// What `--analyze` adds.
  struct Measurement {
    let counts: PlanCounts
    let duration: Duration
  }

  let entity: String
  let plan: PlanDescription
  /// Nil when the query was not run.
  let measurement: Measurement?

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
    var steps = plan.lines.map { (title: $0.title, text: $0.text) }
    steps.append(
      ("estimated", Self.amount(plan.estimatedEntryCount, plan.estimatedRecordCount)))
    if let measurement {
      let counts = measurement.counts
      steps.append(
        (
          "actual",
          Self.amount(counts.entriesRead, counts.recordsRead) + " read, "
            + Self.amount(counts.results, "result") + ", \(Self.text(of: measurement.duration))"
        ))
    }
    return steps
  }

  private var members: [(column: Column, cell: Cell)] {
    let steps = plan.lines.map { line in
      Cell.json(JSONText.object([("step", .text(line.title)), ("text", .text(line.text))]))
    }
    var members: [(column: Column, cell: Cell)] = [
      (Column("entity"), .text(entity)),
      (Column("index"), plan.index.map(Cell.text) ?? .null),
      (Column("scan"), .bool(plan.isScan)),
      (Column("estimatedEntries"), .count(plan.estimatedEntryCount)),
      (Column("estimatedRecords"), .count(plan.estimatedRecordCount)),
    ]
    if let measurement {
      members += [
        (Column("entriesRead"), .count(measurement.counts.entriesRead)),
        (Column("recordsRead"), .count(measurement.counts.recordsRead)),
        (Column("results"), .count(measurement.counts.results)),
        (Column("seconds"), .double((measurement.duration / .microseconds(1)).rounded() / 1e6)),
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

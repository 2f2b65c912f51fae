import EntityStore

/// The plan of a query, and the numbers of records and entries that running it read.
struct PlanReport {
  private let entity: String
  private let plan: QueryExplanation
  /// The numbers of the run and its time; `nil` if the query was not run.
  private var run: (entries: Int, records: Int, results: Int, duration: Duration)?

  /// Plans a query, and runs it if its reads are to be measured.
  ///
  /// - Parameter isCounted: Whether only the number of results is requested.
  init(
    _ request: QueryRequest, of entity: DynamicEntity, _ snapshot: DynamicSnapshot,
    isCounted: Bool = false, isAnalyzed: Bool
  ) throws {
    self.entity = entity.name
    var request = request
    // A count needs no order.
    if isCounted { request.order = [] }
    let query = try snapshot.query(request, of: entity)
    let start = ContinuousClock.now
    plan = isAnalyzed ? try query.analysis(isCounted: isCounted) : query.explanation()
    if isAnalyzed, let entries = plan.entriesRead, let records = plan.recordsRead,
      let results = plan.resultCount
    {
      run = (entries, records, results, ContinuousClock.now - start)
    }
  }

  /// Writes one object in the JSON formats, a line for each step for people, or a row for each step
  /// in CSV and Markdown.
  func write(on console: Console) throws -> ExitStatus {
    switch console.format {
    case .json, .jsonl: try console.writeObject(members)
    case .csv, .markdown, .arrow, .geojson:
      try console.write(steps.map { [.text($0.title), .text($0.text)] }, of: ["step", "text"])
    case .table, .line:
      let width = steps.map(\.title.count).max() ?? 0
      for step in steps {
        let space = String(repeating: " ", count: width - step.title.count + 2)
        let text = console.style.strong(step.title) + space + DisplayText.escaped(step.text)
        try console.output.write(text + "\n")
      }
    }
    return .success
  }

  /// The steps of the plan, then the estimated and the actual reads.
  private var steps: [(title: String, text: String)] {
    var steps = plan.steps
    steps.append(("estimated", Self.amount(plan.estimatedEntryCount, plan.estimatedRecordCount)))
    if let run {
      let results = NumberText.counted(run.results, "result")
      let amount = Self.amount(run.entries, run.records)
      steps.append(("actual", "\(amount) read, \(results), \(Self.text(of: run.duration))"))
    }
    return steps
  }

  private var members: [(column: Column, cell: Cell)] {
    let steps = plan.steps.map { line in
      Cell.object([("step", .text(line.title)), ("text", .text(line.text))])
    }
    var members: [(column: Column, cell: Cell)] = [
      ("entity", .text(entity)), ("index", plan.index.map(Cell.text) ?? .null),
      ("scan", .bool(plan.isScan)), ("estimatedEntries", .count(plan.estimatedEntryCount)),
      ("estimatedRecords", .count(plan.estimatedRecordCount)),
    ]
    if let run {
      members += [
        ("entriesRead", .count(run.entries)), ("recordsRead", .count(run.records)),
        ("results", .count(run.results)),
        ("seconds", .double((run.duration / .microseconds(1)).rounded() / 1e6)),
      ]
    }
    return members + [("plan", .array(steps))]
  }

  private static func amount(_ entries: Int, _ records: Int) -> String {
    NumberText.counted(entries, "entry", "entries") + " and "
      + NumberText.counted(records, "record")
  }

  /// A duration such as "12.3 ms".
  private static func text(of duration: Duration) -> String {
    let tenths = (duration / .milliseconds(1) * 10).rounded()
    let (whole, tenth) = (Int(exactly: tenths) ?? 0).quotientAndRemainder(dividingBy: 10)
    return "\(NumberText.grouped(whole)).\(tenth) ms"
  }
}

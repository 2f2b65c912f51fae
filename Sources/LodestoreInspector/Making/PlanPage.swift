internal import EntityStore
internal import LodestoreFormat
internal import LodestoreRows

extension PageReading {
  /// The page with the plan of the query for a selection, and its estimated and actual reads.
  func planPage(_ entity: DynamicEntity, _ selection: Selection) throws -> Page {
    var page = Page(route: .plan(entity.name, selection), title: "\(entity.name): plan")
    page.trail = [
      Page.Crumb(text: entity.name, route: .entity(entity.name, Selection())),
      Page.Crumb(text: "plan", route: page.route),
    ]
    page.views = views(of: entity, selection)
    let nested = form == .html ? NestedPaths(entity, snapshot) : nil
    var form = SelectionForm(
      selection: selection, route: { [name = entity.name] in .plan(name, $0) },
      search: searchField(of: entity, selection), hasPlaces: !entity.placeIndexes.isEmpty,
      count: "",
      examples: ConditionExamples(entity, snapshot, nested).texts,
      completions: nested.map {
        Completions(entity, snapshot, $0, control: limits.time(limits.count).control).texts
      } ?? [])
    do {
      let request = try limited(
        SelectedQuery(snapshot: snapshot, entity: entity, selection: selection).request(),
        selection)
      let query = try snapshot.query(request, of: entity)
      let plan = query.explanation()
      let start = ContinuousClock.now
      let run = try measured(query)
      let time = ContinuousClock.now - start
      form.count =
        plan.isScan
        ? "Reads all \(NumberText.counted(try snapshot.count(of: entity), "record"))."
        : "Uses the index \(plan.index ?? "")."
      page.sections = [Section("selection", .selection(form))]
      if plan.isScan {
        page.sections += ScanAdvice(entity, selection).texts.map {
          Section("notice", .notice(Notice(.note, $0)))
        }
      }
      page.sections.append(Section("plan", .drawing(PlanDrawing(plan, run).figure)))
      page.sections.append(Section("steps", heading: "Steps", .table(Self.steps(plan))))
      page.sections.append(
        Section("reads", heading: "Reads", .facts(Self.facts(plan, run, time))))
      if run == nil {
        let text = "The query did not end within \(limits.rows), so its reads are not known."
        var notice = Notice(.note, text)
        notice.wait = WaitLink(selection) { .plan(entity.name, $0) }
        page.sections.append(Section("notice", .notice(notice)))
      }
    } catch {
      guard let notice = Notice(fault: error, of: selection) else { throw error }
      form.markFault(notice)
      form.count = "No plan."
      page.isRefused = true
      page.sections = [
        Section("selection", .selection(form)), Section("notice", .notice(notice)),
      ]
    }
    return page
  }

  /// Runs a query, and returns its plan with its reads; `nil` if the time did not suffice.
  private func measured(_ query: DynamicQuery) throws(StoreError) -> QueryExplanation? {
    do {
      return try query.analysis(isCounted: false, control: limits.time(limits.rows).control)
    } catch {
      guard error.code == .cancelled else { throw error }
      return nil
    }
  }

  /// The plan of a page's query has the limit of the page.
  private func limited(_ request: QueryRequest, _ selection: Selection) -> QueryRequest {
    var request = request
    switch selection.size {
    case .count(let count): request.limit = count
    case .all: request.limit = nil
    case nil: request.limit = limits.pageSize
    }
    return request
  }

  private static func steps(_ plan: QueryExplanation) -> Table {
    var table = Table(
      [Table.Heading(Column("step", title: "Step")), Table.Heading(Column("text", title: "What"))],
      plan.steps.map { Table.Row([Item(.text($0.title)), Item(.text($0.text))]) })
    table.isMain = true
    return table
  }

  private static func facts(
    _ plan: QueryExplanation, _ run: QueryExplanation?, _ time: Duration
  ) -> [Fact] {
    [
      Fact("scan", "Reads all records", .bool(plan.isScan)),
      Fact("index", "Index", plan.index.map(Cell.text) ?? .null),
      Fact("estimatedEntries", "Estimated entries", .count(plan.estimatedEntryCount)),
      Fact("estimatedRecords", "Estimated records", .count(plan.estimatedRecordCount)),
      Fact("entriesRead", "Entries read", run?.entriesRead.map(Cell.count) ?? .null),
      Fact("recordsRead", "Records read", run?.recordsRead.map(Cell.count) ?? .null),
      Fact("results", "Results", run?.resultCount.map(Cell.count) ?? .null),
      Fact(
        "milliseconds", "Milliseconds",
        run == nil ? .null : .double((time / .microseconds(10)).rounded() / 100)),
    ]
  }
}

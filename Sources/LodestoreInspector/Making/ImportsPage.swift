internal import EntityStore
internal import LodestoreEssentials
internal import LodestoreRows

extension PageReading {
  /// The page with the imports of the store, or with the runs of one import.
  func importsPage(_ name: String?) throws -> Page {
    let names = try snapshot.importNames()
    var page = Page(route: .imports(name), title: name.map { "Import \($0)" } ?? "Imports")
    page.trail = [Page.Crumb(text: "Imports", route: .imports(nil))]
    guard let name else {
      let last = try names.compactMap { try snapshot.importReports(of: $0).last }
      page.sections = [
        Section("imports", .table(Self.table(last.sorted { $0.startedAt > $1.startedAt })))
      ]
      return page
    }
    guard names.contains(name) else {
      throw AddressError.notFound(Self.missing("the store has no import", name, among: names))
    }
    page.trail.append(Page.Crumb(text: name, route: page.route))
    let runs = try snapshot.importReports(of: name)
    page.sections = [Section("runs", heading: "Runs", .table(Self.table(runs.reversed())))]
    guard let last = runs.last else { return page }
    if let failure = last.failure {
      page.sections.insert(Section("notice", .notice(Notice(.warning, failure))), at: 0)
    }
    for warning in last.warnings ?? [] {
      page.sections.insert(Section("notice", .notice(Notice(.warning, warning))), at: 0)
    }
    page.sections.append(
      Section("rejects", heading: "Rejected records of the last run", .table(Self.rejects(last))))
    if !last.unknownMembers.isEmpty {
      page.sections.append(
        Section(
          "unknownMembers", heading: "Members without an attribute",
          .table(Self.unknownMembers(last))))
    }
    return page
  }

  /// The last imports, newest first; `nil` if none was run.
  func recentImports() throws -> Table? {
    let last = try snapshot.importNames().compactMap { try snapshot.importReports(of: $0).last }
    guard !last.isEmpty else { return nil }
    var table = Self.table(Array(last.sorted { $0.startedAt > $1.startedAt }.prefix(5)))
    table.isMain = false
    return table
  }

  /// A number of changed records, with a link to them.
  private static func changed(
    _ count: Int, _ kind: HistoryChange.Kind, _ report: ImportReport
  ) -> Item {
    Item(
      .count(count),
      link: count > 0 ? .importRun(report.name, report.run, kind, from: 0) : nil)
  }

  private static func table(_ reports: [ImportReport]) -> Table {
    let rows = reports.map { report in
      let started = report.startedAt.timeIntervalSinceReferenceDate.rounded(.down)
      let run = Route.importRun(report.name, report.run, nil, from: 0)
      return Table.Row([
        Item(.text(report.name), link: .imports(report.name)),
        Item(.unsigned(report.run), link: run),
        Item(.text(report.ending.rawValue)), Item(date(started)),
        Item(.text(report.entity), link: .entity(report.entity, Selection())),
        Item(.count(report.pages)), changed(report.inserted, .inserted, report),
        changed(report.updated, .updated, report), Item(.count(report.unchanged)),
        changed(report.deleted, .deleted, report),
        Item(.count(report.rejected), link: report.rejected > 0 ? run : nil),
        Item(.double((report.seconds * 1_000).rounded() / 1_000)),
      ])
    }
    let columns: [Column] = [
      Column("name", title: "Name"), Column("run", title: "Run"),
      Column("ending", title: "Ending"), Column("started", title: "Started"),
      Column("entity", title: "Entity"), Column("pages", title: "Pages"),
      Column("inserted", title: "Inserted"), Column("updated", title: "Updated"),
      Column("unchanged", title: "Unchanged"), Column("deleted", title: "Deleted"),
      Column("rejected", title: "Rejected"), Column("seconds", title: "Seconds"),
    ]
    var table = Table(columns.map { Table.Heading($0) }, rows)
    table.isMain = true
    table.empty = "No import was run."
    return table
  }

  static func rejects(_ report: ImportReport) -> Table {
    let rows = report.rejects.map { reject in
      Table.Row([
        Item(.count(reject.page)), Item(.count(reject.record)),
        Item(reject.file.map(Cell.text) ?? .absent), Item(reject.line.map(Cell.count) ?? .absent),
        Item(reject.attribute.map(Cell.text) ?? .absent), Item(.text(reject.reason)),
      ])
    }
    var table = Table(
      [
        Table.Heading(Column("page", title: "Page")),
        Table.Heading(Column("record", title: "Record")),
        Table.Heading(Column("file", title: "File")), Table.Heading(Column("line", title: "Line")),
        Table.Heading(Column("attribute", title: "Attribute")),
        Table.Heading(Column("reason", title: "Reason")),
      ], rows)
    table.empty = "No record was rejected."
    if report.rejected > rows.count {
      table.summary = "The first \(rows.count) of \(NumberText.counted(report.rejected, "reject"))"
    }
    return table
  }

  private static func unknownMembers(_ report: ImportReport) -> Table {
    let rows = report.unknownMembers.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map {
      Table.Row([Item(.text($0.key)), Item(.count($0.value))])
    }
    return Table(
      [
        Table.Heading(Column("member", title: "Member")),
        Table.Heading(Column("records", title: "Records")),
      ], rows)
  }
}

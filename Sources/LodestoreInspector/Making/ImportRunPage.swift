internal import EntityStore
internal import LodestoreEssentials
internal import LodestoreRows

extension PageReading {
  /// The number of changed records on a page.
  private static let mostChanged = 100

  /// The page with the records that a run of an import changed, and their values before and after.
  ///
  /// - Parameter kind: the shown kind of changes; `nil` for all.
  /// - Parameter start: the number of these changes before the first one on the page.
  func importRunPage(
    _ name: String, _ run: UInt64, _ kind: HistoryChange.Kind?, from start: Int
  ) throws -> Page {
    let names = try snapshot.importNames()
    guard names.contains(name) else {
      throw AddressError.notFound(Self.missing("the store has no import", name, among: names))
    }
    let reports = try snapshot.importReports(of: name)
    guard let place = reports.firstIndex(where: { $0.run == run }) else {
      throw AddressError.notFound("the store has no report of run \(run) of the import '\(name)'")
    }
    let report = reports[place]
    var page = Page(
      route: .importRun(name, run, kind, from: start), title: "Import \(name), run \(run)")
    page.trail = [
      Page.Crumb(text: "Imports", route: .imports(nil)),
      Page.Crumb(text: name, route: .imports(name)),
      Page.Crumb(text: "run \(run)", route: .importRun(name, run, nil, from: 0)),
    ]
    let counts: [(text: String, kind: HistoryChange.Kind?)] = [
      ("All changes", nil), ("\(NumberText.grouped(report.inserted)) inserted", .inserted),
      ("\(NumberText.grouped(report.updated)) updated", .updated),
      ("\(NumberText.grouped(report.deleted)) deleted", .deleted),
    ]
    page.views = counts.map {
      Page.Crumb(text: $0.text, route: .importRun(name, run, $0.kind, from: 0))
    }
    page.sections = [Section("run", .facts(Self.facts(of: report)))]
    if let failure = report.failure {
      page.sections.append(Section("notice", .notice(Notice(.warning, failure))))
    }
    if report.rejected > 0 {
      page.sections.append(
        Section(
          "rejects", heading: "Rejected records", isFolded: true, .table(Self.rejects(report))))
    }
    guard let entity = snapshot.entity(named: report.entity), entity.keepsHistory else {
      let text =
        "The entity '\(report.entity)' keeps no history, so the store does not know the changed "
        + "records. A program asks for a history when it declares the entity."
      page.sections.append(Section("notice", .notice(Notice(.note, text))))
      return page
    }
    let next = reports.dropFirst(place + 1).first?.startedAt
    let table = try changes(of: report, until: next, in: entity, kind, from: start)
    page.sections.append(Section("changes", heading: "Changed records", .table(table)))
    return page
  }

  private static func facts(of report: ImportReport) -> [Fact] {
    let started = report.startedAt.timeIntervalSinceReferenceDate.rounded(.down)
    return [
      Fact("started", "Started", date(started)),
      Fact("ending", "Ending", .text(report.ending.rawValue)),
      Fact("pages", "Pages", .count(report.pages)),
      Fact("unchanged", "Unchanged", .count(report.unchanged)),
      Fact("rejected", "Rejected", .count(report.rejected)),
      Fact("seconds", "Seconds", .double((report.seconds * 1_000).rounded() / 1_000)),
    ]
  }

  /// The changes of the writes whose author is the import, since its start.
  ///
  /// - Parameter next: the start of the next run; `nil` for the last run.
  private func changes(
    of report: ImportReport, until next: Date?, in entity: DynamicEntity,
    _ kind: HistoryChange.Kind?, from start: Int
  ) throws -> Table {
    var query = HistoryQuery.since(report.startedAt).by(authors: report.name)
      .of(entitiesNamed: entity.name)
    if let kind { query = query.only(kind) }
    let most = streams ? limits.batchSize : Self.mostChanged
    let limit = limits.time(limits.rows)
    var (rows, skipped, shown, hasMore) = ([Table.Row](), start, 0, false)
    try snapshot.forEachWrite(query) { write in
      if let next, write.time >= next { return false }
      let count = write.changes.count
      guard skipped < count else {
        skipped -= count
        return true
      }
      for change in write.changes.dropFirst(skipped) {
        guard shown < most, shown == 0 || !limit.isOver else {
          hasMore = true
          return false
        }
        rows += self.rows(of: change, in: entity)
        shown += 1
      }
      skipped = 0
      return true
    }
    var table = Table(Self.changeHeadings, rows)
    table.isMain = true
    table.empty = "The history has no such change of the run."
    func route(from start: Int) -> Route {
      .importRun(report.name, report.run, kind, from: start)
    }
    if hasMore || start > 0 {
      table.summary =
        "Changed records \(NumberText.grouped(start + 1)) to \(NumberText.grouped(start + shown))"
    }
    table.firstPage = start > 0 ? route(from: 0) : nil
    table.nextPage = hasMore ? route(from: start + shown) : nil
    table.next = following(table.nextPage)
    return table
  }

  private static var changeHeadings: [Table.Heading] {
    [
      Table.Heading(Column("record", title: "Record")),
      Table.Heading(Column("change", title: "Change")),
      Table.Heading(Column("name", title: "Name", alignment: .leading)),
      Table.Heading(Column("attribute", title: "Attribute")),
      Table.Heading(Column("before", title: "Before", alignment: .leading)),
      Table.Heading(Column("after", title: "After", alignment: .leading)),
    ]
  }

  /// A row for each changed attribute of an updated record, or one row for another change.
  private func rows(of change: HistoryChange, in entity: DynamicEntity) -> [Table.Row] {
    let keepsImages = entity.description.history?.keepsImages == true
    let before = keepsImages ? try? snapshot.record(before: change)?.reader() : nil
    let after = keepsImages ? try? snapshot.record(after: change)?.reader() : nil
    let name = (after ?? before).flatMap { try? key($0, of: entity) }
    let items = [
      Item(
        .unsigned(change.recordID),
        link: change.kind == .deleted ? nil : .record(entity.name, change.recordID)),
      Item(
        .text(change.kind.rawValue), link: .change(change.write, entity.name, change.recordID)),
      Item(name.map(Cell.text) ?? .absent),
    ]
    guard change.kind == .updated, !change.attributes.isEmpty else {
      return [Table.Row(items + [Item(.absent), Item(.absent), Item(.absent)])]
    }
    let relationships = snapshot.relationships(of: entity).filter(\.isToOne)
    return change.attributes.map { name in
      let attribute = entity.description.attribute(named: name)
      let target = relationships.first { $0.name == name }?.target.name
      func item(_ reader: DynamicRecord.Reader?) -> Item {
        guard let attribute, let value = try? reader?.value(of: attribute) else {
          return Item(.absent)
        }
        return RecordColumns.item(value, target: target)
      }
      return Table.Row(items + [Item(.text(name)), item(before), item(after)])
    }
  }
}

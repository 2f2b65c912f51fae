internal import EntityStore
internal import LodestoreEssentials
internal import LodestoreFormat
internal import LodestoreRows

extension PageReading {
  private var keepsHistory: Bool { snapshot.entities.contains(where: \.keepsHistory) }

  /// The page with the writes of the history, newest first.
  func historyPage(before: UInt64?) throws -> Page {
    var page = Page(route: .history(before: before), title: "History")
    page.trail = [Page.Crumb(text: "History", route: .history(before: nil))]
    let most = streams ? limits.batchSize : limits.pageSize
    let limit = limits.time(limits.rows)
    var rows: [Table.Row] = []
    var last = before
    var hasMore = false
    let query = before.map(HistoryQuery.all.before) ?? .all
    try snapshot.forEachWrite(query.newestFirst()) { write in
      guard rows.count < most, rows.isEmpty || !limit.isOver else {
        hasMore = true
        return false
      }
      rows.append(Self.row(write))
      last = write.id
      return true
    }
    var table = Table(Self.writeHeadings, rows)
    table.isMain = true
    table.empty =
      keepsHistory
      ? "The history has no writes here."
      : "No entity keeps a history. A program asks for it when it declares the entity."
    table.firstPage = before == nil ? nil : .history(before: nil)
    table.nextPage = hasMore ? .history(before: last) : nil
    table.next = following(table.nextPage)
    page.sections = [Section("writes", .table(table))]
    return page
  }

  /// The last writes; `nil` if no entity keeps a history.
  func recentWrites() throws -> Table? {
    guard keepsHistory else { return nil }
    var rows: [Table.Row] = []
    try snapshot.forEachWrite(HistoryQuery.all.newestFirst().limit(5)) { write in
      rows.append(Self.row(write))
      return true
    }
    var table = Table(Self.writeHeadings, rows)
    table.empty = "The history has no writes yet."
    return table
  }

  /// The number of writes that the picture of growth has.
  private static let mostPoints = 200

  /// The number of records after each of the last writes, for entities with a history; `nil` if
  /// there are fewer than two writes.
  func growth() throws -> Figure? {
    guard keepsHistory else { return nil }
    let limit = limits.time(limits.count)
    var count = try snapshot.entities.filter(\.keepsHistory).reduce(0) {
      $0 + (try snapshot.count(of: $1))
    }
    var points: [(write: UInt64, time: Cell, count: Int)] = []
    try snapshot.forEachWrite(HistoryQuery.all.newestFirst()) { write in
      points.append((write.id, Self.time(write), count))
      let (most, isDamaged) = count.addingReportingOverflow(write.changes.count(of: .deleted))
      guard !isDamaged else { return false }
      count = most - write.changes.count(of: .inserted)
      // The count before the beginning of a history is not known.
      return count >= 0 && write.restartedEntities.isEmpty && points.count < Self.mostPoints
        && !limit.isOver
    }
    points.reverse()
    guard points.count > 1, let first = points.first, let last = points.last else { return nil }
    let table = Table(
      [
        Table.Heading(Column("write", title: "Write")),
        Table.Heading(Column("time", title: "Time")),
        Table.Heading(Column("records", title: "Records")),
      ],
      points.reversed().map { point in
        Table.Row([
          Item(.unsigned(point.write), link: .write(point.write, from: 0)), Item(point.time),
          Item(.count(point.count)),
        ])
      })
    let summary =
      "Entities with a history had \(NumberText.counted(first.count, "record")) after write "
      + "\(first.write), and have \(NumberText.grouped(last.count)) after write \(last.write)."
    return Figure(
      Charts.line(
        points.map(\.count), from: "write \(first.write)", to: "write \(last.write)",
        title: "Growth", summary: summary), table)
  }

  private static var writeHeadings: [Table.Heading] {
    [
      Table.Heading(Column("write", title: "Write")), Table.Heading(Column("time", title: "Time")),
      Table.Heading(Column("author", title: "Author")),
      Table.Heading(Column("context", title: "Context")),
      Table.Heading(Column("inserted", title: "Inserted")),
      Table.Heading(Column("updated", title: "Updated")),
      Table.Heading(Column("deleted", title: "Deleted")),
      Table.Heading(Column("links", title: "Links")),
      Table.Heading(Column("entities", title: "Entities")),
    ]
  }

  private static func row(_ write: HistoryWrite) -> Table.Row {
    Table.Row([
      Item(.unsigned(write.id), link: .write(write.id, from: 0)), Item(time(write)),
      Item(write.author.map(Cell.text) ?? .null), Item(write.contextName.map(Cell.text) ?? .null),
      Item(.count(write.changes.count(of: .inserted))),
      Item(.count(write.changes.count(of: .updated))),
      Item(.count(write.changes.count(of: .deleted))),
      Item(.count(write.links.reduce(0) { $0 + $1.links.count })),
      Item(.text(write.changes.entities.joined(separator: ", "))),
    ])
  }

  private static func time(_ write: HistoryWrite) -> Cell {
    date(write.time.timeIntervalSinceReferenceDate)
  }

  /// The number of changed records that the page of a write shows.
  private static let mostChanges = 500
  /// The number of changes that a streaming form reads in one transaction.
  private static let changeBatch = 20_000

  /// The page with the changes of one write.
  ///
  /// - Parameter start: the number of changes before the first one on the page. The changes of a
  ///   write never change.
  func writePage(_ number: UInt64, from start: Int) throws -> Page {
    guard let write = try write(number) else {
      throw AddressError.notFound("the history has no write \(number)")
    }
    var page = Page(route: .write(number, from: start), title: "Write \(number)")
    page.trail = [
      Page.Crumb(text: "History", route: .history(before: nil)),
      Page.Crumb(text: "\(number)", route: .write(number, from: 0)),
    ]
    let most = streams ? Self.changeBatch : Self.mostChanges
    let rows = write.changes.dropFirst(start).prefix(most).map { change in
      Table.Row([
        Item(
          .text(change.isExpired ? "expired" : change.kind.rawValue),
          link: .change(number, change.entity, change.recordID)),
        Item(.text(change.entity), link: .entity(change.entity, Selection())),
        Item(
          .unsigned(change.recordID),
          link: change.kind == .deleted ? nil : .record(change.entity, change.recordID)),
        Item(
          change.attributes.isEmpty
            ? .absent : .text(change.attributes.joined(separator: ", "))),
      ])
    }
    var table = Table(
      [
        Table.Heading(Column("change", title: "Change")),
        Table.Heading(Column("entity", title: "Entity")),
        Table.Heading(Column("record", title: "Record")),
        Table.Heading(Column("attributes", title: "Attributes")),
      ], rows)
    table.isMain = true
    table.empty = "The write changed no record of an entity with a history."
    let (count, end) = (write.changes.count, start + rows.count)
    if !rows.isEmpty {
      table.summary =
        "Changes \(NumberText.grouped(start + 1)) to \(NumberText.grouped(end)) of "
        + NumberText.grouped(count)
    }
    table.firstPage = start > 0 ? .write(number, from: 0) : nil
    table.nextPage = end < count ? .write(number, from: end) : nil
    table.next = following(table.nextPage)
    page.sections = [
      Section(
        "write",
        .facts([
          Fact("time", "Time", Self.time(write)),
          Fact("author", "Author", write.author.map(Cell.text) ?? .null),
          Fact("context", "Context", write.contextName.map(Cell.text) ?? .null),
          Fact("process", "Process", .integer(Int64(write.process))),
          Self.fact("inserted", "Inserted", .inserted, write),
          Self.fact("updated", "Updated", .updated, write),
          Self.fact("deleted", "Deleted", .deleted, write),
        ])),
      Section("changes", heading: "Changes", .table(table)),
    ]
    if let edits = edits(EditLink(text: "Undo", edit: .undo(number), isComplete: true)) {
      page.sections.insert(edits, at: 0)
    }
    return page
  }

  /// The number of changes of a kind, with a link to the first of them.
  private static func fact(
    _ name: String, _ title: String, _ kind: HistoryChange.Kind, _ write: HistoryWrite
  ) -> Fact {
    let first = write.changes.lazy.enumerated().first { $0.element.kind == kind }
    return Fact(
      name, title, .count(write.changes.count(of: kind)),
      link: first.map { .write(write.id, from: $0.offset) })
  }

  /// Returns the write with a number; `nil` if the history does not have it.
  func write(_ number: UInt64) throws -> HistoryWrite? {
    guard number > 0, try number <= snapshot.historyToken().number else { return nil }
    let token = try snapshot.historyToken(number: number)
    var found: HistoryWrite?
    try snapshot.forEachWrite(.write(token)) { write in
      found = write
      return false
    }
    return found
  }

  /// The number of writes that the page of a record shows.
  private static let mostWritesOfRecord = 10

  /// The last changes of a record; `nil` if its entity keeps no history.
  func changes(of id: UInt64, in entity: DynamicEntity) throws -> Table? {
    guard entity.keepsHistory else { return nil }
    let limit = limits.time(limits.history)
    var rows: [Table.Row] = []
    var isCut = false
    let query = HistoryQuery.all.of(entitiesNamed: [entity.name]).newestFirst()
    try snapshot.forEachWrite(query) { write in
      if limit.isOver {
        isCut = true
        return false
      }
      for change in write.changes.changes(of: id, in: entity.name) {
        rows.append(
          Table.Row([
            Item(.unsigned(write.id), link: .write(write.id, from: 0)), Item(Self.time(write)),
            Item(write.author.map(Cell.text) ?? .null),
            Item(.text(change.kind.rawValue), link: .change(write.id, entity.name, id)),
            Item(
              change.attributes.isEmpty
                ? .absent : .text(change.attributes.joined(separator: ", "))),
          ]))
      }
      return rows.count < Self.mostWritesOfRecord
    }
    var table = Table(
      [
        Table.Heading(Column("write", title: "Write")),
        Table.Heading(Column("time", title: "Time")),
        Table.Heading(Column("author", title: "Author")),
        Table.Heading(Column("change", title: "Change")),
        Table.Heading(Column("attributes", title: "Attributes")),
      ], rows)
    table.empty =
      isCut
      ? "The last changes do not include this record." : "The history has no change of the record."
    if isCut { table.summary = "Earlier changes were not searched" }
    return table
  }
}

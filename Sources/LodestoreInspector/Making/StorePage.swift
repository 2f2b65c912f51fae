internal import EntityStore
internal import LodestoreFormat
internal import LodestoreRows

extension PageReading {
  /// The page of the store: its entities and the facts about its file.
  func storePage() throws -> Page {
    let facts = try snapshot.facts()
    var page = Page(route: .store, title: Self.name(ofFile: maker.path))
    page.sections = [
      Section("entities", .table(try entityTable())),
      Section("sizes", heading: "Sizes", .drawing(try sizes())),
      Section("file", heading: "File", .facts(try fileFacts(facts))),
    ]
    if let growth = try growth() {
      page.sections.insert(Section("growth", heading: "Growth", .drawing(growth)), at: 1)
    }
    if let writes = try recentWrites() {
      page.sections.insert(Section("writes", heading: "Last writes", .table(writes)), at: 1)
    }
    if let imports = try recentImports() {
      page.sections.insert(Section("imports", heading: "Last imports", .table(imports)), at: 1)
    }
    return page
  }

  private static func name(ofFile path: String) -> String {
    path.split(separator: "/").last.map(String.init) ?? path
  }

  private func entityTable() throws -> Table {
    let rows = try snapshot.entities.map { entity in
      let size = try snapshot.size(of: entity)
      let indexes =
        entity.indexes.map {
          entity.description.indexName($0.description) + ($0.isUnique ? " (unique)" : "")
        } + entity.elementIndexes.map(\.shortName)
        + entity.description.searchIndexes.map {
          "search: \(entity.description.sourcesText(of: $0))"
        } + entity.placeIndexes.map(\.shortName)
        + entity.description.vectorIndexes.map(entity.description.indexName)
      return Table.Row([
        Item(.text(entity.name), link: .entity(entity.name, Selection())),
        Item(.count(try snapshot.count(of: entity))), Item(.byteCount(size.records)),
        Item(.byteCount(size.indexes)),
        Item(.count(entity.description.declaredAttributes.count)),
        Item(indexes.isEmpty ? .absent : .text(indexes.joined(separator: ", "))),
        Item(entity.historyText.map(Cell.text) ?? .absent),
      ])
    }
    var table = Table(
      [
        Table.Heading(Column("entity", title: "Entity")),
        Table.Heading(Column("records", title: "Records")),
        Table.Heading(Column("data", title: "Data")),
        Table.Heading(Column("indexData", title: "Index data")),
        Table.Heading(Column("attributes", title: "Attributes")),
        Table.Heading(Column("indexes", title: "Indexes")),
        Table.Heading(Column("history", title: "History")),
      ], rows)
    table.isMain = true
    table.empty = "The store has no entities yet."
    return table
  }

  /// The number of trees that the picture of sizes has.
  private static let mostBars = 12

  /// The sizes of the trees, the largest first.
  private func sizes() throws -> Figure {
    let trees = try snapshot.entities.flatMap { entity in
      try snapshot.trees(of: entity).map { (entity: entity, tree: $0) }
    }.sorted { $0.tree.byteCount > $1.tree.byteCount }
    let all = trees.reduce(0) { $0 + $1.tree.byteCount }
    let rows = trees.map { entity, tree in
      Table.Row([
        Item(.text(entity.name), link: .entity(entity.name, Selection())),
        Item(
          .text(tree.index?.shortName ?? "records"),
          link: tree.index.map { .index(entity.name, $0.shortName, Selection()) }),
        Item(.count(tree.entryCount)), Item(.byteCount(tree.byteCount)),
        Item(all > 0 ? .share(Double(tree.byteCount) / Double(all)) : .absent),
        Item(.count(tree.depth)), Item(.count(tree.pageCount)),
      ])
    }
    let table = Table(
      [
        Table.Heading(Column("entity", title: "Entity")),
        Table.Heading(Column("tree", title: "Records or index")),
        Table.Heading(Column("entries", title: "Entries")),
        Table.Heading(Column("size", title: "Size")),
        Table.Heading(Column("share", title: "Share")),
        Table.Heading(Column("depth", title: "Depth")),
        Table.Heading(Column("pages", title: "Pages")),
      ], rows)
    let bars = trees.prefix(Self.mostBars).map { entity, tree in
      Charts.Bar(
        label: "\(entity.name): \(tree.index?.shortName ?? "records")",
        value: Double(tree.byteCount), text: NumberText.byteCount(tree.byteCount),
        link: Drawing.Link(
          tree.index.map { .index(entity.name, $0.shortName, Selection()) }
            ?? .entity(entity.name, Selection())))
    }
    let summary =
      "Records and indexes have \(NumberText.byteCount(all))."
      + (trees.count > bars.count ? " The \(bars.count) largest are shown." : "")
    return Figure(Charts.bars(bars, title: "Sizes", summary: summary), table)
  }

  private func fileFacts(_ facts: DynamicFacts) throws -> [Fact] {
    [
      Fact("path", "Path", .text(maker.path)),
      Fact("used", "Used", .byteCount(facts.usedSizeInBytes)),
      Fact("freePages", "Free pages", .count(facts.freePageCount)),
      Fact("pageSize", "Page size", .byteCount(facts.pageSizeInBytes)),
      Fact("commit", "Commit", .unsigned(facts.commitNumber)),
      Fact("schema", "Schema number", .unsigned(facts.schemaNumber)),
      Fact("created", "Created", Self.date(facts.created?.rounded(.down))),
      Fact("readers", "Reader slots in use", .count(facts.usedReaderSlotCount)),
      Fact("writer", "Writer", facts.writer.map(Cell.text) ?? .null),
      Fact("lowestReader", "Lowest reader", .unsigned(UInt64(facts.requirement.lowestReader))),
      Fact("uuid", "UUID", facts.uuid.map { .text($0.text) } ?? .null),
      Fact("digest", "Digest", facts.digest.map { .text("\($0)") } ?? .null),
      Fact("engine", "Engine", .text(facts.engine)),
    ]
  }

  static func date(_ seconds: Double?) -> Cell {
    seconds.map { .date(KeyText.text(of: .date($0))) } ?? .null
  }
}

internal import EntityStore
internal import LodestoreFormat
internal import LodestoreRows

extension PageReading {
  /// The page with the entries of an index, in their order.
  func indexPage(
    _ entity: DynamicEntity, _ name: String, _ selection: Selection
  ) throws -> Page {
    if let index = entity.elementIndexes.first(where: { $0.shortName == name }) {
      return try elementIndexPage(entity, index, selection)
    }
    if let position = entity.searchIndexes.firstIndex(where: { $0.shortName == name }) {
      return try searchIndexPage(entity, position, selection)
    }
    if let position = entity.placeIndexes.firstIndex(where: { $0.shortName == name }) {
      return try placeIndexPage(entity, position, selection)
    }
    if let position = entity.vectorIndexes.firstIndex(where: { $0.shortName == name }) {
      return try vectorIndexPage(entity, position, selection)
    }
    guard let index = entity.indexes.first(where: { $0.shortName == name }) else {
      throw AddressError.notFound(
        Self.missing(
          "\(entity.name) has no index", name,
          among: Self.indexes(of: entity).map(\.shortName)))
    }
    let attributes = index.description.attributes.compactMap {
      entity.description.attribute(number: $0)?.name
    }
    var ordered = selection
    if ordered.order.isEmpty { ordered.order = attributes }
    var entityPage = try EntityPage(self, entity, ordered) { .index(entity.name, name, $0) }
    entityPage.usualColumns = attributes + [DynamicRecord.idName]
    var page = try entityPage.page()
    complete(&page, entity, index, selection)
    let facts = [
      Fact("unique", "Unique", .bool(index.isUnique)),
      Fact("attributes", "Attributes", .text(attributes.joined(separator: ", "))),
    ]
    var sections = [try self.facts(facts, entity, index)]
    if selection.isOfAll, selection.after == nil, !streams {
      let values = try IndexValues(index, of: entity, snapshot, limit: limits.time(limits.count))
      let wait = WaitLink(selection) { .index(entity.name, name, $0) }
      sections += valueSections(values, of: entity, path: attributes.first, wait)
    }
    page.sections.insert(contentsOf: sections, at: 0)
    return page
  }

  /// The page with the values of an index over elements, in their order.
  private func elementIndexPage(
    _ entity: DynamicEntity, _ index: DynamicIndex, _ selection: Selection
  ) throws -> Page {
    let most: Int
    switch selection.size {
    case .count(let count): most = count
    case .all: most = .max
    case nil: most = streams ? .max : limits.pageSize
    }
    if let item = selection.items.first(where: { $0.name != "_limit" && $0.name != "_wait" }) {
      throw AddressError.unknownParameter(item.name)
    }
    let values = try IndexValues(
      index, of: entity, snapshot, limit: limits.time(streams ? limits.rows : limits.count),
      most: min(most, streams ? limits.batchSize : Selection.largestPage))
    var page = Page(route: .store, title: "")
    page.trail = [Page.Crumb(text: entity.name, route: .entity(entity.name, Selection()))]
    complete(&page, entity, index, selection)
    var table = Table(
      [Table.Heading(Column("element", title: "Element")), Self.countHeading],
      values.first.map { value in
        Table.Row([
          Item(value.values.first.flatMap { try? Cell($0) } ?? .absent), Item(.count(value.count)),
        ])
      })
    table.isMain = true
    table.empty = "The index has no entries."
    if values.frequent.total > values.first.count {
      table.summary =
        "The first \(NumberText.grouped(values.first.count)) of "
        + NumberText.counted(values.frequent.total, "element")
    }
    page.sections =
      [try facts([], entity, index), Section("elements", .table(table))]
      + valueSections(
        values, of: entity, path: nil,
        WaitLink(selection) { .index(entity.name, index.shortName, $0) })
    return page
  }

  func complete(
    _ page: inout Page, _ entity: DynamicEntity, _ index: DynamicIndex, _ selection: Selection
  ) {
    let name = index.shortName
    page.route = .index(entity.name, name, selection)
    page.title = "\(entity.name): \(name)"
    page.trail.append(Page.Crumb(text: name, route: .index(entity.name, name, Selection())))
    page.views = views(of: entity)
  }

  func facts(
    _ facts: [Fact], _ entity: DynamicEntity, _ index: DynamicIndex
  ) throws -> Section {
    let tree = try snapshot.trees(of: entity).first { $0.index?.name == index.name }
    return Section(
      "index",
      .facts(
        facts + [
          Fact("records", "Entries", tree.map { .count($0.entryCount) } ?? .null),
          Fact("size", "Size", tree.map { .byteCount($0.byteCount) } ?? .null),
          Fact("depth", "Depth", tree.map { .count($0.depth) } ?? .null),
        ]))
  }
}

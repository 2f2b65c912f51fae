internal import EntityStore
internal import LodestoreFormat
internal import LodestoreRows

extension PageReading {
  /// The number of related records that the page of a record shows.
  private static let mostRelated = 20

  /// The page of one record: its values, the records that it leads to, and the indexes that lead to
  /// it.
  func recordPage(_ entity: DynamicEntity, _ id: UInt64) throws -> Page {
    guard let record = try snapshot.record(id, of: entity) else {
      throw AddressError.notFound("\(entity.name) has no record \(id)")
    }
    var page = Page(route: .record(entity.name, id), title: "\(entity.name) \(id)")
    page.trail = [
      Page.Crumb(text: entity.name, route: .entity(entity.name, Selection())),
      Page.Crumb(text: "\(id)", route: page.route),
    ]
    do {
      let reader = try record.reader(verifyingChecksum: true)
      if let key = try key(reader, of: entity) { page.title += ": \(key)" }
      page.sections.append(Section("record", .record(try fields(reader, of: entity, id))))
      page.sections += try related(to: id, of: entity)
      if let indexes = try indexes(of: entity, leadingTo: reader) {
        page.sections.append(
          Section("indexes", heading: "Indexes that lead here", .table(indexes)))
      }
    } catch let error as AddressError {
      throw error
    } catch {
      let message = "\(entity.name) \(id) is damaged: \(error)"
      page.sections.append(Section("notice", .notice(Notice(.warning, message))))
    }
    if let changes = try changes(of: id, in: entity) {
      page.sections.append(Section("history", heading: "History", .table(changes)))
    }
    return page
  }

  /// A short name of the record: its first unique key with a text, or else its first text.
  private func key(
    _ reader: DynamicRecord.Reader, of entity: DynamicEntity
  ) throws -> String? {
    let attributes = entity.description.declaredAttributes
    let keys = entity.indexes.filter(\.isUnique).map { index in
      index.description.attributes.compactMap { entity.description.attribute(number: $0) }
    }
    let named = keys.first { $0.contains { $0.type == .string } }
    let first = attributes.first { $0.type == .string }.map { [$0] }
    let texts = try (named ?? first ?? keys.first ?? []).compactMap {
      PlainText.text(of: try Cell(reader.value(of: $0)))
    }
    let text = texts.joined(separator: ", ")
    return text.isEmpty ? nil : text.count > 60 ? text.prefix(60) + "…" : text
  }

  private func fields(
    _ reader: DynamicRecord.Reader, of entity: DynamicEntity, _ id: UInt64
  ) throws -> [Field] {
    let relationships = snapshot.relationships(of: entity).filter(\.isToOne)
    var fields = [Field(name: DynamicRecord.idName, type: "id", item: Item(.unsigned(id)))]
    for attribute in entity.description.declaredAttributes {
      let target = relationships.first { $0.name == attribute.name }?.target
      fields.append(
        Field(
          name: attribute.name,
          type: RecordColumns.typeName(of: attribute, target: target?.name)
            + (attribute.derivation == nil ? "" : ", derived"),
          item: RecordColumns.item(try reader.value(of: attribute), target: target?.name)))
    }
    return fields
  }

  // MARK: Related records

  private func related(to id: UInt64, of entity: DynamicEntity) throws -> [Section] {
    try snapshot.relationships(of: entity).filter { !$0.isToOne }.map { relationship in
      let name = relationship.name ?? ""
      let target = relationship.target
      let columns = try relatedColumns(of: target)
      var rows: [Table.Row] = []
      var hasMore = false
      try snapshot.forEachRelated(to: [id], by: relationship) { record in
        if rows.count == Self.mostRelated {
          hasMore = true
          return false
        }
        rows.append(columns.row(record) { _ in })
        return true
      }
      var table = Table(columns.headings, rows)
      table.empty = "No \(target.name) is linked."
      if hasMore {
        table.summary = "The first \(NumberText.counted(rows.count, "record"))"
        table.nextPage = .related(entity.name, id, name, Selection())
      }
      return Section(name, heading: "\(name): \(target.name)", .table(table))
    }
  }

  private func relatedColumns(
    of target: DynamicEntity, _ names: [String] = []
  ) throws(AddressError) -> RecordColumns {
    let usual = RecordColumns.usualNames(of: target, all: form != .html)
    let shown = names.isEmpty ? (form == .html ? Array(usual.prefix(6)) : usual) : names
    return try RecordColumns(
      target, names: shown, relationships: snapshot.relationships(of: target))
  }

  /// The page with the records to which a relationship of a record leads.
  ///
  /// The token of the next page is the id of the last record.
  func relatedPage(
    _ entity: DynamicEntity, _ id: UInt64, _ name: String, _ selection: Selection
  ) throws -> Page {
    let all = snapshot.relationships(of: entity)
    guard let relationship = all.first(where: { $0.name == name }) else {
      throw AddressError.notFound(
        Self.missing("\(entity.name) has no relationship", name, among: all.compactMap(\.name)))
    }
    guard selection.isOfAll, selection.order.isEmpty, selection.facets.isEmpty else {
      throw AddressError.unknownParameter(
        selection.items.first { $0.name != "_column" }?.name ?? "_where")
    }
    guard try snapshot.record(id, of: entity) != nil else {
      throw AddressError.notFound("\(entity.name) has no record \(id)")
    }
    var last: UInt64?
    if let text = selection.after {
      guard let number = UInt64(text) else { throw AddressError.badParameter("_after", text) }
      last = number
    }
    let columns = try relatedColumns(of: relationship.target, selection.columns)
    let isLimited = if case .count = selection.size { true } else { false }
    let most =
      switch selection.size {
      case .count(let count): min(count, Selection.largestPage)
      case .all, nil: streams ? limits.batchSize : limits.pageSize
      }
    var rows: [Table.Row] = []
    var shown: UInt64 = 0
    var hasMore = false
    try snapshot.forEachRelated(to: [id], by: relationship) { record in
      if let end = last {
        if record.id == end { last = nil }
        return true
      }
      if rows.count == most {
        hasMore = true
        return false
      }
      rows.append(columns.row(record) { _ in })
      shown = record.id
      return true
    }
    var table = Table(columns.headings, rows)
    table.isMain = true
    table.empty = "No \(relationship.target.name) is linked."
    table.summary = NumberText.counted(rows.count, "record")
    if selection.after != nil {
      table.firstPage = .related(entity.name, id, name, selection.changed { _ in })
    }
    if hasMore {
      table.nextPage = .related(
        entity.name, id, name, selection.with { $0.after = "\(shown)" })
      if !isLimited { table.next = following(table.nextPage) }
    }
    var page = Page(
      route: .related(entity.name, id, name, selection), title: "\(entity.name) \(id): \(name)")
    page.trail = [
      Page.Crumb(text: entity.name, route: .entity(entity.name, Selection())),
      Page.Crumb(text: "\(id)", route: .record(entity.name, id)),
      Page.Crumb(text: name, route: page.route),
    ]
    page.sections = [Section("rows", .table(table))]
    return page
  }

  // MARK: Indexes

  /// The keys under which the indexes of the entity have the record; `nil` if there is no index.
  private func indexes(
    of entity: DynamicEntity, leadingTo reader: DynamicRecord.Reader
  ) throws -> Table? {
    guard !entity.indexes.isEmpty else { return nil }
    let rows = try entity.indexes.map { index in
      let name = entity.description.indexName(index.description)
      let attributes = index.description.attributes.compactMap {
        entity.description.attribute(number: $0)
      }
      let key = try attributes.map { try PlainText.text(of: Cell(reader.value(of: $0))) ?? "null" }
      var selection = Selection()
      selection.matches = zip(attributes, key).map { Selection.Match(path: $0.name, text: $1) }
      return Table.Row([
        Item(.text(name), link: .index(entity.name, name, Selection())),
        Item(.text(key.joined(separator: ", ")), link: .entity(entity.name, selection)),
        Item(.bool(index.isUnique)),
      ])
    }
    return Table(
      [
        Table.Heading(Column("index", title: "Index")), Table.Heading(Column("key", title: "Key")),
        Table.Heading(Column("unique", title: "Unique")),
      ], rows)
  }
}

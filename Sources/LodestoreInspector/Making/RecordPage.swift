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
    if let edits = edits(
      EditLink(text: "Change", edit: .update(entity.name, id), isComplete: false),
      EditLink(text: "Delete", edit: .delete(entity.name, id), isComplete: true))
    {
      page.sections.append(edits)
    }
    do {
      let reader = try record.reader(verifyingChecksum: true)
      if let key = try key(reader, of: entity) { page.title += ": \(key)" }
      page.sections.append(Section("record", .record(try fields(reader, of: entity, id))))
      page.sections += try neighbours(of: reader, entity, id)
      page.sections += try related(to: id, of: entity)
      page.sections += try indexes(of: entity, leadingTo: record, reader)
    } catch let error as AddressError {
      throw error
    } catch {
      let message = "\(entity.name) \(id) is damaged: \(error)"
      page.sections.append(Section("notice", .notice(Notice(.warning, message))))
    }
    if let changes = try changes(of: id, in: entity) {
      page.sections.append(Section("history", heading: "History", .table(changes)))
    }
    // The bytes of a damaged record help to find the damage, unless its shape is damaged.
    if let reader = try? record.reader() {
      page.sections.append(
        Section("bytes", heading: "Bytes", isFolded: true, .table(bytes(of: reader, entity))))
    }
    return page
  }

  /// A short name of the record: its first unique key with a text, or else its first text.
  func key(
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
      let value = try reader.value(of: attribute)
      var field = Field(
        name: attribute.name,
        type: RecordColumns.typeName(of: attribute, target: target?.name)
          + (attribute.derivation == nil ? "" : ", derived"),
        item: RecordColumns.item(value, target: target?.name))
      if form == .html {
        let indexes = entity.description.vectorIndexes
        if let position = indexes.firstIndex(where: { $0.attribute == attribute.number }) {
          field.numbers = entity.vector(in: reader, by: position)?.values
          field.type = RecordColumns.typeName(of: indexes[position], attribute)
        }
      }
      if form == .html, target == nil, field.numbers == nil {
        field.equal = Self.equal(to: value, at: attribute.name, in: entity.name)
      }
      fields.append(field)
    }
    return fields
  }

  /// The number of bytes of a text by which equal records are selected.
  private static let longestEqual = 200

  /// Returns the page of the records with an equal value, at an attribute or inside it.
  private static func equal(
    to value: Value, at name: String, in entity: String
  ) -> @Sendable ([String], JSONNode?) -> Route? {
    { path, node in
      guard path.allSatisfy(NestedPaths.isPlain) else { return nil }
      let inside = node.flatMap { ConditionText.value($0) }
      guard let value = node == nil ? value : inside else { return nil }
      if case .string(let text) = value, text.utf8.count > longestEqual { return nil }
      let full = ([name] + path).joined(separator: ".")
      guard let condition = ConditionText.equality(full, value) else { return nil }
      return .entity(entity, Selection().with { $0.condition = condition })
    }
  }

  // MARK: Related records

  private func related(to id: UInt64, of entity: DynamicEntity) throws -> [Section] {
    try snapshot.relationships(of: entity).filter { !$0.isToOne }.flatMap { relationship in
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
      return [Section(name, heading: "\(name): \(target.name)", .table(table))]
        + [linkEdits(id, name, of: entity)].compactMap(\.self)
    }
  }

  private func linkEdits(_ id: UInt64, _ name: String, of entity: DynamicEntity) -> Section? {
    edits(
      EditLink(
        text: "Add or remove \(name)", edit: .links(entity.name, id, name), isComplete: false))
  }

  func relatedColumns(
    of target: DynamicEntity, _ names: [String] = []
  ) throws(AddressError) -> RecordColumns {
    let usual = RecordColumns.usualNames(of: target, all: form != .html)
    let shown = names.isEmpty ? (form == .html ? Array(usual.prefix(6)) : usual) : names
    var columns = try RecordColumns(
      target, names: shown, relationships: snapshot.relationships(of: target))
    if form == .html { columns.showVectors() }
    return columns
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
    var stored = 0
    let mostBytes = isLimited ? .max : streams ? limits.batchBytes : limits.pageBytes
    try snapshot.forEachRelated(to: [id], by: relationship) { record in
      if let end = last {
        if record.id == end { last = nil }
        return true
      }
      stored += record.byteCount
      if rows.count == most || stored > mostBytes && !rows.isEmpty {
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
    if !relationship.isToOne, let edits = linkEdits(id, name, of: entity) {
      page.sections.append(edits)
    }
    page.sections.append(Section("rows", .table(table)))
    return page
  }

  // MARK: Indexes

  /// The entries that lead to the record, with a warning if an index lacks one.
  private func indexes(
    of entity: DynamicEntity, leadingTo record: DynamicRecord, _ reader: DynamicRecord.Reader
  ) throws -> [Section] {
    let entries = try snapshot.entries(leadingTo: record)
    guard !entries.isEmpty else { return [] }
    let rows = try entries.map { entry in
      let name = entry.index.shortName
      let attributes = entry.index.description.attributes.compactMap {
        entity.description.attribute(number: $0)
      }
      // A key has a text in NFC, or only its beginning, so the values are those of the record.
      let values =
        try attributes.isEmpty
        ? entry.value.values : attributes.map { try reader.value(of: $0) }
      let key = try values.map { PlainText.text(of: try Cell($0)) ?? "null" }
      var selection = Selection()
      selection.matches = zip(attributes, key).map { Selection.Match(path: $0.name, text: $1) }
      return Table.Row([
        Item(.text(name), link: .index(entity.name, name, Selection())),
        Item(
          .text(key.joined(separator: ", ")),
          link: attributes.isEmpty ? nil : .entity(entity.name, selection)),
        Item(.bool(entry.index.isUnique)), Item(.bytes(entry.key)), Item(.bool(entry.isPresent)),
      ])
    }
    let table = Table(
      [
        Table.Heading(Column("index", title: "Index")), Table.Heading(Column("key", title: "Key")),
        Table.Heading(Column("unique", title: "Unique")),
        Table.Heading(Column("entry", title: "Entry", alignment: .leading)),
        Table.Heading(Column("present", title: "Present")),
      ], rows)
    let missing = Set(entries.filter { !$0.isPresent }.map(\.index.shortName)).sorted()
    let warnings = missing.map { name in
      Section(
        "notice",
        .notice(
          Notice(
            .warning,
            "The index '\(name)' has no entry for the record. Check the store with "
              + "'kvdump verify'.")))
    }
    return warnings + [Section("indexes", heading: "Indexes that lead here", .table(table))]
  }

  // MARK: Bytes

  /// The bytes of the record, part by part, in the terms of Format.md.
  private func bytes(of reader: DynamicRecord.Reader, _ entity: DynamicEntity) -> Table {
    let rows = reader.parts.map { part, bytes in
      let (name, number) = Self.words(for: part.kind)
      let attribute = number.flatMap { entity.description.attribute(number: $0) }
      let value: Item =
        switch part.kind {
        case .header: Item(.text("layout \(reader.layoutNumber)"))
        case .slot, .bytes:
          attribute.flatMap { try? reader.value(of: $0) }
            .map { RecordColumns.item($0, target: nil) } ?? Item(.absent)
        case .nulls, .end, .checksum: Item(.absent)
        }
      return Table.Row([
        Item(.count(part.range.lowerBound)), Item(.count(bytes.count)), Item(.bytes(bytes)),
        Item(.text(name)),
        Item(number.map { .text(attribute?.name ?? "attribute \($0)") } ?? .absent), value,
      ])
    }
    var table = Table(
      [
        Table.Heading(Column("offset", title: "Offset")),
        Table.Heading(Column("count", title: "Count")),
        Table.Heading(Column("bytes", title: "Bytes", alignment: .leading)),
        Table.Heading(Column("part", title: "Part")),
        Table.Heading(Column("attribute", title: "Attribute")),
        Table.Heading(Column("value", title: "Value", alignment: .leading)),
      ], rows)
    let last = reader.parts.last?.part.range.upperBound ?? 0
    table.summary = "\(NumberText.counted(last, "byte")); Format.md explains the parts."
    return table
  }

  private static func words(for kind: RecordPart.Kind) -> (name: String, attribute: UInt32?) {
    switch kind {
    case .header: ("header", nil)
    case .nulls: ("nulls", nil)
    case .slot(let attribute): ("slot", attribute)
    case .end(let attribute): ("end", attribute)
    case .bytes(let attribute): ("bytes", attribute)
    case .checksum: ("checksum", nil)
    }
  }
}

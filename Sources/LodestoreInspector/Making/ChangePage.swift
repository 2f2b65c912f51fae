internal import EntityStore
internal import LodestoreFormat
internal import LodestoreRows

extension PageReading {
  /// The page of one change: the values of the record before and after a write.
  func changePage(_ number: UInt64, _ entity: DynamicEntity, _ id: UInt64) throws -> Page {
    let change = try write(number)?.changes.first { $0.entity == entity.name && $0.recordID == id }
    guard let change else {
      throw AddressError.notFound("write \(number) did not change \(entity.name) \(id)")
    }
    var page = Page(
      route: .change(number, entity.name, id),
      title: "\(entity.name) \(id) in write \(number)")
    page.trail = [
      Page.Crumb(text: "History", route: .history(before: nil)),
      Page.Crumb(text: "\(number)", route: .write(number, from: 0)),
      Page.Crumb(text: "\(entity.name) \(id)", route: page.route),
    ]
    let keepsImages = entity.description.history?.keepsImages == true
    if !keepsImages {
      let text = "The history of \(entity.name) keeps no images, so the values are not known."
      page.sections.append(Section("notice", .notice(Notice(.note, text))))
    }
    let before = try keepsImages ? snapshot.record(before: change) : nil
    let after = try keepsImages ? snapshot.record(after: change) : nil
    page.sections.append(Section("values", .table(try values(of: entity, change, before, after))))
    page.sections.append(
      Section("change", .facts([Fact("change", "Change", .text(change.kind.rawValue))])))
    return page
  }

  /// The changed attributes of an update, or all attributes of an inserted or deleted record.
  private func values(
    of entity: DynamicEntity, _ change: HistoryChange, _ before: DynamicRecord?,
    _ after: DynamicRecord?
  ) throws -> Table {
    let old = try before.map { try $0.reader() }
    let new = try after.map { try $0.reader() }
    let relationships = snapshot.relationships(of: entity).filter(\.isToOne)
    var rows: [Table.Row] = []
    for attribute in entity.description.declaredAttributes {
      if change.kind == .updated, !change.attributes.contains(attribute.name) { continue }
      let target = relationships.first { $0.name == attribute.name }?.target.name
      func item(_ reader: DynamicRecord.Reader?) throws -> Item {
        guard let reader else { return Item(.absent) }
        return RecordColumns.item(try reader.value(of: attribute), target: target)
      }
      rows.append(
        Table.Row([Item(.text(attribute.name)), try item(old), try item(new)]))
    }
    var table = Table(
      [
        Table.Heading(Column("attribute", title: "Attribute")),
        Table.Heading(Column("before", title: "Before", alignment: .leading)),
        Table.Heading(Column("after", title: "After", alignment: .leading)),
      ], rows)
    table.isMain = true
    table.empty = "The write changed links of the record only."
    return table
  }
}

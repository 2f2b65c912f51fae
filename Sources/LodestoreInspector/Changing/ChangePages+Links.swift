internal import EntityStore
internal import LodestoreRows

/// The parts of pages that add and remove links of one record.
extension ChangePages {
  /// The number of linked records that a form lists.
  private static let mostListed = 100

  /// Adds a choice of linked records to remove, and fields for the ids of others.
  func addFields(
    to form: inout EditForm, _ entity: DynamicEntity, _ id: UInt64, _ name: String,
    _ input: ChangeInput?, _ refusal: ChangeRefusal?
  ) throws {
    _ = try PlannedChange.record(id, of: entity, reading.snapshot)
    let end = try PlannedLinks.end(name, of: entity, reading.snapshot)
    var listed: [(name: String, text: String, isChosen: Bool)] = []
    var hasMore = false
    try reading.snapshot.forEachRelated(to: [id], by: end) { record in
      hasMore = listed.count == Self.mostListed
      if hasMore { return false }
      let item = "\(PlannedLinks.chosen)\(record.id)"
      listed.append((item, try title(record, of: end.target), input?.text(item) != nil))
      return true
    }
    if !listed.isEmpty {
      form.choices = EditForm.Choices(label: "Records to remove", items: listed)
    }
    func field(_ item: String, _ label: String) -> EditForm.Field {
      let reasons = refusal?.faults.filter { $0.attribute == item }.map(\.reason) ?? []
      return EditForm.Field(
        name: item, label: label, type: "ids of \(end.target.name)",
        text: input?.text(item) ?? "", isLong: false, null: nil,
        fault: reasons.isEmpty ? nil : reasons.joined(separator: "; "),
        hint: "Several ids have a space or a comma between them.")
    }
    if hasMore || refusal?.faults.contains(where: { $0.attribute == PlannedLinks.remove }) == true {
      form.fields.append(field(PlannedLinks.remove, "Other records to remove"))
    }
    form.fields.append(field(PlannedLinks.add, "Records to add"))
  }

  /// The related records before and after the change.
  func table(of links: PlannedLinks) throws -> Table {
    let source = try reading.entity(links.entity)
    let target = try PlannedLinks.end(links.relationship, of: source, reading.snapshot).target
    let changed =
      links.removed.map { ($0, "not linked") } + links.added.map { ($0, "linked") }
    return Table(
      [
        Table.Heading(Column("record", title: target.name)),
        Table.Heading(Column("before", title: "Before", alignment: .leading)),
        Table.Heading(Column("after", title: "After", alignment: .leading)),
      ],
      try changed.map { link, after in
        let record = try PlannedChange.record(link.id, of: target, reading.snapshot)
        return Table.Row([
          Item(.text(try title(record, of: target)), link: .record(target.name, link.id)),
          Item(links.words(link)), Item(.text(after)),
        ])
      })
  }

  /// The id of a record, and its key if it has one.
  private func title(_ record: DynamicRecord, of entity: DynamicEntity) throws -> String {
    let key = try reading.key(record.reader(), of: entity)
    return "\(record.id)" + (key.map { ": \($0)" } ?? "")
  }
}

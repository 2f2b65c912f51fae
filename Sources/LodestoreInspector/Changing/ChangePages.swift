internal import EntityStore
internal import LodestoreFormat
internal import LodestoreRows

/// The pages around a change: its form, its question, its result and its refusal.
struct ChangePages {
  let reading: PageReading

  init(_ reading: PageReading) { self.reading = reading }

  // MARK: Forms

  /// The page with the form of a change.
  func form(_ edit: EditRoute, _ input: ChangeInput?, _ refusal: ChangeRefusal?) throws -> Page {
    var page = page(edit, title: title(of: edit))
    var form = EditForm(
      target: edit, submit: "Show what would change", cancel: edit.origin)
    switch edit {
    case .insert(let name):
      let values = EditValues(try reading.entity(name), reading.snapshot)
      form.fields = values.fields(
        values.attributes.map(\.defaultValue), input, refusal?.faults ?? [])
    case .update(let name, let id):
      let entity = try reading.entity(name)
      let values = EditValues(entity, reading.snapshot)
      let present = try values.current(
        try PlannedChange.record(id, of: entity, reading.snapshot))
      form.fields = values.fields(present, input, refusal?.faults ?? [])
      form.hidden = [("state", PlannedChange.state(of: present))]
    case .delete(let name, let id):
      _ = try PlannedChange.record(id, of: try reading.entity(name), reading.snapshot)
    case .links(let name, let id, let relationship):
      try addFields(to: &form, reading.entity(name), id, relationship, input, refusal)
    case .updateSelected(let name, _):
      _ = try reading.entity(name)
      let reasons = refusal?.faults.map(\.reason) ?? []
      form.fields = [
        EditForm.Field(
          name: "assign", label: "Assignments", type: "one on each line",
          text: input?.text("assign") ?? "", isLong: true, null: nil,
          fault: reasons.isEmpty ? nil : reasons.joined(separator: "; "),
          hint: "attribute=value for a constant, or attribute:=expression as in stars:=stars + 1")
      ]
    case .deleteSelected(let name, _): _ = try reading.entity(name)
    case .undo(let number):
      guard try reading.write(number) != nil else {
        throw AddressError.notFound("the history has no write \(number)")
      }
    case .confirm: break
    }
    if let refusal { page.sections += sections(of: refusal, form) }
    page.sections.append(
      Section(
        "note", .notice(Notice(.note, "Nothing changes before you have answered a question."))))
    page.sections.append(Section("form", .edit(form)))
    return page
  }

  /// The reasons of a refusal; those of fields stand at the fields.
  private func sections(of refusal: ChangeRefusal, _ form: EditForm?) -> [Section] {
    var sections = [Section("notice", .notice(Notice(.error, refusal.message)))]
    let shown = form?.fields.map(\.label) ?? []
    let others = refusal.faults.filter { fault in
      !shown.contains(fault.attribute) && (form == nil || fault.attribute != "assign")
    }
    if !others.isEmpty {
      let table = Table(
        [
          Table.Heading(Column("attribute", title: "Attribute")),
          Table.Heading(Column("reason", title: "Reason")),
        ], others.map { Table.Row([Item(.text($0.attribute)), Item(.text($0.reason))]) })
      sections.append(Section("faults", heading: "Reasons", .table(table)))
    }
    if let states = refusal.states {
      sections.append(Section("states", heading: "Changed meanwhile", .table(states)))
    }
    return sections
  }

  func refusal(_ refusal: ChangeRefusal, _ edit: EditRoute) -> Page {
    let edit = refusal.origin ?? edit
    var page = page(edit, title: "Nothing was changed")
    page.sections = sections(of: refusal, nil)
    var notice = Notice(.note, "The store is as it was before.")
    notice.link = ("Back", edit.origin)
    page.sections.append(Section("note", .notice(notice)))
    return page
  }

  private func page(_ edit: EditRoute, title: String) -> Page {
    var page = Page(route: .edit(edit), title: title)
    switch edit.origin {
    case .entity(let name, _):
      page.trail = [Page.Crumb(text: name, route: edit.origin)]
    case .record(let name, let id):
      page.trail = [
        Page.Crumb(text: name, route: .entity(name, Selection())),
        Page.Crumb(text: "\(id)", route: edit.origin),
      ]
    case .write(let number, _):
      page.trail = [
        Page.Crumb(text: "History", route: .history(before: nil)),
        Page.Crumb(text: "\(number)", route: edit.origin),
      ]
    default: break
    }
    return page
  }

  private func title(of edit: EditRoute) -> String {
    switch edit {
    case .insert(let name): "Add a record of \(name)"
    case .update(let name, let id): "Change \(name) \(id)"
    case .delete(let name, let id): "Delete \(name) \(id)"
    case .links(let name, let id, let relationship): "Change \(relationship) of \(name) \(id)"
    case .updateSelected(let name, let selection):
      "Change \(selection.isOfAll ? "all" : "the selected") records of \(name)"
    case .deleteSelected(let name, let selection):
      "Delete \(selection.isOfAll ? "all" : "the selected") records of \(name)"
    case .undo(let number): "Undo write \(number)"
    case .confirm: "Change"
    }
  }

  // MARK: Questions

  /// The values of the record that a change is for, before the change.
  func values(before change: PlannedChange) throws -> [String: Item] {
    switch change.action {
    case .update(let name, let id, _, _), .delete(let name, let id, _):
      try values(of: id, name)
    case .insert, .links, .updateSelected, .deleteSelected, .undo: [:]
    }
  }

  private func values(of id: UInt64, _ name: String) throws -> [String: Item] {
    let entity = try reading.entity(name)
    guard let reader = try reading.snapshot.record(id, of: entity)?.reader() else { return [:] }
    let relationships = reading.snapshot.relationships(of: entity).filter(\.isToOne)
    var items: [String: Item] = [:]
    for attribute in entity.description.declaredAttributes {
      let target = relationships.first { $0.name == attribute.name }?.target.name
      items[attribute.name] = RecordColumns.item(
        try reader.value(of: attribute), target: target)
    }
    return items
  }

  /// The page that asks whether a change shall be made.
  ///
  /// - Parameters:
  ///   - before: the values before the change; the snapshot has those after it.
  ///   - all: the changes with those of derived attributes.
  func question(
    _ change: PlannedChange, _ before: [String: Item], newID: UInt64?, all: DynamicChanges,
    token: String
  ) throws -> Page {
    var page = page(change.edit, title: title(of: change.edit) + "?")
    page.sections = [
      Section(
        "notice",
        .notice(Notice(.warning, "Nothing has changed yet. \(sentence(change, all, "would"))")))
    ]
    if let table = try valueTable(change, before, newID) {
      page.sections.append(Section("values", heading: "What would change", .table(table)))
    }
    page.sections += sections(of: all)
    var form = EditForm(
      target: .confirm, hidden: [(EditForm.token, token)], submit: verb(of: change),
      isFinal: true, cancel: change.edit.origin)
    switch change.edit {
    case .update, .links: form.cancel = .edit(change.edit)
    default: break
    }
    page.sections.append(Section("answer", .edit(form)))
    return page
  }

  private func verb(of change: PlannedChange) -> String {
    switch change.action {
    case .insert: "Add the record"
    case .update: "Change the record"
    case .delete: "Delete the record"
    case .links: "Change the links"
    case .updateSelected(_, _, _, let selected):
      "Change \(NumberText.counted(selected.count, "record"))"
    case .deleteSelected(_, _, let selected):
      "Delete \(NumberText.counted(selected.count, "record"))"
    case .undo(let number): "Undo write \(number)"
    }
  }

  /// The values before and after a change of one record.
  private func valueTable(
    _ change: PlannedChange, _ before: [String: Item], _ newID: UInt64?
  ) throws -> Table? {
    let name: String
    var after: [String: Item] = [:]
    switch change.action {
    case .insert(let entity, _):
      name = entity
      if let newID { after = try values(of: newID, entity) }
    case .update(let entity, let id, _, _):
      name = entity
      after = try values(of: id, entity)
    case .delete(let entity, _, _): name = entity
    case .links(let links): return try table(of: links)
    case .updateSelected(_, _, let assignments, _):
      return Table(
        [
          Table.Heading(Column("attribute", title: "Attribute")),
          Table.Heading(Column("after", title: "After", alignment: .leading)),
        ],
        assignments.map {
          Table.Row([
            Item(.text($0.attribute)), Item(.text($0.isExpression ? "= \($0.text)" : $0.text)),
          ])
        })
    case .deleteSelected, .undo: return nil
    }
    var rows: [Table.Row] = []
    for attribute in try reading.entity(name).description.declaredAttributes {
      let (old, new) = (before[attribute.name], after[attribute.name])
      if let old, let new, old.cell == new.cell { continue }
      rows.append(
        Table.Row([Item(.text(attribute.name)), old ?? Item(.absent), new ?? Item(.absent)]))
    }
    return Table(
      [
        Table.Heading(Column("attribute", title: "Attribute")),
        Table.Heading(Column("before", title: "Before", alignment: .leading)),
        Table.Heading(Column("after", title: "After", alignment: .leading)),
      ], rows)
  }

  // MARK: Effects

  /// The effects of a change as sentences.
  private func sentence(_ change: PlannedChange, _ all: DynamicChanges, _ mode: String) -> String {
    var parts: [String] = []
    func add(_ count: Int, _ noun: String, of owner: String, _ verb: String, _ rest: String = "") {
      guard count > 0 else { return }
      let be = mode == "would" ? "would be" : count == 1 ? "was" : "were"
      parts.append("\(NumberText.counted(count, noun)) of \(owner) \(be) \(verb)\(rest)")
    }
    for records in all.records {
      add(records.inserted, "record", of: records.entity, "added")
      add(
        records.updated, "record", of: records.entity, "changed",
        records.attributes.isEmpty ? "" : " in \(records.attributes.joined(separator: ", "))")
      let byRules = isByRules(records.entity, change) ? " by delete rules" : ""
      add(records.deleted, "record", of: records.entity, "deleted", byRules)
    }
    for links in all.links {
      add(links.added, "link", of: links.relationship, "added")
      add(links.removed, "link", of: links.relationship, "removed")
    }
    return parts.joined(separator: "; ") + "."
  }

  private func isByRules(_ entity: String, _ change: PlannedChange) -> Bool {
    switch change.action {
    case .delete(let name, _, _), .deleteSelected(let name, _, _): name != entity
    case .insert, .update, .links, .updateSelected, .undo: false
    }
  }

  private func sections(of changes: DynamicChanges) -> [Section] {
    var sections: [Section] = []
    let records = Table(
      [
        Table.Heading(Column("entity", title: "Entity")),
        Table.Heading(Column("inserted", title: "Added")),
        Table.Heading(Column("updated", title: "Changed")),
        Table.Heading(Column("deleted", title: "Deleted")),
        Table.Heading(Column("attributes", title: "Attributes")),
      ],
      changes.records.map { records in
        Table.Row([
          Item(.text(records.entity), link: .entity(records.entity, Selection())),
          Item(.count(records.inserted)), Item(.count(records.updated)),
          Item(.count(records.deleted)), Item(.text(records.attributes.joined(separator: ", "))),
        ])
      })
    if !changes.records.isEmpty {
      sections.append(Section("changes", heading: "Records", .table(records)))
    }
    let links = Table(
      [
        Table.Heading(Column("relationship", title: "Relationship")),
        Table.Heading(Column("added", title: "Added")),
        Table.Heading(Column("removed", title: "Removed")),
      ],
      changes.links.map { links in
        Table.Row([
          Item(.text(links.relationship)), Item(.count(links.added)), Item(.count(links.removed)),
        ])
      })
    if !changes.links.isEmpty {
      sections.append(Section("links", heading: "Links", .table(links)))
    }
    return sections
  }

  /// The page after a change.
  func done(_ change: PlannedChange, newID: UInt64?) throws -> Page {
    var page = page(change.edit, title: title(of: change.edit) + ": done")
    var notice = Notice(.note, "Done: \(sentence(change, change.changes, "was"))")
    switch change.action {
    case .insert(let entity, _):
      notice.link = newID.map { ("\(entity) \($0)", .record(entity, $0)) }
    case .update(let entity, let id, _, _):
      notice.link = ("\(entity) \(id)", .record(entity, id))
    case .links(let links):
      notice.link = ("\(links.entity) \(links.id)", .record(links.entity, links.id))
    case .delete(let entity, _, _), .updateSelected(let entity, _, _, _),
      .deleteSelected(let entity, _, _):
      notice.link = (entity, .entity(entity, Selection()))
    case .undo: notice.link = ("History", .history(before: nil))
    }
    page.sections = [Section("notice", .notice(notice))]
    if let newID {
      page.sections.append(
        Section("record", .facts([Fact("id", "Id", .unsigned(newID))])))
    }
    page.sections += sections(of: change.changes)
    return page
  }

  /// A table with the changes of a question, and those that would be made now.
  static func states(asked: DynamicChanges, now: DynamicChanges) -> Table {
    let names = Set(asked.records.map(\.entity) + now.records.map(\.entity)).sorted()
    func cell(_ changes: DynamicChanges, _ name: String) -> Cell {
      guard let found = changes.records.first(where: { $0.entity == name }) else {
        return .text("no change")
      }
      return .text(
        "\(found.inserted) added, \(found.updated) changed, \(found.deleted) deleted")
    }
    return PlannedChange.states(names.map { ($0, cell(asked, $0), cell(now, $0)) })
  }
}

internal import LodestoreRows

/// The form `json` of a page: one object with a member for each section.
///
/// The rows of the main table come last, because they may be many.
struct JSONTwin {
  let page: Page
  /// Whether the object has addresses of pages; otherwise `next` is a token.
  let hasAddresses: Bool

  init(_ page: Page, hasAddresses: Bool = true) {
    self.page = page
    self.hasAddresses = hasAddresses
  }

  var first: TwinPart {
    var head: [UInt8] = []
    head.append(UInt8(ascii: "{"))
    Self.append("title", .text(page.title), to: &head)
    if let commit = page.commit {
      head.append(UInt8(ascii: ","))
      Self.append("commit", .unsigned(commit), to: &head)
    }
    var main: (name: String, table: Table)?
    for section in page.sections {
      if case .table(let table) = section.content, table.isMain {
        main = (section.name, table)
      } else {
        append(section, to: &head)
      }
    }
    let notices = page.sections.compactMap { section -> Cell? in
      if case .notice(let notice) = section.content { Self.cell(notice) } else { nil }
    }
    if !notices.isEmpty {
      head.append(UInt8(ascii: ","))
      Self.append("notices", .array(notices), to: &head)
    }
    guard let main else { return TwinPart(head + Array("}\n".utf8)) }
    head.append(UInt8(ascii: ","))
    let streamsAll = main.table.next != nil
    let next =
      hasAddresses
      ? Self.address(of: main.table.nextPage) : main.table.nextToken.map(Cell.text) ?? .null
    Self.append("next", streamsAll ? .null : next, to: &head)
    head.append(UInt8(ascii: ","))
    head.append(contentsOf: CellJSON.text(main.name))
    head.append(contentsOf: ":[".utf8)
    let names = main.table.headings.map { CellJSON.text($0.column.name) }
    return TwinPart(head, rowsOf: main.table, tail: Array("\n]}\n".utf8)) { row, isFirst, bytes in
      bytes.append(contentsOf: (isFirst ? "\n" : ",\n").utf8)
      Self.append(row, names, to: &bytes)
    }
  }

  /// Appends a member for the section, unless it is only for people.
  private func append(_ section: Section, to bytes: inout [UInt8]) {
    let value: Cell? =
      switch section.content {
      case .facts(let facts): .object(facts.map { ($0.name, $0.item.cell) })
      case .record(let fields): .object(fields.map { ($0.name, $0.item.cell) })
      case .table(let table): Self.cell(table)
      case .drawing(let figure): Self.cell(figure.table)
      case .facets(let facets): .array(facets.map(cell))
      case .edit(let form) where form.isFinal:
        .object(form.hidden.map { ($0.name, .text($0.value)) })
      case .selection, .notice, .edit, .edits: nil
      }
    guard let value else { return }
    bytes.append(UInt8(ascii: ","))
    Self.append(section.name, value, to: &bytes)
  }

  private static func cell(_ table: Table) -> Cell {
    .array(
      table.rows.map { row in
        .object(zip(table.headings, row.items).map { ($0.column.name, $1.cell) })
      })
  }

  private func cell(_ facet: Facet) -> Cell {
    .object([
      ("expression", .text(facet.expression)),
      ("values", facet.failure != nil ? .absent : .array(facet.values.map(cell))),
      ("others", facet.failure != nil ? .absent : .count(facet.others)),
      ("failure", facet.failure.map(Cell.text) ?? .absent),
    ])
  }

  private func cell(_ value: Facet.Value) -> Cell {
    .object([
      ("value", value.item.cell), ("count", .count(value.count)),
      ("address", hasAddresses ? Self.address(of: value.item.link) : .absent),
    ])
  }

  private static func cell(_ notice: Notice) -> Cell {
    .object([
      ("kind", .text(notice.kind.rawValue)), ("message", .text(notice.text)),
      ("line", notice.excerpt.map { .count($0.line) } ?? .absent),
      ("column", notice.excerpt.map { .count($0.column) } ?? .absent),
      (
        "suggestions",
        notice.suggestions.isEmpty ? .absent : .array(notice.suggestions.map { .text($0.text) })
      ),
    ])
  }

  private static func address(of route: Route?) -> Cell {
    route.map { .text(Target($0, .json).address.text) } ?? .null
  }

  private static func append(_ name: String, _ cell: Cell, to bytes: inout [UInt8]) {
    bytes.append(contentsOf: CellJSON.text(name))
    bytes.append(UInt8(ascii: ":"))
    CellJSON.append(cell, to: &bytes)
  }

  static func append(_ row: Table.Row, _ names: [[UInt8]], to bytes: inout [UInt8]) {
    CellJSON.appendObject(zip(names, row.items).lazy.map { (name: $0, cell: $1.cell) }, to: &bytes)
  }
}

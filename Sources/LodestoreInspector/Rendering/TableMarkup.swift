internal import LodestoreRows

/// Tables as markup.
enum TableMarkup {
  static func table(_ table: Table, label: String) -> HTML {
    if table.rows.isEmpty {
      return HTML(.p, .class("empty")) { table.empty }
    }
    let alignments = table.headings.indices.map { isTrailing($0, of: table) }
    return HTML(
      .div, .class(table.isMain ? "scroll records" : "scroll"), .text(.role, "region"),
      .text(.ariaLabel, label),
      focus
    ) {
      HTML(.table) {
        HTML(.thead) {
          HTML(.tr) {
            for (heading, isTrailing) in zip(table.headings, alignments) {
              cell(heading, isTrailing)
            }
          }
        }
        HTML(.tbody) {
          for row in table.rows {
            HTML(.tr) {
              for (position, (item, isTrailing)) in zip(row.items, alignments).enumerated() {
                HTML(
                  .td, isTrailing ? [.class("number")] : [],
                  ItemMarkup.short(item, marking: table.headings[position].highlighter))
              }
            }
          }
        }
      }
    }
  }

  /// A table that is wider than the window is scrolled by the keyboard once it has the focus.
  private static let focus = HTMLAttribute.constant("tabindex", "0")

  private static func cell(_ heading: Table.Heading, _ isTrailing: Bool) -> HTML {
    var attributes: [HTMLAttribute] = [.text(.scope, "col")]
    if isTrailing { attributes.append(.class("number")) }
    switch heading.sorted {
    case .ascending: attributes.append(.text(.ariaSort, "ascending"))
    case .descending: attributes.append(.text(.ariaSort, "descending"))
    case nil: break
    }
    let name = HTML(.bdi) { heading.column.title }
    let arrow =
      switch heading.sorted {
      case .ascending: HTML(.span, .class("arrow")) { " ↑" }
      case .descending: HTML(.span, .class("arrow")) { " ↓" }
      case nil: HTML()
      }
    let content =
      heading.sort.map { HTML(.a, .href($0.address)) { name + arrow } } ?? name + arrow
    let type = heading.type.map { type in HTML(.small) { type } } ?? HTML()
    return HTML(.th, attributes, content + type)
  }

  /// Returns whether the column stands at the right, as numbers do.
  ///
  /// The first value that is not null decides.
  private static func isTrailing(_ position: Int, of table: Table) -> Bool {
    if let alignment = table.headings[position].column.alignment { return alignment == .trailing }
    let cells = table.rows.lazy.filter { position < $0.items.count }.map { $0.items[position].cell }
    return cells.first { !$0.isEmpty }?.isNumeric ?? false
  }

  /// The links and the sentence below a table.
  static func foot(_ table: Table) -> HTML {
    guard table.summary != nil || table.nextPage != nil || table.firstPage != nil else {
      return HTML()
    }
    return HTML(.p, .class("foot")) {
      if let summary = table.summary { HTML(.span) { summary } }
      HTML(.span, .class("spacer"))
      if let first = table.firstPage {
        HTML(.a, .class("button"), .href(first.address)) { "First page" }
      }
      if let next = table.nextPage {
        HTML(.a, .class("button"), .href(next.address), .constant("rel", "next")) {
          table.nextTitle
        }
      }
    }
  }
}

internal import LodestoreRows

/// The sections of a page as markup.
enum SectionMarkup {
  static func section(_ section: Section) -> HTML {
    guard let heading = section.heading else { return content(section) }
    if section.isFolded {
      return HTML(.details, .class("fold")) {
        HTML(.summary) { HTML(.h2) { heading } }
        content(section)
      }
    }
    return HTML(.section) {
      HTML(.h2) { heading }
      content(section)
    }
  }

  private static func content(_ section: Section) -> HTML {
    switch section.content {
    case .facts(let facts): return self.facts(facts)
    case .record(let fields): return record(fields)
    case .table(let table):
      return TableMarkup.table(table, label: section.heading ?? section.name)
        + TableMarkup.foot(table)
    case .selection(let form): return SelectionMarkup.form(form)
    case .facets(let facets): return SelectionMarkup.facets(facets)
    case .drawing(let figure): return DrawingMarkup.figure(figure)
    case .notice(let notice): return self.notice(notice)
    case .edit(let form): return EditMarkup.form(form)
    case .edits(let links): return EditMarkup.links(links)
    }
  }

  private static func facts(_ facts: [Fact]) -> HTML {
    HTML(.dl, .class("facts")) {
      for fact in facts where !fact.item.cell.isEmpty {
        HTML(.div) {
          HTML(.dt) { fact.title }
          HTML(.dd) { ItemMarkup.short(fact.item) }
        }
      }
    }
  }

  /// The values that are not null, and below them the names of the others.
  private static func record(_ fields: [Field]) -> HTML {
    let empty = fields.filter(\.item.cell.isEmpty)
    guard empty.count > 3 else { return list(fields) }
    return list(fields.filter { !$0.item.cell.isEmpty })
      + HTML(.details, .class("rest")) {
        HTML(.summary) { "\(empty.count) attributes are null" }
        list(empty)
      }
  }

  private static func list(_ fields: [Field]) -> HTML {
    HTML(.dl, .class("record")) {
      for field in fields {
        HTML(.div) {
          HTML(.dt) {
            HTML(.bdi) { field.name }
            HTML(.small) { field.type }
          }
          HTML(.dd) { ItemMarkup.full(field) }
        }
      }
    }
  }

  private static func notice(_ notice: Notice) -> HTML {
    let role: HTMLAttribute = .text(.role, notice.kind == .note ? "note" : "alert")
    return HTML(.div, noticeClass(notice.kind), role) {
      HTML(.p) { notice.text }
      if let excerpt = notice.excerpt {
        HTML(.pre) {
          HTML(text: excerpt.before, keepsLines: false)
          HTML(.mark) { excerpt.fault.isEmpty ? "␣" : excerpt.fault }
          HTML(text: String(excerpt.after.dropFirst(excerpt.fault.count)), keepsLines: false)
        }
      }
      if !notice.suggestions.isEmpty {
        HTML(.ul, .class("links")) {
          for suggestion in notice.suggestions {
            HTML(.li) {
              HTML(.a, .href(suggestion.route.address)) { HTML(.bdi) { suggestion.text } }
            }
          }
        }
      }
      if let wait = notice.wait { HTML(.p) { waitLink(wait) } }
      if let link = notice.link {
        HTML(.p) { HTML(.a, .href(link.route.address)) { link.text } }
      }
    }
  }

  /// A link to the page with more time, which the script finds by an attribute.
  static func waitLink(_ wait: WaitLink) -> HTML {
    HTML(
      .a, [.href(wait.route.address)] + (wait.isFollowed ? [.text(.wait, "")] : []),
      HTML(text: "Wait for the rest"))
  }

  private static func noticeClass(_ kind: Notice.Kind) -> HTMLAttribute {
    switch kind {
    case .note: .class("notice")
    case .warning: .class("notice warning")
    case .error: .class("notice error")
    }
  }
}

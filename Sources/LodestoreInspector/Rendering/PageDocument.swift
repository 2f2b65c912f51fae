internal import LodestoreRows

/// The form `html` of a page.
struct PageDocument {
  let page: Page

  init(_ page: Page) { self.page = page }

  var bytes: [UInt8] {
    HTML.document(
      HTML(.html, .constant("lang", "en")) {
        head
        HTML(.body, commit, content)
      })
  }

  /// The number of the shown commit, for the script.
  private var commit: [HTMLAttribute] {
    guard let commit = page.commit else { return [] }
    return [.text(.commit, "\(commit)")]
  }

  @HTMLBuilder private var content: HTML {
    HTML(.a, .class("skip"), .constant("href", "#content")) { "Skip to the content" }
    header
    HTML(.div, .class("frame")) {
      sidebar
      HTML(.main, .text(.id, "content")) {
        title
        for section in page.sections { SectionMarkup.section(section) }
      }
    }
    footer
  }

  private var head: HTML {
    HTML(.head) {
      HTML(.meta, .constant("charset", "utf-8"))
      HTML(
        .meta, .constant("name", "viewport"),
        .constant("content", "width=device-width, initial-scale=1"))
      HTML(.meta, .constant("name", "color-scheme"), .constant("content", "light dark"))
      HTML(.title) { "\(page.title) · Lodestore" }
      HTML(.link, .constant("rel", "stylesheet"), .href(Route.styleSheet.address))
      HTML(.link, .constant("rel", "icon"), .href(Route.icon.address))
      HTML(scriptAt: Route.script.address)
    }
  }

  private var header: HTML {
    HTML(.header, .class("top")) {
      HTML(.a, .class("brand"), .href(Route.store.address)) { "Lodestore" }
      HTML(.nav, .text(.ariaLabel, "Pages above")) {
        for crumb in page.trail {
          HTML(.span, .class("faint")) { "/" }
          HTML(.a, .href(crumb.route.address)) { HTML(.bdi) { crumb.text } }
        }
      }
      HTML(.span, .class("spacer"))
      HTML(
        .button, .constant("type", "button"), .text(.id, "live"), .class("live"), .flag(.hidden)
      ) { "Live" }
      HTML(.a, .href(Route.model.address)) { "Model" }
      HTML(.a, .href(Route.history(before: nil).address)) { "History" }
      HTML(.a, .href(Route.imports(nil).address)) { "Imports" }
    }
  }

  private var sidebar: HTML {
    guard !page.entities.isEmpty else { return HTML() }
    let current: String? =
      switch page.route {
      case .entity(let name, _), .plan(let name, _), .record(let name, _),
        .related(let name, _, _, _), .index(let name, _, _):
        name
      case .change(_, let name, _), .schema(let name): name
      case .edit(let edit): edit.entity
      case .store, .history, .write, .imports, .importRun, .model, .live, .styleSheet, .script,
        .icon:
        nil
      }
    return HTML(.nav, .class("side"), .text(.id, "entities"), .text(.ariaLabel, "Entities")) {
      HTML(.ul) {
        for entity in page.entities {
          HTML(.li) {
            HTML(
              .a,
              [.href(Route.entity(entity.name, Selection()).address)]
                + (entity.name == current ? [.text(.ariaCurrent, "true")] : []),
              HTML(.bdi) { entity.name }
                + HTML(.span, .class("count")) { NumberText.grouped(entity.count) })
          }
        }
      }
    }
  }

  private var title: HTML {
    HTML(.div, .class("title")) {
      HTML(.h1) { HTML(.bdi) { page.title } }
      if !page.views.isEmpty {
        HTML(.nav, .class("views"), .text(.ariaLabel, "Views")) {
          for view in page.views {
            HTML(
              .a,
              [.href(view.route.address)]
                + (view.route.isSameView(as: page.route) ? [.text(.ariaCurrent, "page")] : []),
              HTML(.bdi) { view.text })
          }
        }
      }
      HTML(.span, .class("spacer"))
      if page.rows != nil {
        HTML(.nav, .class("forms"), .text(.ariaLabel, "Other forms")) {
          for form in page.forms {
            HTML(.a, .href(Target(page.route, form).address)) { form.rawValue }
          }
        }
      }
    }
  }

  private var footer: HTML {
    HTML(.footer, .text(.id, "foot")) {
      if let commit = page.commit { "Commit \(commit)." }
      page.isWritable
        ? " Each page is one short read of the store. Each change asks before it is made."
        : " Read-only. Each page is one short read of the store."
    }
  }
}

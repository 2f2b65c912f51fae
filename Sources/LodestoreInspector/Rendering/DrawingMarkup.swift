internal import LodestoreRows

/// Pictures as markup.
enum DrawingMarkup {
  /// A picture, with its table in a fold below it.
  static func figure(_ figure: Figure) -> HTML {
    let drawing = figure.drawing
    return HTML(.figure) {
      if !figure.controls.isEmpty {
        HTML(.nav, .class("controls"), .text(.ariaLabel, "Move the \(drawing.title)")) {
          for control in figure.controls {
            HTML(.a, .class("button"), .href(control.route.address)) { control.text }
          }
        }
      }
      HTML(
        .div, .class("drawing"), .text(.role, "region"), .text(.ariaLabel, drawing.title),
        .constant("tabindex", "0")
      ) { HTML(SVG(drawing)) }
      HTML(.figcaption) {
        HTML(.p) { drawing.summary }
        if !figure.table.rows.isEmpty {
          HTML(.details) {
            HTML(.summary) { "The values as a table" }
            TableMarkup.table(figure.table, label: "\(drawing.title): values")
            TableMarkup.foot(figure.table)
          }
        }
      }
    }
  }
}

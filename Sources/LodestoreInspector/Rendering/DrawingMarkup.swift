/// Pictures as markup.
enum DrawingMarkup {
  /// A picture, with its table in a fold below it.
  static func figure(_ drawing: Drawing) -> HTML {
    HTML(.figure) {
      HTML(
        .div, .class("drawing"), .text(.role, "region"), .text(.ariaLabel, drawing.title),
        .constant("tabindex", "0")
      ) { HTML(picture(drawing)) }
      HTML(.figcaption) {
        HTML(.p) { drawing.summary }
        if !drawing.table.rows.isEmpty {
          HTML(.details) {
            HTML(.summary) { "The values as a table" }
            TableMarkup.table(drawing.table, label: "\(drawing.title): values")
            TableMarkup.foot(drawing.table)
          }
        }
      }
    }
  }

  private static func picture(_ drawing: Drawing) -> SVG {
    let hasLinks = drawing.shapes.contains { if case .link = $0 { true } else { false } }
    var content = SVG(.desc, [], SVG(text: drawing.summary))
    for shape in drawing.shapes { content.append(self.shape(shape)) }
    return SVG(
      .svg,
      [
        .viewBox(width: drawing.width, height: drawing.height), .number(.width, drawing.width),
        .number(.height, drawing.height), .constant("role", hasLinks ? "group" : "img"),
        .label(drawing.title),
      ], content)
  }

  private static func shape(_ shape: Drawing.Shape) -> SVG {
    switch shape {
    case .box(let x, let y, let width, let height, let style):
      return SVG(
        .rect,
        [
          .number(.x, x), .number(.y, y), .number(.width, max(width, 0)),
          .number(.height, max(height, 0)), .number(.rx, style == .frame ? 6 : 1),
          className(style),
        ])
    case .line(let points, let style):
      guard let first = points.first else { return SVG() }
      return SVG(
        .path, [.path([("M", [first]), ("L", Array(points.dropFirst()))]), className(style)])
    case .curve(let start, let first, let second, let end, let style):
      return SVG(.path, [.path([("M", [start]), ("C", [first, second, end])]), className(style)])
    case .dot(let point, let style):
      return SVG(
        .circle,
        [.number(.cx, point.x), .number(.cy, point.y), .number(.r, 4), className(style)])
    case .text(let text, let point, let style, let anchor):
      return SVG(
        .text,
        [
          .number(.x, point.x), .number(.y, point.y), self.anchor(anchor), className(style),
        ], SVG(text: text))
    case .link(let route, let label, let shapes):
      var content = SVG()
      for shape in shapes { content.append(self.shape(shape)) }
      return SVG(.a, [.href(route.address), .label(label)], content)
    }
  }

  private static func anchor(_ anchor: Drawing.Anchor) -> SVG.Attribute {
    switch anchor {
    case .start: .constant("text-anchor", "start")
    case .middle: .constant("text-anchor", "middle")
    case .end: .constant("text-anchor", "end")
    }
  }

  private static func className(_ style: Drawing.Style) -> SVG.Attribute {
    switch style {
    case .frame: .class("frame-box")
    case .heading: .class("heading")
    case .edge: .class("edge")
    case .axis: .class("axis")
    case .bar: .class("bar")
    case .strong: .class("strong")
    case .faint: .class("faint-text")
    }
  }
}

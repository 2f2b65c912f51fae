extension SVG {
  /// Draws a picture.
  ///
  /// - Parameter attributes: further attributes of the element `svg`.
  package init(_ drawing: Drawing, _ attributes: [Attribute] = []) {
    let hasLinks = drawing.shapes.contains { if case .link = $0 { true } else { false } }
    var content = SVG(.desc, [], SVG(text: drawing.summary))
    for shape in drawing.shapes { content.append(Self.shape(shape, drawing.form)) }
    self.init(
      .svg,
      attributes + (drawing.form == .map ? [.class("map")] : []) + [
        .viewBox(width: drawing.width, height: drawing.height), .number(.width, drawing.width),
        .number(.height, drawing.height), .constant("role", hasLinks ? "group" : "img"),
        .label(drawing.title),
      ], content)
  }

  private static func shape(_ shape: Drawing.Shape, _ form: Drawing.Form) -> SVG {
    switch shape {
    case .box(let x, let y, let width, let height, let style):
      return SVG(
        .rect,
        [
          .number(.x, x), .number(.y, y), .number(.width, max(width, 0)),
          .number(.height, max(height, 0)), .number(.rx, Self.radius(style)),
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
    case .link(let link, let label, let shapes):
      var content = form == .map ? SVG(.title, [], SVG(text: label)) : SVG()
      for shape in shapes { content.append(self.shape(shape, form)) }
      guard form == .map else { return SVG(.a, [.href(link), .label(label)], content) }
      return SVG(.a, [.href(link), .constant("tabindex", "-1")], content)
    }
  }

  private static func radius(_ style: Drawing.Style) -> Double {
    switch style {
    case .frame: 6
    case .heat: 0
    default: 1
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
    case .grid: .class("grid")
    case .land: .class("land")
    case .water: .class("water")
    case .heat(1): .class("heat1")
    case .heat(2): .class("heat2")
    case .heat(3): .class("heat3")
    case .heat(4): .class("heat4")
    case .heat: .class("heat5")
    }
  }

  /// A picture as a file, with its title, and with colors for a light and a dark background.
  package static func file(_ drawing: Drawing) -> [UInt8] {
    let top = 28.0
    let title = Drawing.cut(drawing.title, to: drawing.width)
    var content = SVG(.style, [], SVG(text: styleSheet))
    content.append(
      SVG(.text, [.number(.x, 0), .number(.y, 16), .class("heading")], SVG(text: title)))
    content.append(SVG(drawing, [.number(.y, top)]))
    let picture = SVG(
      .svg,
      [
        .constant("xmlns", "http://www.w3.org/2000/svg"),
        .viewBox(width: drawing.width, height: drawing.height + top),
        .number(.width, drawing.width), .number(.height, drawing.height + top),
      ], content)
    return picture.bytes + [UInt8(ascii: "\n")]
  }

  /// The colors of the inspector's pages.
  private static let styleSheet = """
    svg { background: #ffffff; font: 13px ui-monospace, monospace; } \
    text { fill: #182225; } .heading { font-weight: 600; } .faint-text { fill: #5b6a6e; } \
    .axis { fill: #dde4e5; stroke: #dde4e5; } .bar { fill: #0b5f73; } \
    .strong { fill: none; stroke: #0b5f73; stroke-width: 2; } \
    @media (prefers-color-scheme: dark) { \
      svg { background: #14191b; } text { fill: #e4eaeb; } .faint-text { fill: #9aa9ad; } \
      .axis { fill: #2d373a; stroke: #2d373a; } .bar { fill: #7cc7d8; } .strong { stroke: #7cc7d8; } \
    }
    """
}

import EntityStore

/// A model as an SVG image: a box for each entity, in rows, and a line for each relationship.
///
/// A dot marks an end with many records.
struct ModelDrawing {
  private struct Box {
    var title: String
    var rows: [String]
    var x = 0
    var y = 0
    var width: Int
    var height: Int

    var middle: (x: Int, y: Int) { (x + width / 2, y + height / 2) }
  }

  private var boxes: [Box] = []
  private var edges: [(from: Int, to: Int, label: String, isToMany: Bool, isFromMany: Bool)] = []
  private var width = 0
  private var height = 0

  private static let lineHeight = 18
  private static let gap = 90
  /// The approximate width of a character of the font.
  private static let characterWidth = 8

  init(
    _ entities: [DynamicEntity],
    _ relationships: [(entity: DynamicEntity, relationship: DynamicRelationship)]
  ) {
    for entity in entities {
      let rows = entity.description.declaredAttributes.map(\.inDiagrams)
      let longest = ([entity.name] + rows).map(\.count).max() ?? 0
      boxes.append(
        Box(
          title: entity.name, rows: rows, width: longest * Self.characterWidth + 20,
          height: (rows.count + 1) * Self.lineHeight + 16))
    }
    place()
    for (entity, relationship) in relationships {
      guard let from = boxes.firstIndex(where: { $0.title == entity.name }),
        let to = boxes.firstIndex(where: { $0.title == relationship.target.name })
      else { continue }
      edges.append(
        (from, to, relationship.name ?? "", !relationship.isToOne, !relationship.inverseIsToOne))
    }
  }

  /// Places the boxes in about as many rows as columns.
  private mutating func place() {
    var columns = 1
    while columns * columns < boxes.count { columns += 1 }
    var (x, y, tallest) = (Self.gap / 2, Self.gap / 2, 0)
    for index in boxes.indices {
      if index > 0, index % columns == 0 {
        x = Self.gap / 2
        y += tallest + Self.gap
        tallest = 0
      }
      boxes[index].x = x
      boxes[index].y = y
      x += boxes[index].width + Self.gap
      tallest = max(tallest, boxes[index].height)
      width = max(width, x)
      height = max(height, y + tallest + Self.gap / 2)
    }
  }

  var lines: [String] {
    var lines = [
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(width)\" height=\"\(height)\" "
        + "font-family=\"monospace\" font-size=\"13\">",
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>",
    ]
    for edge in edges { lines += drawn(edge) }
    for box in boxes { lines += drawn(box) }
    return lines + ["</svg>"]
  }

  private func drawn(_ box: Box) -> [String] {
    var lines = [
      "<rect x=\"\(box.x)\" y=\"\(box.y)\" width=\"\(box.width)\" height=\"\(box.height)\" "
        + "fill=\"#f6f6f6\" stroke=\"#444\"/>",
      text(box.title, box.x + 10, box.y + Self.lineHeight, "font-weight=\"bold\""),
    ]
    for (index, row) in box.rows.enumerated() {
      lines.append(text(row, box.x + 10, box.y + 6 + (index + 2) * Self.lineHeight))
    }
    return lines
  }

  /// The line between two boxes, or the arc over a box related to itself.
  private func drawn(
    _ edge: (from: Int, to: Int, label: String, isToMany: Bool, isFromMany: Bool)
  ) -> [String] {
    let from = boxes[edge.from]
    if edge.from == edge.to {
      let (right, top) = (from.x + from.width, from.y)
      return [
        "<path d=\"M \(right - 30) \(top) C \(right - 30) \(top - 40), \(right + 40) \(top + 10), "
          + "\(right) \(top + 20)\" fill=\"none\" stroke=\"#888\"/>",
        text(edge.label, right - 20, top - 16, "fill=\"#666\""),
      ]
    }
    let to = boxes[edge.to]
    let start = Self.border(of: from, towards: to.middle)
    let end = Self.border(of: to, towards: from.middle)
    var lines = [
      "<line x1=\"\(start.x)\" y1=\"\(start.y)\" x2=\"\(end.x)\" y2=\"\(end.y)\" stroke=\"#888\"/>"
    ]
    for (point, isMany) in [(end, edge.isToMany), (start, edge.isFromMany)] where isMany {
      lines.append("<circle cx=\"\(point.x)\" cy=\"\(point.y)\" r=\"4\" fill=\"#444\"/>")
    }
    lines.append(
      text(edge.label, (start.x + end.x) / 2 + 4, (start.y + end.y) / 2 - 4, "fill=\"#666\""))
    return lines
  }

  /// The point where the line from the middle of `box` to `point` leaves the box.
  private static func border(of box: Box, towards point: (x: Int, y: Int)) -> (x: Int, y: Int) {
    let middle = box.middle
    let (dx, dy) = (Double(point.x - middle.x), Double(point.y - middle.y))
    let share = min(
      dx == 0 ? 1 : Double(box.width) / 2 / abs(dx), dy == 0 ? 1 : Double(box.height) / 2 / abs(dy))
    return (middle.x + Int(dx * share), middle.y + Int(dy * share))
  }

  /// A text element.
  ///
  /// Names are letters, digits and `_`, so nothing is escaped.
  private func text(_ text: String, _ x: Int, _ y: Int, _ style: String = "") -> String {
    "<text x=\"\(x)\" y=\"\(y)\"\(style.isEmpty ? "" : " " + style)>\(text)</text>"
  }
}

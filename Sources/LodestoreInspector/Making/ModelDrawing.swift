internal import EntityStore
internal import LodestoreFormat
internal import LodestoreRows

/// A model as a picture: a box for each entity, and a line for each relationship.
///
/// Related entities stand in columns, by the number of relationships between them and the entity
/// with most relationships. A line therefore leads to the next column, or stays at the right of its
/// own. A dot marks an end with many records.
struct ModelDrawing {
  private struct Box {
    let entity: String
    let rows: [String]
    var column = 0
    var x = 0.0
    var y = 0.0
    var width: Double
    let height: Double
    /// The number of lines that begin at the left and at the right side.
    var lineCounts = (left: 0, right: 0)

    /// The next free point of the right or left side.
    mutating func point(isRight: Bool) -> Drawing.Point {
      let count = isRight ? lineCounts.right : lineCounts.left
      if isRight { lineCounts.right += 1 } else { lineCounts.left += 1 }
      let height = min(18 + Double(count) * ModelDrawing.lineHeight, height - 6)
      return Drawing.Point(isRight ? x + width : x, y + height)
    }
  }

  fileprivate static let lineHeight = 19.0
  private static let margin = 30.0
  /// The distances between columns with lines, and between boxes.
  private static let (columnGap, gap) = (210.0, 56.0)
  /// The number of attributes of a box, and of boxes.
  private static let (mostRows, mostBoxes) = (10, 80)
  private static let widestBox = 300.0
  /// The width in which entities without relationships stand side by side.
  private static let rowWidth = 900.0

  private var drawing: Drawing
  private let table: Table

  var figure: Figure { Figure(drawing, table) }
  private var boxes: [Box] = []

  init(
    _ entities: [(entity: DynamicEntity, count: Int?)],
    _ relationships: [(entity: DynamicEntity, relationship: DynamicRelationship)]
  ) {
    let rows = entities.map { entity, count in
      Table.Row([
        Item(.text(entity.name), link: .schema(entity.name)),
        Item(count.map(Cell.count) ?? .null),
        Item(
          .text(entity.description.declaredAttributes.map(\.name).joined(separator: ", "))),
      ])
    }
    table = Table(
      [
        Table.Heading(Column("entity", title: "Entity")),
        Table.Heading(Column("records", title: "Records")),
        Table.Heading(Column("attributes", title: "Attributes")),
      ], rows)
    drawing = Drawing(
      title: "Model",
      summary: "\(NumberText.counted(entities.count, "entity", "entities")) and "
        + "\(NumberText.counted(relationships.count, "relationship")). A dot marks an end with "
        + "many records.", width: 0, height: 0)
    place(entities.map(\.entity), relationships)
    if entities.count > boxes.count { drawing.summary += " The first \(boxes.count) are drawn." }
    for (entity, relationship) in relationships {
      guard let from = boxes.firstIndex(where: { $0.entity == entity.name }),
        let to = boxes.firstIndex(where: { $0.entity == relationship.target.name })
      else { continue }
      addLine(from, to, relationship)
    }
    for box in boxes { drawing.shapes.append(Self.shape(box)) }
  }

  // MARK: Boxes

  private mutating func place(
    _ entities: [DynamicEntity],
    _ relationships: [(entity: DynamicEntity, relationship: DynamicRelationship)]
  ) {
    var neighbors: [String: [String]] = [:]
    for (entity, relationship) in relationships {
      neighbors[entity.name, default: []].append(relationship.target.name)
      neighbors[relationship.target.name, default: []].append(entity.name)
    }
    let byName = Dictionary(
      entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let mostRelatedFirst = entities.sorted {
      neighbors[$0.name]?.count ?? 0 > neighbors[$1.name]?.count ?? 0
    }
    var seen: Set<String> = []
    var y = Self.margin
    for start in mostRelatedFirst where neighbors[start.name] != nil {
      guard seen.insert(start.name).inserted else { continue }
      var (columns, column) = ([[DynamicEntity]](), [start])
      while !column.isEmpty {
        columns.append(column)
        column = column.flatMap { neighbors[$0.name] ?? [] }.compactMap { name in
          seen.insert(name).inserted ? byName[name] : nil
        }
      }
      y = add(columns, at: y)
    }
    addRows(entities.filter { neighbors[$0.name] == nil }, at: y)
  }

  /// Adds columns of boxes; returns the end of the longest one.
  private mutating func add(_ columns: [[DynamicEntity]], at top: Double) -> Double {
    var (x, bottom) = (Self.margin, top)
    for (number, column) in columns.enumerated() {
      var new = column.prefix(max(Self.mostBoxes - boxes.count, 0)).map(Self.box)
      let width = new.map(\.width).max() ?? 0
      var y = top
      for index in new.indices {
        new[index].column = number
        // Boxes of one width leave the space between columns to the lines.
        new[index].width = width
        new[index].x = x
        new[index].y = y
        y += new[index].height + Self.gap
      }
      boxes += new
      bottom = max(bottom, y)
      drawing.width = max(drawing.width, x + width + Self.columnGap / 2)
      x += width + Self.columnGap
    }
    drawing.height = max(drawing.height, bottom)
    return bottom
  }

  /// Adds boxes without lines side by side.
  private mutating func addRows(_ entities: [DynamicEntity], at top: Double) {
    var (x, y, tallest) = (Self.margin, top, 0.0)
    for var box in entities.prefix(max(Self.mostBoxes - boxes.count, 0)).map(Self.box) {
      if x > Self.margin, x + box.width > Self.rowWidth {
        x = Self.margin
        y += tallest + Self.margin
        tallest = 0
      }
      box.x = x
      box.y = y
      boxes.append(box)
      tallest = max(tallest, box.height)
      drawing.width = max(drawing.width, x + box.width + Self.margin)
      drawing.height = max(drawing.height, y + tallest + Self.margin)
      x += box.width + Self.margin
    }
  }

  private static func box(_ entity: DynamicEntity) -> Box {
    let attributes = entity.description.declaredAttributes
    var rows = attributes.prefix(mostRows).map { attribute in
      "\(attribute.name): \(RecordColumns.typeName(of: attribute, target: nil))"
    }
    if attributes.count > mostRows { rows.append("and \(attributes.count - mostRows) more") }
    let widest = ([entity.name] + rows).map { Drawing.width(of: $0) }.max() ?? 0
    return Box(
      entity: entity.name, rows: rows.map { Drawing.cut($0, to: widestBox - 24) },
      width: min(widest + 28, widestBox), height: Double(rows.count + 1) * lineHeight + 18)
  }

  private static func shape(_ box: Box) -> Drawing.Shape {
    var shapes: [Drawing.Shape] = [
      .box(x: box.x, y: box.y, width: box.width, height: box.height, .frame),
      .text(
        Drawing.cut(box.entity, to: box.width - 20),
        Drawing.Point(box.x + 12, box.y + 22), .heading),
    ]
    for (position, row) in box.rows.enumerated() {
      let y = box.y + 24 + Double(position + 1) * lineHeight
      shapes.append(.text(row, Drawing.Point(box.x + 12, y), .faint))
    }
    return .link(Drawing.Link(.schema(box.entity)), label: "Schema of \(box.entity)", shapes)
  }

  // MARK: Lines

  /// Adds the line from a box to one of the next or the former column, or to one of its own.
  private mutating func addLine(_ from: Int, _ to: Int, _ relationship: DynamicRelationship) {
    let difference = boxes[to].column - boxes[from].column
    let start = boxes[from].point(isRight: difference >= 0)
    let end = boxes[to].point(isRight: difference <= 0)
    // A line within a column bends into the space at its right.
    let bend = difference == 0 ? 48 : Self.columnGap / 2
    let (first, second) = (
      Drawing.Point(start.x + (difference >= 0 ? bend : -bend), start.y),
      Drawing.Point(end.x + (difference <= 0 ? bend : -bend), end.y)
    )
    drawing.shapes.append(.curve(start, first, second, end, .edge))
    if !relationship.isToOne { drawing.shapes.append(.dot(end, .edge)) }
    if !relationship.inverseIsToOne { drawing.shapes.append(.dot(start, .edge)) }
    let names = [relationship.name, relationship.inverseName].compactMap { $0 }
    let middle = Drawing.Point((first.x + second.x) / 2, (start.y + end.y) / 2 - 6)
    drawing.shapes.append(
      difference == 0
        ? .text(
          Drawing.cut(names.joined(separator: " / "), to: Self.columnGap - 60),
          Drawing.Point(max(start.x, end.x) + 40, middle.y + 10), .faint)
        : .text(
          Drawing.cut(names.joined(separator: " / "), to: Self.columnGap - 20), middle, .faint,
          .middle))
  }
}

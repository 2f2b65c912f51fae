internal import EntityStore
internal import LodestoreFormat
internal import LodestoreRows

extension PageReading {
  /// The page with the entities and their relationships as a diagram.
  func modelPage() throws -> Page {
    var page = Page(route: .model, title: "Model")
    page.trail = [Page.Crumb(text: "Model", route: .model)]
    let entities = snapshot.entities
    let relationships = entities.flatMap { entity in
      snapshot.relationships(of: entity).map { (entity: entity, relationship: $0) }
    }
    let model = ModelDrawing(
      entities.map { ($0, try? snapshot.count(of: $0)) },
      relationships.filter(Self.isFirstSide))
    var table = Table(
      [
        Table.Heading(Column("entity", title: "Entity")),
        Table.Heading(Column("relationship", title: "Relationship")),
        Table.Heading(Column("target", title: "Target")),
        Table.Heading(Column("records", title: "Records")),
        Table.Heading(Column("inverse", title: "Inverse")),
        Table.Heading(Column("onDelete", title: "On delete")),
      ],
      relationships.map { entity, relationship in
        Table.Row([
          Item(.text(entity.name), link: .schema(entity.name)),
          Item(.text(relationship.name ?? "")),
          Item(.text(relationship.target.name), link: .schema(relationship.target.name)),
          Item(.text(relationship.isToOne ? "one" : "many")),
          Item(relationship.inverseName.map(Cell.text) ?? .absent),
          Item(.text(relationship.onDelete.rawValue)),
        ])
      })
    table.isMain = true
    table.empty = "The model has no relationships."
    page.sections = [
      Section("model", .drawing(model.drawing)),
      Section("relationships", heading: "Relationships", .table(table)),
    ]
    return page
  }

  /// Whether the picture has the relationship from this side; both sides may have a name.
  private static func isFirstSide(
    _ end: (entity: DynamicEntity, relationship: DynamicRelationship)
  ) -> Bool {
    guard let inverse = end.relationship.inverseName else { return true }
    return (end.entity.name, end.relationship.name ?? "")
      <= (end.relationship.target.name, inverse)
  }
}

/// A model as a picture: a box for each entity, in rows, and a line for each relationship.
///
/// A dot marks an end with many records.
private struct ModelDrawing {
  private struct Box {
    let entity: String
    let rows: [String]
    var x = 0.0
    var y = 0.0
    let width: Double
    let height: Double

    var middle: Drawing.Point { Drawing.Point(x + width / 2, y + height / 2) }
  }

  private static let lineHeight = 19.0
  private static let gap = 88.0
  /// The number of attributes of a box, and of boxes.
  private static let (mostRows, mostBoxes) = (10, 80)
  private static let widestBox = 300.0

  private(set) var drawing: Drawing
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
    drawing = Drawing(
      title: "Model",
      summary: "\(NumberText.counted(entities.count, "entity", "entities")) and "
        + "\(NumberText.counted(relationships.count, "relationship")). A dot marks an end with "
        + "many records.", width: 0, height: 0,
      table: Table(
        [
          Table.Heading(Column("entity", title: "Entity")),
          Table.Heading(Column("records", title: "Records")),
          Table.Heading(Column("attributes", title: "Attributes")),
        ], rows))
    boxes = Self.ordered(entities.map(\.entity), relationships).prefix(Self.mostBoxes).map(Self.box)
    if entities.count > boxes.count { drawing.summary += " The first \(boxes.count) are drawn." }
    place()
    for (entity, relationship) in relationships {
      guard let from = boxes.first(where: { $0.entity == entity.name }),
        let to = boxes.first(where: { $0.entity == relationship.target.name })
      else { continue }
      drawing.shapes += Self.line(from, to, relationship)
    }
    for box in boxes { drawing.shapes.append(Self.shape(box)) }
  }

  /// The entities, with related ones next to each other.
  private static func ordered(
    _ entities: [DynamicEntity],
    _ relationships: [(entity: DynamicEntity, relationship: DynamicRelationship)]
  ) -> [DynamicEntity] {
    var neighbors: [String: [String]] = [:]
    for (entity, relationship) in relationships {
      neighbors[entity.name, default: []].append(relationship.target.name)
      neighbors[relationship.target.name, default: []].append(entity.name)
    }
    let byName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    var (ordered, seen): ([DynamicEntity], Set<String>) = ([], [])
    let mostRelatedFirst = entities.sorted {
      neighbors[$0.name]?.count ?? 0 > neighbors[$1.name]?.count ?? 0
    }
    for start in mostRelatedFirst {
      var waiting = [start.name]
      while !waiting.isEmpty {
        let name = waiting.removeFirst()
        guard let entity = byName[name], seen.insert(name).inserted else { continue }
        ordered.append(entity)
        waiting += neighbors[name] ?? []
      }
    }
    return ordered
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

  /// Places the boxes in about as many rows as columns.
  private mutating func place() {
    let columns = max(Int(Double(boxes.count).squareRoot().rounded(.up)), 1)
    var (x, y, tallest) = (44.0, 44.0, 0.0)
    for index in boxes.indices {
      if index > 0, index % columns == 0 {
        x = 44
        y += tallest + Self.gap
        tallest = 0
      }
      boxes[index].x = x
      boxes[index].y = y
      x += boxes[index].width + Self.gap
      tallest = max(tallest, boxes[index].height)
      drawing.width = max(drawing.width, x - Self.gap + 60)
      drawing.height = max(drawing.height, y + tallest + 30)
    }
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
    return .link(.schema(box.entity), label: "Schema of \(box.entity)", shapes)
  }

  /// The line between two boxes, or the arc over a box that is related to itself.
  private static func line(
    _ from: Box, _ to: Box, _ relationship: DynamicRelationship
  ) -> [Drawing.Shape] {
    let names = [relationship.name, relationship.inverseName].compactMap { $0 }
    let label = Drawing.cut(names.joined(separator: " / "), to: 190)
    if from.entity == to.entity {
      let (right, top) = (from.x + from.width, from.y)
      return [
        .curve(
          Drawing.Point(right - 34, top), Drawing.Point(right - 34, top - 44),
          Drawing.Point(right + 44, top + 12), Drawing.Point(right, top + 24), .edge),
        .text(label, Drawing.Point(right - 26, top - 18), .faint),
      ]
    }
    let start = border(of: from, towards: to.middle)
    let end = border(of: to, towards: from.middle)
    var shapes: [Drawing.Shape] = [.line([start, end], .edge)]
    if !relationship.isToOne { shapes.append(.dot(end, .edge)) }
    if !relationship.inverseIsToOne { shapes.append(.dot(start, .edge)) }
    shapes.append(
      .text(
        label, Drawing.Point((start.x + end.x) / 2, (start.y + end.y) / 2 - 6), .faint, .middle))
    return shapes
  }

  /// The point where the line from the middle of `box` to `point` leaves the box.
  private static func border(of box: Box, towards point: Drawing.Point) -> Drawing.Point {
    let middle = box.middle
    let (dx, dy) = (point.x - middle.x, point.y - middle.y)
    let share = min(
      dx == 0 ? 1 : box.width / 2 / abs(dx), dy == 0 ? 1 : box.height / 2 / abs(dy))
    return Drawing.Point(middle.x + dx * share, middle.y + dy * share)
  }
}

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
      Section("model", .drawing(model.figure)),
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

internal import EntityStore
internal import LodestoreFormat
internal import LodestoreRows

extension PageReading {
  /// The page with the attributes, relationships and rules of an entity.
  func schemaPage(_ entity: DynamicEntity) throws -> Page {
    var page = Page(route: .schema(entity.name), title: "\(entity.name): schema")
    page.trail = [
      Page.Crumb(text: entity.name, route: .entity(entity.name, Selection())),
      Page.Crumb(text: "schema", route: page.route),
    ]
    page.views = views(of: entity)
    let description = entity.description
    page.sections = [
      Section("attributes", heading: "Attributes", .table(attributes(of: entity)))
    ]
    let relationships = snapshot.relationships(of: entity)
    if !relationships.isEmpty {
      page.sections.append(
        Section(
          "relationships", heading: "Relationships", .table(Self.table(of: relationships))))
    }
    if !description.searchIndexes.isEmpty {
      page.sections.append(
        Section(
          "searchIndexes", heading: "Search indexes", .table(Self.searchIndexes(of: entity))))
    }
    page.sections += Self.proximityIndexes(of: entity)
    page.sections += description.buildingNames.map { name in
      let text = "The index \(name) is being built. Queries read the records until it is complete."
      return Section("notice", .notice(Notice(.note, text)))
    }
    if !description.rules.isEmpty {
      let rows = description.rules.map {
        Table.Row([Item(.text($0.name)), Item(.text($0.condition))])
      }
      let headings = [
        Table.Heading(Column("rule", title: "Rule")),
        Table.Heading(Column("condition", title: "Condition")),
      ]
      page.sections.append(Section("rules", heading: "Rules", .table(Table(headings, rows))))
    }
    page.sections.append(
      Section(
        "policies", heading: "Policies",
        .facts([
          Fact("history", "History", entity.historyText.map(Cell.text) ?? .text("off")),
          Fact("expires", "Expires", description.expiryText.map(Cell.text) ?? .null),
          Fact("limit", "Limit", description.limitText.map(Cell.text) ?? .null),
          Fact("layouts", "Layouts", .count(description.layouts.count)),
        ])))
    return page
  }

  private func attributes(of entity: DynamicEntity) -> Table {
    let description = entity.description
    let relationships = snapshot.relationships(of: entity).filter(\.isToOne)
    let derivations = snapshot.derivations(of: entity)
    let rows = description.declaredAttributes.map { attribute in
      let target = relationships.first { $0.name == attribute.name }?.target.name
      let indexes = entity.indexNames(of: attribute).joined(separator: ", ")
      let derived = derivations.first { $0.attribute == attribute.name }?.text
      let initial = attribute.defaultValue
      return Table.Row([
        Item(.text(attribute.name)),
        Item(
          .text(RecordColumns.typeName(of: attribute, target: target)),
          link: target.map { .schema($0) }),
        Item(initial == .null ? .absent : ((try? Cell(initial)) ?? .absent)),
        Item(attribute.constraints.text.map(Cell.text) ?? .absent),
        Item(indexes.isEmpty ? .absent : .text(indexes)),
        Item(derived.map(Cell.text) ?? .absent),
        Item(attribute.source.map(Cell.text) ?? .absent), Item(.unsigned(UInt64(attribute.number))),
      ])
    }
    let columns: [Column] = [
      Column("attribute", title: "Attribute"), Column("type", title: "Type"),
      Column("initial", title: "Initial", alignment: .leading),
      Column("constraints", title: "Constraints"), Column("indexes", title: "Indexes"),
      Column("derived", title: "Derived"), Column("member", title: "Member"),
      Column("number", title: "Number"),
    ]
    var table = Table(columns.map { Table.Heading($0) }, rows)
    table.isMain = true
    table.empty = "The entity has no attributes."
    return table
  }

  private static func searchIndexes(of entity: DynamicEntity) -> Table {
    let description = entity.description
    let rows = description.searchIndexes.flatMap { index in
      let name = description.indexName(index)
      return index.sources.map { source in
        Table.Row([
          Item(.text(name), link: .index(entity.name, name, Selection())),
          Item(.text(description.name(of: source))), Item(.unsigned(UInt64(source.weight))),
        ])
      }
    }
    return Table(
      [
        Table.Heading(Column("index", title: "Index")),
        Table.Heading(Column("text", title: "Text")),
        Table.Heading(Column("weight", title: "Weight")),
      ], rows)
  }

  /// The sections with the place indexes and the vector indexes, if there are any.
  private static func proximityIndexes(of entity: DynamicEntity) -> [Section] {
    let description = entity.description
    func item(_ index: EntityDescription.ComputedIndex) -> Item {
      let name = description.indexName(index)
      return Item(.text(name), link: .index(entity.name, name, Selection()))
    }
    let places = description.placeIndexes.map { index in
      Table.Row([item(index)] + description.sourceNames(index).map { Item(.text($0)) })
    }
    let vectors = description.vectorIndexes.map { index in
      Table.Row(
        [item(index)] + description.sourceNames(index).map { Item(.text($0)) }
          + [Item(.count(index.dimensions))])
    }
    func section(
      _ name: String, _ heading: String, _ columns: [Column], _ rows: [Table.Row]
    ) -> [Section] {
      let index = Column("index", title: "Index")
      let table = Table(([index] + columns).map { Table.Heading($0) }, rows)
      return rows.isEmpty ? [] : [Section(name, heading: heading, .table(table))]
    }
    return section(
      "placeIndexes", "Place indexes",
      [Column("latitude", title: "Latitude"), Column("longitude", title: "Longitude")], places)
      + section(
        "vectorIndexes", "Vector indexes",
        [Column("attribute", title: "Attribute"), Column("dimensions", title: "Dimensions")],
        vectors)
  }

  private static func table(of relationships: [DynamicRelationship]) -> Table {
    let rows = relationships.map { relationship in
      Table.Row([
        Item(.text(relationship.name ?? "")),
        Item(.text(relationship.target.name), link: .schema(relationship.target.name)),
        Item(
          .text(relationship.isToOne ? "one" : relationship.isOrdered ? "many, ordered" : "many")),
        Item(relationship.inverseName.map(Cell.text) ?? .absent),
        Item(.text(relationship.onDelete.rawValue)),
      ])
    }
    return Table(
      [
        Table.Heading(Column("relationship", title: "Relationship")),
        Table.Heading(Column("target", title: "Target")),
        Table.Heading(Column("records", title: "Records")),
        Table.Heading(Column("inverse", title: "Inverse")),
        Table.Heading(Column("onDelete", title: "On delete")),
      ], rows)
  }
}

import EntityStore
import LodestoreFormat

/// The schema as rows: one object for each entity for programs, one row for each attribute for
/// people.
enum SchemaRows {
  static let entityColumns: [Column] = [
    "entity", "attributes", "indexes", "elementIndexes", "searchIndexes", "placeIndexes",
    "vectorIndexes", "relationships", "rules", "history", "expires", "limit",
  ]

  static let attributeColumns =
    [
      "entity", "number", "attribute", "type", "optional", "shape", "initial", "constraints",
      "indexes",
    ].map(Column.capital) + [Column("source", title: "MEMBER")]

  /// An entity in the form that `import --schema` reads.
  static func entity(_ entity: DynamicEntity, _ snapshot: DynamicSnapshot) throws -> [Cell] {
    let description = entity.description
    let derivations = snapshot.derivations(of: entity)
    let attributes = try description.declaredAttributes.map { attribute in
      let constraints = attribute.constraints
      let derived = derivations.first { $0.attribute == attribute.name }
      return Cell.object([
        ("number", .unsigned(UInt64(attribute.number))), ("name", .text(attribute.name)),
        ("source", attribute.source.map(Cell.text) ?? .absent),
        ("type", .text(attribute.type.name)), ("optional", .bool(attribute.isOptional)),
        ("shape", attribute.shape.map(Cell.text) ?? .absent),
        ("initial", try exact(attribute.defaultValue)), ("minimum", try exact(constraints.minimum)),
        ("maximum", try exact(constraints.maximum)),
        ("minLength", constraints.minLength.map { .integer(Int64($0)) } ?? .absent),
        ("maxLength", constraints.maxLength.map { .integer(Int64($0)) } ?? .absent),
        ("pattern", constraints.pattern.map(Cell.text) ?? .absent),
        ("derived", derived.map { .text($0.text) } ?? .absent),
      ])
    }
    let indexes = entity.indexes.map { index in
      Cell.object([
        ("number", .unsigned(UInt64(index.description.number))),
        ("attributes", names(index.description.attributes, description)),
        ("unique", .bool(index.isUnique)),
      ])
    }
    /// The attribute and the path of a source.
    func members(_ source: EntityDescription.ComputedIndex.Source) -> [(String, Cell)] {
      let attribute = description.attribute(number: source.attribute)?.name ?? ""
      return [
        ("attribute", .text(attribute)), ("path", .array(source.path.map(Cell.text))),
      ]
    }
    func computed(
      _ indexes: [EntityDescription.ComputedIndex],
      _ object: (EntityDescription.ComputedIndex) -> [(String, Cell)]
    ) -> Cell { .array(indexes.map { .object(object($0)) }) }
    let elementIndexes = computed(description.elementIndexes) { $0.sources.flatMap(members) }
    let searchIndexes = computed(description.searchIndexes) { index in
      let sources = index.sources.map { source in
        Cell.object(members(source) + [("weight", .unsigned(UInt64(source.weight)))])
      }
      return [("sources", .array(sources))]
    }
    let placeIndexes = computed(description.placeIndexes) { index in
      [
        ("sources", .array(index.sources.map { .object(members($0)) })),
        ("admitsInvalid", .bool(index.admitsInvalid)),
      ]
    }
    let vectorIndexes = computed(description.vectorIndexes) { index in
      index.sources.flatMap { members($0).prefix(1) } + [("dimensions", .count(index.dimensions))]
    }
    let rules = description.rules.map {
      Cell.object([("name", .text($0.name)), ("condition", .text($0.condition))])
    }
    return [
      .text(entity.name), .array(attributes), .array(indexes), elementIndexes, searchIndexes,
      placeIndexes, vectorIndexes,
      .array(snapshot.relationships(of: entity).map(RelationshipRows.object)), .array(rules),
      history(description), description.expiryText.map(Cell.text) ?? .absent, limit(description),
    ]
  }

  private static func limit(_ entity: EntityDescription) -> Cell {
    guard let limit = entity.limit else { return .absent }
    let name = limit.attribute.flatMap { entity.attribute(number: $0)?.name }
    return .object([
      ("count", limit.count.map { .integer(Int64($0)) } ?? .absent),
      ("bytes", limit.byteCount.map { .integer(Int64($0)) } ?? .absent),
      ("by", name.map(Cell.text) ?? .absent),
    ])
  }

  private static func history(_ entity: EntityDescription) -> Cell {
    guard let history = entity.history else { return .absent }
    return .object([
      ("images", .bool(history.keepsImages)), ("preserved", names(history.preserved, entity)),
    ])
  }

  static func attributes(_ entity: DynamicEntity) throws -> [[Cell]] {
    try entity.description.declaredAttributes.map { attribute in
      let names = entity.indexNames(of: attribute)
      return [
        .text(entity.name), .unsigned(UInt64(attribute.number)), .text(attribute.name),
        .text(attribute.type.name), .bool(attribute.isOptional),
        attribute.shape.map(Cell.text) ?? .absent,
        try optional(attribute.defaultValue), attribute.constraints.text.map(Cell.text) ?? .absent,
        names.isEmpty ? .absent : .text(names.joined(separator: ", ")),
        attribute.source.map(Cell.text) ?? .absent,
      ]
    }
  }

  /// The value in a form from which `import --schema` reads an equal value.
  private static func exact(_ value: Value) throws -> Cell {
    value == .null ? .absent : try Cell(exactly: value)
  }

  private static func optional(_ value: Value) throws -> Cell {
    value == .null ? .absent : try Cell(value)
  }

  private static func names(_ numbers: [UInt32], _ entity: EntityDescription) -> Cell {
    .array(numbers.compactMap { entity.attribute(number: $0).map { .text($0.name) } })
  }
}

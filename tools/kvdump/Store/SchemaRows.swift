import EntityStore
import LodestoreFormat

/// The schema as rows: an object an entity for programs, a row an attribute for people.
enum SchemaRows {
  static let entityColumns = [Column("entity"), Column("attributes"), Column("indexes")]

  static let attributeColumns = [
    Column("entity", title: "ENTITY"), Column("number", title: "NUMBER"),
    Column("attribute", title: "ATTRIBUTE"), Column("type", title: "TYPE"),
    Column("optional", title: "OPTIONAL"), Column("shape", title: "SHAPE"),
    Column("initial", title: "INITIAL"), Column("indexes", title: "INDEXES"),
  ]

  /// An entity as `import --schema` reads it.
  static func entity(_ entity: StoredEntity) throws -> [Cell] {
    let attributes = try entity.description.declaredAttributes.map { attribute in
      Cell.json(
        JSONText.object([
          ("number", .unsigned(UInt64(attribute.number))), ("name", .text(attribute.name)),
          ("type", .text(attribute.type.name)), ("optional", .bool(attribute.isOptional)),
          ("shape", attribute.shape.map(Cell.text) ?? .absent),
          ("initial", attribute.initial == .null ? .absent : try Cell(attribute.initial)),
        ]))
    }
    let indexes = entity.indexes.map { index in
      Cell.json(
        JSONText.object([
          ("number", .unsigned(UInt64(index.description.number))),
          ("attributes", .json(JSONText.array(names(index, entity).map(Cell.text)))),
          ("unique", .bool(index.isUnique)),
        ]))
    }
    return [
      .text(entity.name), .json(JSONText.array(attributes)), .json(JSONText.array(indexes)),
    ]
  }

  static func attributes(_ entity: StoredEntity) throws -> [[Cell]] {
    try entity.description.declaredAttributes.map { attribute in
      let indexes = entity.indexes.filter {
        $0.description.attributes.contains(attribute.number)
      }
      let names = indexes.map { entity.shortName($0) + ($0.isUnique ? " (unique)" : "") }
      return [
        .text(entity.name), .unsigned(UInt64(attribute.number)), .text(attribute.name),
        .text(attribute.type.name), .bool(attribute.isOptional),
        attribute.shape.map(Cell.text) ?? .absent,
        attribute.initial == .null ? .absent : try Cell(attribute.initial),
        names.isEmpty ? .absent : .text(names.joined(separator: ", ")),
      ]
    }
  }

  private static func names(_ index: StoredIndex, _ entity: StoredEntity) -> [String] {
    index.description.attributes.compactMap { entity.description.attribute(number: $0)?.name }
  }
}

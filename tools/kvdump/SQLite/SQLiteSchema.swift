import EntityStore
import LodestoreFormat

/// The tables of a SQLite database that hold the content of a store.
///
/// The tables follow from the descriptions of the store's entities and relationships alone. So an
/// import finds the tables again from the descriptions in ``descriptions``.
struct SQLiteSchema {
  /// The table with the descriptions of the entities and relationships.
  static let descriptions = "lodestore_schema"
  /// The table with the values that have no equal in SQLite.
  static let exactValues = "lodestore_exact"
  /// The version of the tables, for later versions of kvdump.
  static let version: Int64 = 1

  /// The table of an entity.
  struct Table {
    let entity: EntityDescription
    let name: String
    /// The columns of the entity's attributes.
    let columns: [String]
  }

  /// The table of a relationship, for links that no attribute holds and for orders.
  struct LinkTable {
    let relationship: RelationshipDescription
    let name: String

    /// The columns: the ids of both sides, and the positions of ordered sides.
    var columns: [String] {
      ["from_id", "to_id"]
        + (relationship.from.isOrdered ? ["from_position"] : [])
        + (relationship.to.isOrdered ? ["to_position"] : [])
    }
  }

  private(set) var tables: [Table] = []
  private(set) var linkTables: [LinkTable] = []
  /// Notes about names that differ from the store's names.
  private(set) var notes: [String] = []
  private let relationships: [RelationshipDescription]
  private var names: SQLiteNames

  init(_ entities: [EntityDescription], _ relationships: [RelationshipDescription]) {
    self.relationships = relationships
    names = SQLiteNames(taken: [Self.descriptions, Self.exactValues])
    for entity in entities {
      let name = names.add(entity.name)
      if name != entity.name { notes.append("entity \(entity.name) is table \"\(name)\"") }
      var columns = SQLiteNames(taken: [EntityDescription.nameOfID])
      let attributes = entity.declaredAttributes.map(\.name)
      let own = attributes.map { columns.add($0) }
      for (attribute, column) in zip(attributes, own) where attribute != column {
        notes.append("\(entity.name).\(attribute) is column \"\(column)\"")
      }
      tables.append(Table(entity: entity, name: name, columns: own))
    }
    for relationship in relationships
    where relationship.attribute == nil || relationship.to.isOrdered {
      let side: RelationshipSide =
        relationship.attribute == nil && relationship.from.name != nil ? .from : .to
      let owner = table(of: relationship[side].entity)?.name ?? ""
      linkTables.append(
        LinkTable(
          relationship: relationship,
          name: names.add("\(owner)_\(relationship[side].name ?? "links")")))
    }
  }

  func table(of entity: EntityNumber) -> Table? { tables.first { $0.entity.number == entity } }

  // MARK: Statements

  func create(_ table: Table, isStrict: Bool) -> String {
    let held = relationships.filter { $0.from.entity == table.entity.number }
    let columns = zip(table.entity.declaredAttributes, table.columns).map { attribute, name in
      let quoted = SQLiteDatabase.quoted(name)
      var text = "\(quoted) \(SQLiteValue.columnType(attribute.type, isStrict: isStrict))"
      // A NaN is NULL in the table.
      let mayBeNaN = attribute.type == .float || attribute.type == .double
      if !attribute.isOptional, !mayBeNaN { text += " NOT NULL" }
      if attribute.type == .bool { text += " CHECK (\(quoted) IN (0, 1))" }
      if let relationship = held.first(where: { $0.attribute == attribute.number }) {
        text += reference(to: relationship.to, isOptional: attribute.isOptional)
      }
      return text
    }
    let id = "\(SQLiteDatabase.quoted(EntityDescription.nameOfID)) INTEGER PRIMARY KEY"
    return "CREATE TABLE \(SQLiteDatabase.quoted(table.name)) (\n  "
      + ([id] + columns).joined(separator: ",\n  ") + "\n)\(isStrict ? " STRICT" : "")"
  }

  func create(_ table: LinkTable, isStrict: Bool) -> String {
    func target(_ side: RelationshipSide) -> String {
      SQLiteDatabase.quoted(self.table(of: table.relationship[side].entity)?.name ?? "")
    }
    let id = SQLiteDatabase.quoted(EntityDescription.nameOfID)
    let columns = table.columns.map { name in
      switch name {
      case "from_id":
        "\(name) INTEGER NOT NULL REFERENCES \(target(.from)) (\(id)) ON DELETE CASCADE"
      case "to_id": "\(name) INTEGER NOT NULL REFERENCES \(target(.to)) (\(id)) ON DELETE CASCADE"
      default: "\(name) INTEGER"
      }
    }
    return "CREATE TABLE \(SQLiteDatabase.quoted(table.name)) (\n  "
      + columns.joined(separator: ",\n  ") + ",\n  PRIMARY KEY (from_id, to_id)\n) WITHOUT ROWID"
      + (isStrict ? ", STRICT" : "")
  }

  private func reference(to side: RelationshipDescription.Side, isOptional: Bool) -> String {
    let target = SQLiteDatabase.quoted(table(of: side.entity)?.name ?? "")
    let rule =
      switch side.onDelete {
      case .cascade: " ON DELETE CASCADE"
      case .nullify: isOptional ? " ON DELETE SET NULL" : ""
      case .deny: " ON DELETE RESTRICT"
      case .noAction: ""
      }
    return " REFERENCES \(target) (\(SQLiteDatabase.quoted(EntityDescription.nameOfID)))\(rule)"
  }

  /// The statements for the indexes of a table, with the attributes of each.
  mutating func indexes(of table: Table) -> [(sql: String, plainSQL: String, name: String)] {
    let names = Dictionary(
      zip(table.entity.declaredAttributes.map(\.number), table.columns),
      uniquingKeysWith: { first, _ in first })
    return table.entity.indexes.map { index in
      let columns = index.attributes.compactMap { names[$0] }
      let name = self.names.add("idx_\(table.name)_\(columns.joined(separator: "_"))")
      let rest =
        "INDEX \(SQLiteDatabase.quoted(name)) ON \(SQLiteDatabase.quoted(table.name)) ("
        + columns.map(SQLiteDatabase.quoted).joined(separator: ", ") + ")"
      return (
        "CREATE \(index.isUnique ? "UNIQUE " : "")\(rest)", "CREATE \(rest)",
        "\(table.entity.name).\(columns.joined(separator: "+"))"
      )
    }
  }

  // MARK: Relationships

  /// The descriptions of the relationships of a store.
  static func relationships(of snapshot: DynamicSnapshot) -> [RelationshipDescription] {
    var found: [UInt32: RelationshipDescription] = [:]
    for entity in snapshot.entities {
      for end in snapshot.relationships(of: entity) {
        let side = RelationshipDescription.Side(
          entity: entity.description.number, name: end.isToOne ? nil : end.name,
          onDelete: end.onDelete, denyCondition: end.denyCondition, isOrdered: end.isOrdered)
        let other = RelationshipDescription.Side(entity: end.target.description.number)
        var relationship =
          found[end.number]
          ?? RelationshipDescription(
            number: end.number, from: end.isFirst ? side : other, to: end.isFirst ? other : side)
        relationship[end.isFirst ? .from : .to] = side
        if end.isToOne, let name = end.name {
          relationship.attribute = entity.description.attribute(named: name)?.number
        }
        found[end.number] = relationship
      }
    }
    return found.values.sorted { $0.number < $1.number }
  }
}

/// Names that differ in more than the case of letters, as SQLite requires.
struct SQLiteNames {
  private var taken: Set<String>

  init(taken: [String]) { self.taken = Set(taken.map { $0.lowercased() }) }

  /// Returns the name, or the first free one that begins with it.
  mutating func add(_ name: String) -> String {
    // SQLite reserves names that begin so.
    let name = name.lowercased().hasPrefix("sqlite_") ? "_" + name : name
    var free = name
    var number = 2
    while !taken.insert(free.lowercased()).inserted {
      free = "\(name)_\(number)"
      number += 1
    }
    return free
  }
}

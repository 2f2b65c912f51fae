import EntityStore
import LodestoreFormat

/// Reads a database of any program as a store: tables as entities, columns as attributes, and
/// foreign keys as relationships.
final class SQLiteTableReader {
  private let database: SQLiteDatabase
  private var tables: [SQLiteTable] = []
  private var names: [String: String] = [:]
  private var plan = SQLiteImport.Plan()
  /// The names of attributes and relationships of each table's entity.
  private var memberNames: [String: Set<String>] = [:]
  /// The relationships whose inverse has no name yet.
  private var unnamed: [(relationship: Int, child: String, column: String)] = []

  init(_ database: SQLiteDatabase) { self.database = database }

  func read() throws -> SQLiteImport.Plan {
    tables = try Self.tables(of: database, notes: &plan.notes).map {
      try SQLiteTable($0, in: database)
    }
    guard !tables.isEmpty else {
      throw CommandFailure.badSQLiteRow(
        database.title, "sqlite_master", nil, reason: "has no table")
    }
    names = AttributeNames.distinct(tables.map(\.name))
    for (position, table) in tables.enumerated() {
      plan.sources.append(try source(table, number: UInt32(position + 1)))
    }
    nameInverses()
    return plan
  }

  /// The names of the ordinary tables, in the order of their creation.
  ///
  /// Adds a note for everything else.
  static func tables(of database: SQLiteDatabase, notes: inout [String]) throws -> [String] {
    let rows = try database.rows(
      "SELECT type, name, sql FROM sqlite_master WHERE type IN ('table', 'view', 'trigger') "
        + "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid")
    var names: [String] = []
    var virtual: [String] = []
    for row in rows {
      guard case .text(let type) = row[0], case .text(let name) = row[1] else { continue }
      let sql = if case .text(let sql) = row[2] { sql.uppercased() } else { "" }
      if type != "table" {
        notes.append("\(type) \"\(name)\" is left out")
      } else if sql.hasPrefix("CREATE VIRTUAL") {
        notes.append("virtual table \"\(name)\" is left out")
        virtual.append(name)
      } else {
        names.append(name)
      }
    }
    // The tables in which virtual tables keep their content have names of this form.
    return names.filter { name in !virtual.contains { name.hasPrefix($0 + "_") } }
  }

  // MARK: Tables

  /// A column of a table, or a foreign key of several columns, with the attribute that it becomes.
  private struct Member {
    let attribute: EntityDescription.Attribute
    /// The chosen type of the values; `nil` for mixed values, and for ids of related records.
    let type: AttributeType?
    let sql: String
    let reference: Reference?
  }

  private func source(_ table: SQLiteTable, number: UInt32) throws -> SQLiteImport.Source {
    let name = names[table.name] ?? table.name
    if name != table.name { plan.notes.append("table \"\(table.name)\" is entity \(name)") }
    let references = try references(of: table)
    let members = try members(of: table, name, references)
    guard members.count <= 1_000 else {
      throw CommandFailure.badSQLiteRow(
        database.title, table.name, nil,
        reason: "has \(members.count) columns and keys, and an entity has at most 1,000 attributes")
    }
    memberNames[table.name] = Set(members.map(\.attribute.name))
    let layout = RecordLayout(
      number: 1,
      attributes: members.map {
        .init(
          number: $0.attribute.number, type: $0.attribute.type, isOptional: $0.attribute.isOptional)
      })
    var entity = EntityDescription(
      number: EntityNumber(number), name: name, attributes: members.map(\.attribute),
      layouts: [layout], currentLayout: 1, indexes: [])
    entity.indexes = indexes(of: table, entity, members)
    for member in members {
      guard let reference = member.reference else { continue }
      addRelationship(reference, of: entity, member.attribute)
    }
    return source(table, entity, members)
  }

  private func source(
    _ table: SQLiteTable, _ entity: EntityDescription, _ members: [Member]
  ) -> SQLiteImport.Source {
    let id = table.hasUsableRowIDs ? table.rowID : nil
    let columns = [id ?? "0"] + members.map(\.sql)
    let title = database.title
    var last: UInt64 = 0
    return SQLiteImport.Source(
      entity: entity, table: table.name,
      sql: "SELECT \(columns.joined(separator: ", ")) FROM \(table.quoted) AS t"
        + (id.map { " ORDER BY \($0)" } ?? "")
    ) { statement in
      if case .integer(let row) = statement.value(0), row > 0 {
        last = UInt64(row)
      } else {
        last += 1
      }
      let values = try members.enumerated().map { position, member in
        let value = statement.value(position + 1)
        let read =
          member.reference != nil
          ? Value(value, as: .recordID) : SQLiteColumnSurvey.value(value, as: member.type)
        guard let read else {
          throw CommandFailure.badSQLiteValue(
            value, of: member.attribute.name, Int64(last), table: table.name, path: title,
            expectation: member.attribute.type.expectation)
        }
        return read
      }
      return (last, values)
    }
  }

  private func members(
    of table: SQLiteTable, _ entity: String, _ references: [Reference]
  ) throws -> [Member] {
    var surveys = table.columns.map { SQLiteColumnSurvey(declared: $0.declared) }
    let list = table.columns.map { SQLiteDatabase.quoted($0.name) }
    let statement = try database.prepare(
      "SELECT \(list.joined(separator: ", ")) FROM \(table.quoted)")
    while try statement.step() {
      for position in surveys.indices { surveys[position].add(statement.value(position)) }
    }
    let compound = references.filter { $0.columns.count > 1 }
    var free = SQLiteNames(taken: table.columns.map(\.name))
    let added = compound.map { free.add(tables[$0.parent].name) }
    let own = AttributeNames.distinct(table.columns.map(\.name) + added)
    var members = table.columns.enumerated().map { position, column in
      let survey = surveys[position]
      let name = own[column.name] ?? column.name
      let reference = references.first { $0.columns == [column.name] }
      if reference == nil {
        if survey.type == nil {
          plan.notes.append("\(entity).\(name): mixed values are json: \(survey.words)")
        }
        if survey.badTextCount > 0 {
          plan.notes.append(
            "\(entity).\(name): texts that are not UTF-8, whose other bytes became U+FFFD: "
              + NumberText.grouped(survey.badTextCount))
        }
      }
      if name != column.name {
        plan.notes.append("\(entity): column \"\(column.name)\" is attribute '\(name)'")
      }
      let isLong = column.name.utf8.count > EntityDescription.longestSource
      let isRequired = !survey.hasNull && (column.isNotNull || table.idColumn == column.name)
      return Member(
        attribute: EntityDescription.Attribute(
          number: UInt32(position + 1), name: name,
          source: name == column.name || isLong ? nil : column.name,
          type: reference == nil ? survey.type ?? .json : .recordID, isOptional: !isRequired),
        type: survey.type,
        sql: reference?.sql ?? "t.\(list[position])", reference: reference)
    }
    for (reference, key) in zip(compound, added) {
      let parts = reference.columns.compactMap { name in
        table.columns.firstIndex { $0.name == name }
      }
      let isRequired = parts.allSatisfy { table.columns[$0].isNotNull && !surveys[$0].hasNull }
      let name = own[key] ?? key
      plan.notes.append(
        "\(entity): the foreign key over \(reference.columns.joined(separator: ", ")) is attribute "
          + "'\(name)'")
      members.append(
        Member(
          attribute: EntityDescription.Attribute(
            number: UInt32(members.count + 1), name: name, type: .recordID,
            isOptional: !isRequired),
          type: nil, sql: reference.sql, reference: reference))
    }
    return members
  }

  private func indexes(
    of table: SQLiteTable, _ entity: EntityDescription, _ members: [Member]
  ) -> [EntityDescription.Index] {
    var wanted: [(attributes: [EntityDescription.Attribute], isUnique: Bool)] = []
    func add(_ columns: [String], isUnique: Bool) {
      let attributes = columns.compactMap { name in
        table.columns.firstIndex { $0.name == name }.map { entity.attributes[$0] }
      }
      wanted.append((attributes, isUnique))
    }
    if let id = table.idColumn { add([id], isUnique: true) }
    for index in table.indexes.sorted(by: { $0.isUnique && !$1.isUnique }) {
      if index.isOther {
        plan.notes.append(
          "\(entity.name): index \"\(index.name)\" has an expression or a condition, "
            + "and is left out")
        continue
      }
      if index.isUnique, index.hasCollation {
        plan.notes.append(
          "\(entity.name): index \"\(index.name)\" has a collation; its key compares whole texts")
      }
      add(index.columns, isUnique: index.isUnique)
    }
    wanted += members.filter { $0.reference != nil }.map { ([$0.attribute], false) }
    var indexes: [EntityDescription.Index] = []
    for (attributes, isUnique) in wanted {
      let numbers = attributes.map(\.number)
      guard Set(numbers).count == numbers.count,
        !indexes.contains(where: { $0.attributes == numbers })
      else { continue }
      if indexes.count == 64 || attributes.contains(where: { !$0.type.isIndexable }) {
        plan.notes.append(
          "\(entity.name): the index over \(attributes.map(\.name).joined(separator: ", ")) is "
            + "left out, because "
            + (indexes.count == 64 ? "an entity has at most 64" : "json values have no order"))
        continue
      }
      indexes.append(
        EntityDescription.Index(
          number: UInt32(indexes.count + 1), attributes: numbers, isUnique: isUnique))
    }
    return indexes
  }

  // MARK: Foreign keys

  /// A foreign key that becomes a relationship.
  private struct Reference {
    /// The columns by their names in the table.
    let columns: [String]
    let onDelete: String
    let parent: Int
    /// The id of the related record, by a search in the parent's key.
    let sql: String
  }

  /// The foreign keys that become relationships; adds a note for each other one.
  ///
  /// The attribute of a key of one column takes the place of the column. A key of several columns
  /// gets an attribute of its own, and its columns keep their values.
  private func references(of table: SQLiteTable) throws -> [Reference] {
    var found: [Reference] = []
    for key in table.foreignKeys {
      let columns = key.columns.compactMap { table.column(named: $0)?.name }
      guard !columns.isEmpty, columns.count == key.columns.count else { continue }
      func leaveOut(_ reason: String) {
        let values = columns.count == 1 ? "stays a plain value" : "stays plain values"
        plan.notes.append(
          "\(table.name).\(columns.joined(separator: "+")): the foreign key to \(key.parent) "
            + "\(values), because \(reason)")
      }
      if found.contains(where: { $0.columns == columns }) {
        leaveOut("the column has another one")
        continue
      }
      let named = tables.firstIndex { $0.name.lowercased() == key.parent.lowercased() }
      guard let parent = named else {
        leaveOut("there is no such table")
        continue
      }
      let target = tables[parent]
      let wanted = (key.parentColumns ?? target.primaryKey).compactMap {
        target.column(named: $0)?.name
      }
      guard wanted.count == columns.count, target.isKey(wanted) else {
        leaveOut("it does not lead to a unique key")
        continue
      }
      guard target.hasUsableRowIDs, let rowID = target.rowID else {
        leaveOut("the rows there have no numbers from 1 on")
        continue
      }
      let own = columns.map { "t.\(SQLiteDatabase.quoted($0))" }
      let equal = zip(wanted, own).map { "p.\(SQLiteDatabase.quoted($0)) = \($1)" }
      let sql =
        "(SELECT p.\(rowID) FROM \(target.quoted) AS p WHERE \(equal.joined(separator: " AND ")))"
      let given = own.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
      let dangling = try database.rows(
        "SELECT count(*) FROM \(table.quoted) AS t WHERE \(given) AND \(sql) IS NULL")
      if case .integer(let count) = dangling[0][0], count > 0 {
        leaveOut("values lead to no row: \(NumberText.grouped(Int(count)))")
        continue
      }
      found.append(Reference(columns: columns, onDelete: key.onDelete, parent: parent, sql: sql))
    }
    return found
  }

  private func addRelationship(
    _ reference: Reference, of entity: EntityDescription,
    _ attribute: EntityDescription.Attribute
  ) {
    let onDelete: DeleteRule =
      switch reference.onDelete {
      case "CASCADE": .cascade
      case "SET NULL" where attribute.isOptional: .nullify
      default: .deny
      }
    unnamed.append((plan.relationships.count, entity.name, attribute.name))
    plan.relationships.append(
      RelationshipDescription(
        number: UInt32(plan.relationships.count + 1), from: .init(entity: entity.number),
        to: .init(entity: EntityNumber(UInt32(reference.parent + 1)), onDelete: onDelete),
        attribute: attribute.number))
  }

  /// Names the inverse of each relationship by the entity of the related records.
  private func nameInverses() {
    for (position, child, column) in unnamed {
      let parent = tables[Int(plan.relationships[position].to.entity.rawValue) - 1].name
      let name = [child, "\(child)_\(column)"].first { name in
        EntityDescription.isValidAttributeName(name)
          && memberNames[parent]?.contains(name) == false
      }
      guard let name else { continue }
      memberNames[parent]?.insert(name)
      plan.relationships[position].to.name = name
    }
  }
}

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

  /// A column of a table with the attribute that it becomes.
  private struct Member {
    let attribute: EntityDescription.Attribute
    /// The chosen type of the values; `nil` for mixed values, and for ids of related records.
    let type: AttributeType?
    let sql: String
    let isReference: Bool
  }

  private func source(_ table: SQLiteTable, number: UInt32) throws -> SQLiteImport.Source {
    let name = names[table.name] ?? table.name
    if name != table.name { plan.notes.append("table \"\(table.name)\" is entity \(name)") }
    guard table.columns.count <= 1_000 else {
      throw CommandFailure.badSQLiteRow(
        database.title, table.name, nil,
        reason: "has \(table.columns.count) columns, and an entity has at most 1,000")
    }
    let references = try references(of: table)
    let members = try members(of: table, name, references)
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
    entity.indexes = indexes(of: table, entity, references)
    for (position, column) in table.columns.enumerated() {
      guard let reference = references[column.name] else { continue }
      addRelationship(reference, of: entity, members[position].attribute, table)
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
          member.isReference
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
    of table: SQLiteTable, _ entity: String, _ references: [String: Reference]
  ) throws -> [Member] {
    var surveys = table.columns.map { SQLiteColumnSurvey(declared: $0.declared) }
    let list = table.columns.map { SQLiteDatabase.quoted($0.name) }
    let statement = try database.prepare(
      "SELECT \(list.joined(separator: ", ")) FROM \(table.quoted)")
    while try statement.step() {
      for position in surveys.indices { surveys[position].add(statement.value(position)) }
    }
    let own = AttributeNames.distinct(table.columns.map(\.name))
    return table.columns.enumerated().map { position, column in
      let survey = surveys[position]
      let name = own[column.name] ?? column.name
      let reference = references[column.name]
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
        sql: reference?.sql ?? "t.\(list[position])", isReference: reference != nil)
    }
  }

  private func indexes(
    of table: SQLiteTable, _ entity: EntityDescription, _ references: [String: Reference]
  ) -> [EntityDescription.Index] {
    var wanted: [(columns: [String], isUnique: Bool)] = []
    if let id = table.idColumn { wanted.append(([id], true)) }
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
      wanted.append((index.columns, index.isUnique))
    }
    wanted += table.columns.filter { references[$0.name] != nil }.map { ([$0.name], false) }
    var indexes: [EntityDescription.Index] = []
    for (columns, isUnique) in wanted {
      let attributes = columns.compactMap { name in
        table.columns.firstIndex { $0.name == name }.map { entity.attributes[$0] }
      }
      let numbers = attributes.map(\.number)
      guard Set(numbers).count == numbers.count,
        !indexes.contains(where: { $0.attributes == numbers })
      else { continue }
      if indexes.count == 64 || attributes.contains(where: { !$0.type.isIndexable }) {
        plan.notes.append(
          "\(entity.name): the index over \(columns.joined(separator: ", ")) is left out, because "
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
    let key: SQLiteTable.ForeignKey
    let parent: Int
    /// The id of the related record, by a search in the parent's key.
    let sql: String
  }

  /// The foreign keys that become relationships, by column; adds a note for each other one.
  private func references(of table: SQLiteTable) throws -> [String: Reference] {
    var found: [String: Reference] = [:]
    for key in table.foreignKeys {
      guard let column = table.column(named: key.column)?.name else { continue }
      func leaveOut(_ reason: String) {
        plan.notes.append(
          "\(table.name).\(column): the foreign key to \(key.parent) stays a plain value, because "
            + reason)
      }
      let parent = tables.firstIndex { $0.name.lowercased() == key.parent.lowercased() }
      if key.isCompound {
        leaveOut("it has several columns")
      } else if found[column] != nil {
        leaveOut("the column has another one")
      } else if let parent {
        let keys = tables[parent].columns.filter(\.isKey).map(\.name)
        guard let wanted = key.parentColumn ?? (keys.count == 1 ? keys[0] : nil),
          let target = tables[parent].column(named: wanted)?.name, tables[parent].isKey(target)
        else {
          leaveOut("it does not lead to one unique column")
          continue
        }
        guard tables[parent].hasUsableRowIDs, let rowID = tables[parent].rowID else {
          leaveOut("the rows there have no numbers from 1 on")
          continue
        }
        let sql =
          "(SELECT p.\(rowID) FROM \(tables[parent].quoted) AS p WHERE "
          + "p.\(SQLiteDatabase.quoted(target)) = t.\(SQLiteDatabase.quoted(column)))"
        let dangling = try database.rows(
          "SELECT count(*) FROM \(table.quoted) AS t WHERE t.\(SQLiteDatabase.quoted(column)) "
            + "IS NOT NULL AND \(sql) IS NULL")
        if case .integer(let count) = dangling[0][0], count > 0 {
          leaveOut("values lead to no row: \(NumberText.grouped(Int(count)))")
          continue
        }
        found[column] = Reference(key: key, parent: parent, sql: sql)
      } else {
        leaveOut("there is no such table")
      }
    }
    return found
  }

  private func addRelationship(
    _ reference: Reference, of entity: EntityDescription,
    _ attribute: EntityDescription.Attribute, _ table: SQLiteTable
  ) {
    let onDelete: DeleteRule =
      switch reference.key.onDelete {
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

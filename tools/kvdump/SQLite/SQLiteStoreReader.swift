import EntityStore
import LodestoreBytes
import LodestoreFormat

/// Reads a database that ``SQLiteExport`` has written, as the store that it was.
struct SQLiteStoreReader {
  private let database: SQLiteDatabase

  init(_ database: SQLiteDatabase) { self.database = database }

  func read() throws -> SQLiteImport.Plan {
    var entities: [EntityDescription] = []
    var relationships: [RelationshipDescription] = []
    var plan = SQLiteImport.Plan()
    let rows = try database.rows(
      "SELECT kind, number, description FROM \(SQLiteSchema.descriptions) ORDER BY kind, number")
    do {
      for row in rows {
        guard case .integer(let number) = row[1] else { throw FormatError("a number is missing") }
        switch (row[0], row[2]) {
        case (.text("version"), _):
          if number > SQLiteSchema.version { throw FormatError("a newer kvdump has written it") }
        case (.text("model"), _): plan.model = UInt64(bitPattern: number)
        case (.text("entity"), .blob(let bytes)):
          entities.append(
            try EntityDescription(
              number: EntityNumber(try small(number)), document: document(bytes)))
        case (.text("relationship"), .blob(let bytes)):
          relationships.append(
            try RelationshipDescription(number: try small(number), document: document(bytes)))
        default: throw FormatError("a description is missing")
        }
      }
      let numbered = Dictionary(entities.map { ($0.number, $0) }) { first, _ in first }
      for relationship in relationships { try relationship.check(numbered) }
    } catch {
      throw CommandFailure.badSQLiteRow(
        database.title, SQLiteSchema.descriptions, nil, reason: "\(error)")
    }
    let schema = SQLiteSchema(entities, relationships)
    plan.relationships = relationships
    plan.linkTables = schema.linkTables
    let exact = try !database.rows(
      "SELECT 1 FROM sqlite_master WHERE name = '\(SQLiteSchema.exactValues)'"
    ).isEmpty
    plan.sources = try schema.tables.map { try source($0, hasExactValues: exact) }
    plan.notes = try notes(schema)
    return plan
  }

  private func small(_ number: Int64) throws(FormatError) -> UInt32 {
    guard let number = UInt32(exactly: number), number > 0 else {
      throw FormatError("\(number) is not the number of an entity or a relationship")
    }
    return number
  }

  private func document(_ bytes: [UInt8]) throws(FormatError) -> Document {
    try bytes._withBytes { bytes throws(FormatError) in try Document(decoding: bytes) }
  }

  private func source(
    _ table: SQLiteSchema.Table, hasExactValues: Bool
  ) throws -> SQLiteImport.Source {
    let names = [EntityDescription.nameOfID] + table.columns
    let attributes = table.entity.declaredAttributes
    let exact = try hasExactValues ? ExactValues(of: table.entity, in: database) : nil
    let title = database.title
    return SQLiteImport.Source(
      entity: table.entity, table: table.name,
      sql: "SELECT \(names.map(SQLiteDatabase.quoted).joined(separator: ", ")) FROM "
        + "\(SQLiteDatabase.quoted(table.name)) ORDER BY 1"
    ) { statement in
      guard case .integer(let id) = statement.value(0), id > 0 else {
        throw CommandFailure.badSQLiteRow(title, table.name, nil, reason: "a row has an id below 1")
      }
      let stored = try exact?.values(of: id) ?? [:]
      let values = try attributes.enumerated().map { position, attribute in
        let value = statement.value(position + 1)
        // A value that was changed in the table since the export counts.
        if let text = stored[attribute.number],
          let node = try? JSONDocument.parsing(text.utf8).root,
          let exact = try? Value(node, as: attribute.type), exact.fits(attribute.type),
          try SQLiteValue(exact) == value
        {
          return exact
        }
        guard let read = Value(value, as: attribute.type), read != .null || attribute.isOptional
        else {
          throw CommandFailure.badSQLiteValue(
            value, of: attribute.name, id, table: table.name, path: title,
            expectation: attribute.type.expectation)
        }
        return read
      }
      return (UInt64(id), values)
    }
  }

  /// Notes about tables and columns that were added since the export.
  private func notes(_ schema: SQLiteSchema) throws -> [String] {
    let known = Set(
      schema.tables.map(\.name) + schema.linkTables.map(\.name)
        + [SQLiteSchema.descriptions, SQLiteSchema.exactValues])
    var notes: [String] = []
    for row in try database.rows("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')") {
      guard case .text(let name) = row[0], !name.hasPrefix("sqlite_"), !known.contains(name)
      else { continue }
      notes.append("\"\(name)\" is not of the exported store and is left out")
    }
    for table in schema.tables {
      let columns = Set(table.columns + [EntityDescription.nameOfID])
      let info = try database.rows("PRAGMA table_info(\(SQLiteDatabase.quoted(table.name)))")
      for row in info {
        guard case .text(let name) = row[1], !columns.contains(name) else { continue }
        notes.append(
          "\(table.name): column \"\(name)\" is not of the exported store and is left out")
      }
    }
    return notes
  }
}

/// The exact values of an entity, read along with its rows in the order of their ids.
private final class ExactValues {
  private let statement: SQLiteStatement
  private var isThere: Bool

  init(of entity: EntityDescription, in database: SQLiteDatabase) throws {
    statement = try database.prepare(
      "SELECT id, attribute, value FROM \(SQLiteSchema.exactValues) WHERE entity = "
        + "\(entity.number.rawValue) ORDER BY id, attribute")
    isThere = try statement.step()
  }

  /// The JSON texts of the exact values of a record, by attribute.
  ///
  /// The ids of successive calls must increase.
  func values(of id: Int64) throws -> [UInt32: String] {
    var values: [UInt32: String] = [:]
    while isThere, case .integer(let next) = statement.value(0), next <= id {
      if next == id, case .integer(let attribute) = statement.value(1),
        let number = UInt32(exactly: attribute), case .text(let text) = statement.value(2)
      {
        values[number] = text
      }
      isThere = try statement.step()
    }
    return values
  }
}

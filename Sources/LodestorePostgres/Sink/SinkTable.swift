internal import EntityStore
internal import LodestoreBytes
internal import LodestoreEssentials
internal import LodestoreFormat

/// A table of a sink, with the commands that create and change it.
struct SinkTable: Sendable {
  struct Column: Sendable, Equatable {
    var name: String
    var type: ColumnType
  }

  /// The name in the database, which has at most 63 bytes.
  var name: String
  var schema: String
  var columns: [Column]
  /// The number of columns at the beginning that are the primary key.
  var keyCount: Int
  /// The attributes of ``columns`` after the id; empty for a table of links.
  var attributes: [EntityDescription.Attribute] = []

  private static let longestName = 63
  static let cursorName = "lodestore_cursor"

  init(_ entity: EntityDescription, schema: String) throws(PostgresError) {
    self.schema = schema
    name = try Self.checked(entity.name, of: entity.name)
    columns = [Column(name: "id", type: .bigint)]
    keyCount = 1
    for attribute in entity.declaredAttributes {
      let column = attribute.name == "id" ? "id_" : attribute.name
      columns.append(
        Column(
          name: try Self.checked(column, of: entity.name), type: ColumnType(attribute.type)))
      attributes.append(attribute)
    }
    if columns.lazy.filter({ $0.name == "id_" }).count > 1 {
      throw PostgresError(
        .badMapping,
        "the attributes 'id' and 'id_' of '\(name)' would both have the column 'id_'; rename one, "
          + "or leave the entity out", table: name, column: "id_")
    }
    if name == Self.cursorName {
      throw PostgresError(
        .badMapping,
        "the name '\(name)' is that of the sink's own table; push into another schema "
          + "without the entity", table: name)
    }
  }

  init(_ links: DynamicLinkTable, schema: String) throws(PostgresError) {
    self.schema = schema
    name = try Self.checked("\(links.from)_\(links.name)", of: links.from)
    columns = [Column(name: "from_id", type: .bigint), Column(name: "to_id", type: .bigint)]
    keyCount = 2
  }

  private static func checked(_ name: String, of entity: String) throws(PostgresError) -> String {
    guard name.utf8.count <= longestName else {
      throw PostgresError(
        .badMapping,
        "'\(name)' of '\(entity)' has \(name.utf8.count) bytes, and names of PostgreSQL "
          + "have at most \(longestName); rename it, or leave the entity out", table: entity)
    }
    return name
  }

  // MARK: Commands

  var label: String { SQL.name(schema, name) }
  private var key: [Column] { Array(columns.prefix(keyCount)) }
  private var others: [Column] { Array(columns.dropFirst(keyCount)) }
  /// The temporary table that receives rows before they are merged; it is in another schema.
  var stage: String { SQL.name("pg_temp", name) }

  private static func list(_ columns: [Column]) -> String {
    columns.map { SQL.name($0.name) }.joined(separator: ", ")
  }

  /// The commands that create the table, and the columns that an older table lacks.
  ///
  /// `ALTER TABLE` would let other transactions wait until the end of the push, so existing columns
  /// have no command.
  ///
  /// - Parameter existing: the columns in the database, as ``path(of:)`` names them.
  func creation(besides existing: some Collection<String>) -> [String] {
    let definitions = columns.map { column in
      SQL.name(column.name) + " " + column.type.rawValue
    }
    let create =
      "CREATE TABLE IF NOT EXISTS \(label) (\(definitions.joined(separator: ", ")), PRIMARY KEY "
      + "(\(Self.list(key))))"
    return (key.allSatisfy { existing.contains(path(of: $0)) } ? [] : [create])
      + others.filter { !existing.contains(path(of: $0)) }.map { column in
        "ALTER TABLE \(label) ADD COLUMN IF NOT EXISTS \(SQL.name(column.name)) "
          + column.type.rawValue
      }
  }

  /// The table and the column, with a point between them.
  func path(of column: Column) -> String { "\(name).\(column.name)" }

  var createStage: String {
    let definitions = columns.map { "\(SQL.name($0.name)) \($0.type.rawValue)" }
    return "CREATE TEMPORARY TABLE IF NOT EXISTS \(SQL.name(name)) "
      + "(\(definitions.joined(separator: ", "))) ON COMMIT DELETE ROWS"
  }

  /// The command that receives rows, with all columns or only those of the key.
  ///
  /// - Parameter target: ``label`` or ``stage``.
  func copy(into target: String, onlyKey: Bool) -> String {
    "COPY \(target) (\(Self.list(onlyKey ? key : columns))) FROM STDIN (FORMAT binary)"
  }

  var merge: String {
    let changes = others.map { "\(SQL.name($0.name)) = EXCLUDED.\(SQL.name($0.name))" }
    let action = changes.isEmpty ? "NOTHING" : "UPDATE SET \(changes.joined(separator: ", "))"
    return
      "INSERT INTO \(label) (\(Self.list(columns))) SELECT \(Self.list(columns)) FROM \(stage) "
      + "ON CONFLICT (\(Self.list(key))) DO \(action)"
  }

  private var samePair: String {
    key.map { "old.\(SQL.name($0.name)) = new.\(SQL.name($0.name))" }.joined(separator: " AND ")
  }

  var deleteStaged: String { "DELETE FROM \(label) old USING \(stage) new WHERE \(samePair)" }

  var clearStage: String { "TRUNCATE \(stage)" }
}

extension ColumnType {
  /// The type of a column for an attribute.
  init(_ type: AttributeType) {
    switch type {
    case .bool: self = .boolean
    case .int8, .int16, .uint8: self = .smallint
    case .int32, .uint16: self = .integer
    case .int64, .uint32, .recordID: self = .bigint
    case .uint64, .decimal: self = .numeric
    case .float: self = .real
    case .double: self = .double
    case .date: self = .timestamptz
    case .uuid: self = .uuid
    case .string, .url: self = .text
    case .data: self = .bytea
    case .json, .document: self = .jsonb
    }
  }
}

extension PostgresValue {
  /// Converts a value of a store to a column of a type.
  init(_ value: Value, for type: ColumnType) throws {
    switch value {
    case .null: self = .null
    case .bool(let value): self = .bool(value)
    case .integer(let value):
      guard type == .numeric else {
        self = .integer(value)
        return
      }
      self = .numeric(
        PostgresNumeric(isNegative: value < 0, significand: UInt128(value.magnitude)))
    case .unsigned(let value): self = .numeric(PostgresNumeric(significand: UInt128(value)))
    case .double(let value): self = .double(value)
    case .date(let value): self = .date(value)
    case .uuid(let value): self = .uuid(high: value.high, low: value.low)
    case .decimal(let value):
      self = .numeric(
        PostgresNumeric(
          isNegative: value.isNegative, isNaN: value.isNaN, exponent: Int(value.exponent),
          significand: value.significand))
    case .string(let value): self = .text(value)
    case .data(let value): self = .bytes(value)
    case .document(let value):
      var text: [UInt8] = []
      try value._withBytes { try DocumentText.append($0, to: &text) }
      self = .json(String(decoding: text, as: UTF8.self))
    }
  }
}

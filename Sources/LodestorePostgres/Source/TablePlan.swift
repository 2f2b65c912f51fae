internal import EntityStore
internal import LodestoreBytes
internal import LodestoreFormat
internal import LodestoreJSON

/// A table with its columns, keys and attributes, as the copy and the replication use it.
struct TablePlan: Sendable {
  struct Column: Sendable {
    var name: String
    var typeID: UInt32
    var type: PostgresType
    var isRequired: Bool
    var attribute: String
    var attributeType: AttributeType
    var isOptional: Bool
  }

  var table: PostgresTable
  /// The number by which the server identifies the table.
  var relation: UInt32
  var entity: String
  var columns: [Column]
  /// The positions in ``columns`` of the columns of the key.
  var key: [Int]
  /// The condition of the publication on rows; `nil` for none.
  var condition: String?
  /// The identity of the table's entry in the publication.
  ///
  /// The entry is another one after a table was taken out and added again, or has got another
  /// condition or other columns.
  var publicationEntry = ""
  var isPartitioned: Bool
  var infinity: InfiniteDates
  /// The number of rows that the server's planner assumes; `nil` if it has no statistics.
  var estimatedRows: Int?

  var sqlName: String { SQL.name(table.schema, table.name) }
  var attributes: [String] { columns.map(\.attribute) }
  var keyAttributes: [String] { key.map { columns[$0].attribute } }

  /// A text that differs after each alteration that concerns the followed columns.
  var signature: String {
    let columns = columns.map { "\($0.name):\($0.typeID)" }
    let key = key.map { "\($0)" }
    return "\(relation);\(key.joined(separator: ","));\(columns.joined(separator: ","))"
  }

  /// The command that copies the rows.
  var copyCommand: String {
    let names = columns.map { SQL.name($0.name) }.joined(separator: ", ")
    // A partitioned table has its rows in partitions. Another table may have children, which are
    // tables of their own.
    let rows =
      condition == nil && !isPartitioned
      ? "\(sqlName) (\(names))"
      : "(SELECT \(names) FROM \(isPartitioned ? "" : "ONLY ")\(sqlName)"
        + "\(condition.map { " WHERE \($0)" } ?? ""))"
    return "COPY \(rows) TO STDOUT (FORMAT binary)"
  }

  /// Decodes one value; an error names the table and the column.
  func value(_ bytes: ByteView?, _ position: Int) throws(PostgresError) -> Value {
    // The column is not copied as a whole, because each row has a value of each column.
    let value: Value
    do throws(ValueRefusal) {
      if let bytes {
        value = try Value(
          columns[position].type.decode(bytes, infinity: infinity),
          as: columns[position].attributeType)
      } else {
        value = .null
      }
    } catch { throw refusal(error, position) }
    if value == .null, !columns[position].isOptional { throw missingValue(position) }
    return value
  }

  private func refusal(_ refusal: ValueRefusal, _ position: Int) -> PostgresError {
    let column = columns[position].name
    return PostgresError(
      refusal == .malformed ? .malformed : .unsupportedValue,
      "a value of \(table.label).\(column) \(refusal.reason)", table: table.label, column: column)
  }

  private func missingValue(_ position: Int) -> PostgresError {
    let column = columns[position]
    return PostgresError(
      .badMapping,
      "\(table.label).\(column.name) is null, and '\(entity).\(column.attribute)' is required; "
        + "make the attribute optional, or call copyAgain(into:) if a copy has declared it",
      table: table.label, column: column.name)
  }
}

extension PostgresType {
  /// The type of an attribute that the source declares for a column; `nil` for none.
  var attributeType: AttributeType? {
    switch self {
    case .bool: .bool
    case .int2: .int16
    case .int4: .int32
    case .int8, .oid: .int64
    case .float4: .float
    case .float8: .double
    case .numeric: .decimal
    case .text, .enumeration: .string
    case .bytea: .data
    case .uuid: .uuid
    case .date, .timestamp, .timestamptz: .date
    case .json, .jsonb, .array: .json
    case .unsupported: nil
    }
  }

  /// Whether each value, within its range, can be a value of the attribute type.
  func fits(_ type: AttributeType) -> Bool {
    switch (self, type) {
    case (.int2, let type), (.int4, let type), (.int8, let type), (.oid, let type):
      switch type {
      case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64, .decimal: true
      default: false
      }
    case (.numeric, .decimal), (.numeric, .int64), (.numeric, .uint64): true
    case (.float4, .double), (.float4, .float), (.float8, .double): true
    case (.text, .url), (.text, .string), (.enumeration, .string): true
    case (.json, .document), (.jsonb, .document), (.array, .document): true
    default: attributeType == type
    }
  }
}

extension Value {
  /// Converts a value of PostgreSQL to an attribute of a type.
  init(_ value: PostgresValue, as type: AttributeType) throws(ValueRefusal) {
    switch value {
    case .null: self = .null
    case .bool(let value): self = .bool(value)
    case .integer(let value):
      if type == .decimal {
        self = .decimal(
          DecimalValue(
            isNegative: value < 0, exponent: 0, significand: UInt128(value.magnitude)))
      } else {
        self = .integer(value)
      }
    case .double(let value): self = .double(value)
    case .numeric(let value): self = try Self.numeric(value, as: type)
    case .text(let value): self = .string(value)
    case .bytes(let value): self = .data(value)
    case .uuid(let high, let low): self = .uuid(UUIDBytes(high: high, low: low))
    case .date(let value): self = .date(value)
    case .json(let text):
      do {
        self = try Value(JSONDocument.parsing(Array(text.utf8)).root, as: type)
        // JSON's null is a value, unlike the null of the column.
        if self == .null { self = .nullDocument }
      } catch { throw .refused("cannot be stored as JSON: \(error)") }
    }
    guard self == .null || fits(type) else {
      throw .refused("is out of the range of an attribute of type \(type.name)")
    }
  }

  private static func numeric(
    _ value: PostgresNumeric, as type: AttributeType
  ) throws(ValueRefusal) -> Value {
    if type == .decimal {
      if value.isNaN { return .decimal(.nan) }
      guard let exponent = Int16(exactly: value.exponent), DecimalValue.exponents.contains(exponent)
      else { throw .refused("has an exponent out of the range of a decimal") }
      return .decimal(
        DecimalValue(
          isNegative: value.isNegative, exponent: exponent, significand: value.significand))
    }
    guard !value.isNaN, (0...20).contains(value.exponent) else {
      throw .refused("is no integer of 64 bits")
    }
    var whole = value.significand
    for _ in 0..<value.exponent {
      let (product, overflows) = whole.multipliedReportingOverflow(by: 10)
      if overflows { throw .refused("is no integer of 64 bits") }
      whole = product
    }
    if value.isNegative {
      guard whole <= 1 << 63 else { throw .refused("is no integer of 64 bits") }
      return .integer(Int64(-Int128(whole)))
    }
    guard let positive = UInt64(exactly: whole) else { throw .refused("is no integer of 64 bits") }
    return .integer(unsigned: positive)
  }
}

/// The type of a column, reduced to the form of its values.
indirect enum PostgresType: Sendable, Hashable {
  case bool
  case int2, int4, int8, oid
  case float4, float8
  case numeric
  /// A type whose binary form is its text.
  case text(String)
  case bytea
  case uuid
  case date, timestamp, timestamptz
  case json, jsonb
  case enumeration(String)
  case array(PostgresType)
  /// A type without a counterpart in a store, with the advice for its error.
  case unsupported(String, advice: String)

  /// The name, for messages.
  var name: String {
    switch self {
    case .bool: "boolean"
    case .int2: "smallint"
    case .int4: "integer"
    case .int8: "bigint"
    case .oid: "oid"
    case .float4: "real"
    case .float8: "double precision"
    case .numeric: "numeric"
    case .text(let name), .enumeration(let name), .unsupported(let name, _): name
    case .bytea: "bytea"
    case .uuid: "uuid"
    case .date: "date"
    case .timestamp: "timestamp"
    case .timestamptz: "timestamptz"
    case .json: "json"
    case .jsonb: "jsonb"
    case .array(let element): "\(element.name)[]"
    }
  }
}

/// The types of a database, by their numbers.
struct PostgresTypes: Sendable {
  /// A row of `pg_type`.
  struct Row: Sendable {
    var id: UInt32
    var name: String
    /// `b` base, `d` domain, `e` enumeration, `c` composite, `r` range, `m` multirange.
    var kind: String
    var category: String
    var element: UInt32
    var base: UInt32
  }

  /// The command whose rows ``init(rows:)`` reads.
  static let command = """
    SELECT oid, typname, typtype, typcategory, typelem, typbasetype FROM pg_catalog.pg_type
    """

  private let rows: [UInt32: Row]

  init(rows texts: [[String?]]) throws(PostgresError) {
    var rows: [UInt32: Row] = [:]
    for text in texts {
      let fields = text.map { $0 ?? "" }
      guard fields.count == 6, let id = UInt32(fields[0]), let element = UInt32(fields[4]),
        let base = UInt32(fields[5])
      else { throw PostgresError(.malformed, "a row of pg_type has another form than expected") }
      rows[id] = Row(
        id: id, name: fields[1], kind: fields[2], category: fields[3], element: element, base: base)
    }
    self.rows = rows
  }

  /// Returns the type with a number.
  func type(_ id: UInt32) -> PostgresType { type(id, depth: 0) }

  private func type(_ id: UInt32, depth: Int) -> PostgresType {
    guard let row = rows[id], depth < 16 else {
      return .unsupported(
        "type \(id)", advice: "start the source again, so that it reads the types of the database")
    }
    switch row.kind {
    case "d": return type(row.base, depth: depth + 1)
    case "e": return .enumeration(row.name)
    case "b": break
    default:
      return .unsupported(
        row.name, advice: "leave the column out, or replicate a column of jsonb with its parts")
    }
    if let known = Self.base[row.name] { return known }
    if row.category == "A", row.element != 0 {
      let element = type(row.element, depth: depth + 1)
      switch element {
      case .unsupported, .array, .bytea:
        return .unsupported(
          "\(element.name)[]", advice: "leave the column out, or use a column of jsonb")
      default: return .array(element)
      }
    }
    return .unsupported(
      row.name,
      advice: Self.advice[row.name] ?? "leave the column out, or use a column of text or jsonb")
  }

  private static let base: [String: PostgresType] = [
    "bool": .bool, "int2": .int2, "int4": .int4, "int8": .int8, "oid": .oid, "float4": .float4,
    "float8": .float8, "numeric": .numeric, "text": .text("text"), "varchar": .text("varchar"),
    "bpchar": .text("char"), "name": .text("name"), "citext": .text("citext"),
    "xml": .text("xml"), "bytea": .bytea, "uuid": .uuid, "date": .date, "timestamp": .timestamp,
    "timestamptz": .timestamptz, "json": .json, "jsonb": .jsonb,
  ]

  private static let advice: [String: String] = [
    "time": "leave the column out, or store the time of day as an integer or a text",
    "timetz": "leave the column out, or store the time of day as an integer or a text",
    "interval": "leave the column out, or store the number of seconds",
    "money": "leave the column out, or change its type to numeric",
    "char": "leave the column out, or change its type to char(1) or text",
  ]
}

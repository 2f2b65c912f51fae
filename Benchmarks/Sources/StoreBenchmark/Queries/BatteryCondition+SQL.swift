extension BatteryLiteral {
  var sql: String {
    if case .bool(let flag) = self { flag ? "1" : "0" } else { text }
  }
}

extension BatteryCondition {
  private static let nullable: Set = ["nul", "score"]

  /// The condition as efficient SQL.
  ///
  /// A prefix condition becomes a range, because SQLite can then use an index.
  var sql: String {
    switch self {
    case .compare(let name, .equal, .null): "\(name.column) IS NULL"
    case .compare(let name, .notEqual, .null): "\(name.column) IS NOT NULL"
    case .compare(let name, .equal, let literal): "\(name.column) = \(literal.sql)"
    // Null differs from every value, so `!=` must find nulls. SQL's `<>` does not find nulls.
    case .compare(let name, .notEqual, let literal):
      "\(name.column) \(Self.nullable.contains(name) ? "IS NOT" : "<>") \(literal.sql)"
    case .compare(let name, let comparison, let literal):
      "\(name.column) \(comparison.rawValue) \(literal.sql)"
    case .between(let name, let low, let high):
      "\(name.column) BETWEEN \(low.sql) AND \(high.sql)"
    case .isIn(let name, let list):
      "\(name.column) IN (\(list.map(\.sql).joined(separator: ", ")))"
    case .begins(let name, let text):
      "\(name.column) >= '\(text)' AND \(name.column) < '\(Self.successor(of: text))'"
    case .contains(let name, let text): "instr(\(name.column), '\(text)') > 0"
    case .like(let name, let pattern), .matches(let name, _, let pattern):
      "\(name.column) GLOB '\(pattern)'"
    case .opaque(_, let sql): sql
    case .all(let parts):
      parts.isEmpty ? "TRUE" : parts.map { "(\($0.sql))" }.joined(separator: " AND ")
    case .any(let parts): parts.map { "(\($0.sql))" }.joined(separator: " OR ")
    case .not(let part): "(\(part.sql)) IS NOT TRUE"
    }
  }

  /// The smallest text that is greater than all texts with this prefix.
  private static func successor(of text: String) -> String {
    var bytes = Array(text.utf8)
    bytes[bytes.count - 1] += 1
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension String {
  /// The column of an attribute.
  fileprivate var column: String { self == "_id" ? "id" : self }
}

extension BatteryQuery {
  /// The selected columns of the query.
  func sql(readName: String) -> String {
    switch answer {
    case .rows: "SELECT id, \(readName) FROM \(source)\(ordered)"
    case .ids: "SELECT id FROM \(source)\(ordered)"
    case .count: "SELECT count(*) FROM \(source)"
    case .groups(let name, nil): "SELECT \(name), count(*) FROM \(source) GROUP BY \(name)"
    case .groups(let name, let sum?):
      "SELECT \(name), count(*), sum(\(sum)) FROM \(source) GROUP BY \(name)"
    case .distinct(let name): "SELECT DISTINCT \(name) FROM \(source)"
    case .minimum(let name): "SELECT min(\(name)) FROM \(source)"
    case .maximum(let name): "SELECT max(\(name)) FROM \(source)"
    case .sum(let name): "SELECT sum(\(name)) FROM \(source)"
    case .average(let name): "SELECT avg(\(name)) FROM \(source)"
    }
  }

  private var source: String {
    let sql = condition.sql
    return subject.rawValue + (sql == "TRUE" ? "" : " WHERE \(sql)")
  }

  /// The ORDER BY clause; it ends with the id, like the order of the store.
  private var ordered: String {
    guard isOrdered else { return "" }
    let terms =
      order.map { $0.name + ($0.isDescending ? " DESC" : "") }
      + [isTieDescending ? "id DESC" : "id"]
    var text = " ORDER BY " + terms.joined(separator: ", ")
    if let limit { text += " LIMIT \(limit)" }
    if offset > 0 { text += (limit == nil ? " LIMIT -1" : "") + " OFFSET \(offset)" }
    return text
  }
}

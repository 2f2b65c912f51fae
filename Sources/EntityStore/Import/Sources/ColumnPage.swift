public import LodestoreEssentials

/// A page that names its columns once: `{"fields": ["a", "b"], "data": [[1, 2], [3, 4]]}`.
///
/// Such a page is converted to an array of objects, `[{"a":1,"b":2},{"a":3,"b":4}]`, in which every
/// value keeps its source text, including its digits. Other members are left out. If `count` is
/// present, it must be the number of rows, as a number or as a string. A page with a `count` of 0
/// may lack `fields` and `data`.
public struct ColumnPage: Sendable {
  /// The names of the columns, in order.
  let fields: [String]
  /// The number of rows.
  let count: Int
  /// The JSON text of each name, with quotes and colon.
  private let keys: [[UInt8]]
  private let rows: JSONNode?

  /// Parses a page and checks all of its rows.
  public init(_ page: Data) throws(ColumnPageError) {
    let root: JSONNode
    do {
      root = try JSONDocument.parsing(page).root
    } catch {
      throw ColumnPageError(reason: .notJSON(error), position: error.position)
    }
    try self.init(root)
  }

  /// Checks all rows of a parsed page.
  package init(_ root: JSONNode) throws(ColumnPageError) {
    guard root.kind == .object else { throw .at(root, .notObject) }
    let expected = try Self.expectedCount(root)
    if expected == 0, root["fields"] == nil, root["data"] == nil {
      (fields, count, keys, rows) = ([], 0, [], nil)
      return
    }
    fields = try Self.names(root)
    guard let data = root["data"], data.kind == .array else {
      throw .at(root["data"] ?? root, .noData)
    }
    if let expected, expected != data.count {
      throw .at(data, .count(found: expected, rows: data.count))
    }
    for (index, row) in data.elements.enumerated() {
      guard row.kind == .array else { throw .at(row, .notRow(index + 1)) }
      guard row.count == fields.count else {
        throw .at(
          row, .rowLength(row: index + 1, found: row.count, expected: fields.count))
      }
    }
    count = data.count
    keys = Self.keys(of: fields)
    rows = data
  }

  /// Returns the JSON text of an array with an object for each row.
  ///
  /// - Throws: ``ColumnPageError/Reason/tooLong(limit:)`` when the array exceeds the size of a
  ///   page.
  public func json() throws(ColumnPageError) -> Data {
    var remaining = records
    return try remaining.next(Int.max) ?? Data("[]".utf8)
  }

  /// The rows as values of the page.
  package var jsonRecords: [JSONRecord] {
    rows?.elements.map { .row(names: fields, values: $0) } ?? []
  }

  /// The rows, for writing some of them at a time.
  var records: Records { Records(keys: keys, rows: rows, limit: JSONLimits.standard) }

  /// Writes the rows of a page, some of them at a time, and holds the remaining ones.
  struct Records {
    private let keys: [[UInt8]]
    private let table: JSONNode?
    private var remaining: JSONElements?
    private let limits: JSONLimits

    fileprivate init(keys: [[UInt8]], rows: JSONNode?, limit: JSONLimits) {
      self.keys = keys
      table = rows
      remaining = rows?.elements
      limits = limit
    }

    /// Returns the next rows as the text of an array of objects; nil when no row is left.
    mutating func next(_ count: Int) throws(ColumnPageError) -> Data? {
      guard var row = remaining?.next() else { return nil }
      var bytes: [UInt8] = [0x5B]
      var written = 0
      var entries = 1
      while true {
        ColumnPage.append(row, keys, to: &bytes)
        written += 1
        // The JSON parser counts the row's values and the keys toward its limit.
        entries += row.entryCount + keys.count
        guard bytes.count < limits.bytes, entries <= limits.values else {
          throw .at(row, .tooLong(limit: limits.bytes))
        }
        guard written < count, let next = remaining?.next() else { break }
        bytes.append(0x2C)
        row = next
      }
      bytes.append(0x5D)
      return Data(bytes)
    }

  }

  /// The JSON text of each name, with quotes and colon.
  static func keys(of names: [String]) -> [[UInt8]] {
    names.map { name in
      var key: [UInt8] = []
      JSONText.appendString(name, to: &key)
      key.append(0x3A)
      return key
    }
  }

  /// Appends the text of a row as an object.
  static func append(_ row: JSONNode, _ keys: [[UInt8]], to bytes: inout [UInt8]) {
    bytes.append(0x7B)
    for (index, value) in row.elements.enumerated() where index < keys.count {
      if index > 0 { bytes.append(0x2C) }
      bytes.append(contentsOf: keys[index])
      value.withSourceBytes { bytes.append(contentsOf: $0) }
    }
    bytes.append(0x7D)
  }

  private static func expectedCount(_ root: JSONNode) throws(ColumnPageError) -> Int? {
    guard let node = root["count"] else { return nil }
    let count = node.string.flatMap { Int($0) } ?? node.int64.flatMap { Int(exactly: $0) }
    guard let count, count >= 0 else { throw .at(node, .badCount) }
    return count
  }

  private static func names(_ root: JSONNode) throws(ColumnPageError) -> [String] {
    guard let node = root["fields"], node.kind == .array else {
      throw .at(root["fields"] ?? root, .noFields)
    }
    var names: [String] = []
    var seen: Set<String> = []
    for field in node.elements {
      guard let name = field.string else { throw .at(field, .noFields) }
      guard seen.insert(name).inserted else { throw .at(field, .duplicateField(name)) }
      names.append(name)
    }
    return names
  }
}

extension ColumnPageError {
  fileprivate static func at(_ node: JSONNode, _ reason: Reason) -> ColumnPageError {
    ColumnPageError(reason: reason, position: node.position)
  }
}

extension JSONNode {
  /// The number of values and keys in the node, including the node itself.
  var entryCount: Int { document.next(after: index) - index }
}

public import LodestoreEssentials

/// Rows of separated values as the text of a JSON array.
struct CSVPage: Sendable {
  private var bytes: [UInt8] = []
  private(set) var rows = 0
  /// The offset and the line of each row in the source text.
  private var places: [(offset: Int, line: Int)] = []
  /// The places of the rows in the page that was returned last.
  private(set) var takenPlaces: [(offset: Int, line: Int)] = []
  /// Each column's name with quotes and colon, and its type; nil before the first row.
  private var columns: [(key: [UInt8], type: CSVOptions.ColumnType)]?
  private var isObject = false

  /// Appends a row.
  ///
  /// - Returns: the index of the first field that does not fit its column's type; then nothing is
  ///   appended.
  fileprivate mutating func add(_ row: CSVRow, names: [String]?, options: CSVOptions) -> Int? {
    let columns = columns ?? makeColumns(row, names, options)
    let start = bytes.count
    bytes.append(rows == 0 ? 0x5B : 0x2C)
    bytes.append(isObject ? 0x7B : 0x5B)
    for (index, column) in columns.enumerated() where index < row.count {
      if index > 0 { bytes.append(0x2C) }
      bytes.append(contentsOf: column.key)
      if row.isNull(index) {
        bytes.append(contentsOf: "null".utf8)
      } else if !CSVValue.append(row.bytes(of: index), as: column.type, to: &bytes) {
        bytes.removeSubrange(start...)
        return index
      }
    }
    bytes.append(isObject ? 0x7D : 0x5D)
    rows += 1
    places.append((row.byteOffset, row.line))
    return nil
  }

  private mutating func makeColumns(
    _ row: CSVRow, _ names: [String]?, _ options: CSVOptions
  ) -> [(key: [UInt8], type: CSVOptions.ColumnType)] {
    isObject = names != nil
    let made: [(key: [UInt8], type: CSVOptions.ColumnType)] =
      if let names {
        zip(names, ColumnPage.keys(of: names)).map { ($1, options.types[$0] ?? .text) }
      } else {
        Array(repeating: ([], .text), count: row.count)
      }
    columns = made
    return made
  }

  /// The number of values and keys in the page, which the JSON parser limits.
  private var values: Int { 1 + rows * (1 + (columns?.count ?? 0) * (isObject ? 2 : 1)) }

  fileprivate func isBeyond(_ limit: Int) -> Bool {
    bytes.count >= limit || values > JSONLimits.standard.values
  }

  fileprivate var length: Int { bytes.count }

  /// Ends the page after its first `length` bytes; the remaining bytes, at most one row, begin the
  /// next page.
  fileprivate mutating func take(_ length: Int) -> Data {
    var rest = Array(bytes[length...])
    if !rest.isEmpty { rest[0] = 0x5B }
    bytes.removeSubrange(length...)
    bytes.append(0x5D)
    let page = Data(bytes)
    bytes = rest
    takenPlaces = places
    places = rest.isEmpty ? [] : [takenPlaces.removeLast()]
    rows = places.count
    return page
  }

  fileprivate mutating func removeAll() {
    bytes = []
    places = []
    rows = 0
  }
}

extension CSVReader {
  /// Reads the next rows as one page for an ``Importer``: the JSON text of an array of objects.
  ///
  /// Values are strings, or have the type in `types`. An empty field is null, an empty quoted field
  /// is `""`. A page ends earlier when another row would exceed the limit. Do not call ``next()``
  /// between calls of this method.
  ///
  /// - Parameter count: the number of rows in a page.
  /// - Returns: `nil` when more bytes are needed, and at the end after ``finish()``.
  public mutating func nextPage(of count: Int) throws(CSVError) -> Data? {
    while true {
      if page.rows == 1 && page.isBeyond(options.limits.page) {
        page.removeAll()
        throw error(.pageTooLong(limit: options.limits.page), field: nil)
      }
      if page.rows > 0 && page.rows >= count { return page.take(page.length) }
      let length = page.length
      guard let row = try next() else {
        return isFinished && page.rows > 0 ? page.take(length) : nil
      }
      if let index = page.add(row, names: names, options: options) {
        let name = names?[index] ?? ""
        throw error(.wrongType(column: name, options.types[name] ?? .text), field: index)
      }
      if page.rows > 1 && page.isBeyond(options.limits.page) { return page.take(length) }
    }
  }
}

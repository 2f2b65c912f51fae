/// Reads separated values of RFC 4180 from a stream of bytes, one row at a time.
///
///     var reader = CSVReader()
///     reader.append(bytes)        // for each chunk of bytes
///     reader.finish()
///     while let row = try reader.next() { print(row.fields) }
///
/// Lines end with LF or CR LF. Inside quotes, line ends and a lone CR are content. A byte order
/// mark at the start is skipped. Text that is neither well formed nor allowed by the options is an
/// error with line, column and byte.
///
/// An error concerns only its row, and the next call continues after the row. Reading cannot
/// continue after an error in the row of column names, or after exceeding a limit inside quotes;
/// ``hasFailed`` is then true.
///
/// A row ends at its first line end outside quotes. When a quote is never closed, the row is only
/// its first line if the next lines have as many fields as a row. Otherwise the row extends to the
/// end of the text. The reader keeps one row and the appended bytes in memory.
public struct CSVReader: Sendable {
  /// The options for reading.
  public let options: CSVOptions
  /// The names of the columns, in order; `nil` until they are read, and without a header.
  public private(set) var names: [String]?
  private var scanner: CSVScanner
  private var decoder: TextDecoder
  private var width: Int? { didSet { scanner.width = width } }
  var page = CSVPage()

  /// Creates a reader at the beginning of a text.
  public init(_ options: CSVOptions = CSVOptions()) {
    self.options = options
    scanner = CSVScanner(options)
    decoder = TextDecoder(options.encoding)
  }

  /// Appends the next bytes of the text; call ``next()`` afterwards until it returns `nil`.
  public mutating func append(_ bytes: some Collection<UInt8>) {
    if decoder.isPassing { return scanner.append(bytes) }
    var text: [UInt8] = []
    decoder.decode(bytes, to: &text)
    scanner.append(text)
  }

  /// Ends the text, so that a last line without a line end is read.
  public mutating func finish() { finish(isCut: false) }

  /// - Parameter isCut: whether the text is truncated; a last line without a line end is then
  ///   refused.
  mutating func finish(isCut: Bool) {
    var text: [UInt8] = []
    decoder.finish(to: &text)
    if !text.isEmpty { scanner.append(text) }
    scanner.finish(isCut: isCut)
  }

  /// Reads the next row.
  ///
  /// - Returns: `nil` when more bytes are needed, and at the end after ``finish()``.
  public mutating func next() throws(CSVError) -> CSVRow? {
    switch options.header {
    case .names(let given) where names == nil: try take(given)
    case .absent where !options.types.isEmpty: try checkTypes([])
    default: break
    }
    while try scan() {
      if options.skipsBlankLines && isBlank { continue }
      if options.header == .firstRow && names == nil {
        try take(row(of: scanner.fields.count).fields)
        continue
      }
      return row(of: try checkedWidth())
    }
    if scanner.isFinished && options.header == .firstRow && names == nil {
      throw stopped(.noHeader, field: nil)
    }
    return nil
  }

  /// Whether an error has ended the reading; each further call throws this error again.
  public var hasFailed: Bool { scanner.hasFailed }

  /// Moves to the next row; an error before the column names are known ends the reading.
  private mutating func scan() throws(CSVError) -> Bool {
    do throws(CSVError) {
      return try scanner.scan()
    } catch {
      if options.header == .firstRow && names == nil { scanner.stop(error) }
      throw error
    }
  }

  /// The row of the last error: its first bytes, its size, its line and its byte offset.
  ///
  /// Valid until the next call.
  var faultyRow: (text: [UInt8], count: Int, line: Int, offset: Int) {
    let row = scanner.faultyRow
    return (row.text, row.count, scanner.origin.line, scanner.origin.offset)
  }

  /// The number of tab-separated rows with line ends inside quoted fields, and the line of the
  /// first.
  var longRows: (count: Int, line: Int) { scanner.longRows }

  private mutating func stopped(_ reason: CSVError.Reason, field: Int?) -> CSVError {
    let error = error(reason, field: field)
    scanner.stop(error)
    return error
  }

  /// Returns whether `error` refused the last row because the text is truncated inside it.
  func lacksEnd(_ error: CSVError) -> Bool {
    guard scanner.isAtEnd else { return false }
    return switch error.reason {
    case .unclosedQuote: true
    case .fieldCount(let found, let expected): found < expected && !scanner.endsWithLineEnd
    default: false
    }
  }

  /// Whether ``next()`` has returned all rows of a finished text.
  var isFinished: Bool { scanner.isFinished }

  /// Creates an error at a field of the last row.
  func error(_ reason: CSVError.Reason, field: Int?) -> CSVError {
    let start = field.map { scanner.fields.indices.contains($0) ? scanner.fields[$0].first : 0 }
    return CSVError(reason: reason, position: scanner.position(start ?? 0))
  }

  private var isBlank: Bool {
    scanner.fields.count == 1 && !scanner.fields[0].isQuoted && scanner.fields[0].end == 0
  }

  private mutating func take(_ found: [String]) throws(CSVError) {
    var seen: Set<String> = []
    for (column, name) in found.enumerated() where !seen.insert(name).inserted {
      throw stopped(.duplicateName(name), field: column)
    }
    if let column = found.firstIndex(where: { $0.utf8.contains(0) }) {
      throw stopped(.zeroByte(inColumn: found[column]), field: column)
    }
    try checkTypes(seen)
    names = found
    width = found.count
  }

  private mutating func checkTypes(_ names: Set<String>) throws(CSVError) {
    if let name = options.types.keys.sorted().first(where: { !names.contains($0) }) {
      throw stopped(.unknownColumn(name), field: nil)
    }
  }

  /// Returns the number of fields that the row must have; without other rules, the first row
  /// determines it.
  private mutating func checkedWidth() throws(CSVError) -> Int {
    let found = scanner.fields.count
    guard let width else {
      width = found
      return found
    }
    let isAllowed =
      switch options.raggedRows {
      case .refuse: found == width
      case .fill: found <= width
      case .fit: true
      }
    guard isAllowed else {
      let reason = CSVError.Reason.fieldCount(found: found, expected: width)
      // The error is at the first surplus field, or at the end of the last field.
      let offset = found > width ? scanner.fields[width].first : scanner.fields.last?.behind
      throw CSVError(reason: reason, position: scanner.position(offset ?? 0))
    }
    return width
  }

  private func row(of width: Int) -> CSVRow {
    var content: [UInt8] = []
    var marks: [CSVRow.Field] = []
    marks.reserveCapacity(width)
    for field in scanner.fields.prefix(width) {
      scanner.append(field, to: &content)
      marks.append(
        .init(end: content.count, isQuoted: field.isQuoted, isNull: scanner.isNull(field)))
    }
    while marks.count < width {
      marks.append(.init(end: content.count, isQuoted: false, isNull: true))
    }
    return CSVRow(
      line: scanner.origin.line, byteOffset: scanner.origin.offset, content: content, marks: marks)
  }
}

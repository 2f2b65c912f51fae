/// Reads separated values as RFC 4180 has them, a row at a time, from a stream of bytes.
///
///     var reader = CSVReader()
///     reader.append(bytes)        // as often as bytes come
///     reader.finish()
///     while let row = try reader.next() { print(row.fields) }
///
/// Lines end with LF or CR LF; inside quotes both and a lone CR are content. A byte order mark at
/// the start is left out. Any other text that is neither well formed nor allowed by the options is
/// an error with line, column and byte. An error concerns its row only, and the next call goes on
/// after the row. There is no going on after an error in the row of the names, and after a limit
/// inside of quotes; ``hasFailed`` tells.
///
/// A row ends at its line end, quoted line ends aside. Where a quote is never closed, and the lines
/// after it have as many fields as a row, the row is its first line; else it goes to the end of the
/// text. Memory: one row, and what was appended at once.
public struct CSVReader: Sendable {
  /// How the text is read.
  public let options: CSVOptions
  /// The names of the columns, in order; `nil` before they were read, and without a header.
  public private(set) var names: [String]?
  private var scanner: CSVScanner
  private var decoder: TextDecoder
  private var width: Int? { didSet { scanner.width = width } }
  var page = CSVPage()

  /// A reader of a text that begins with the next bytes.
  public init(_ options: CSVOptions = CSVOptions()) {
    self.options = options
    scanner = CSVScanner(options)
    decoder = TextDecoder(options.encoding)
  }

  /// Takes the next bytes of the text; then call ``next()`` until it gives `nil`.
  public mutating func append(_ bytes: some Collection<UInt8>) {
    if decoder.isPassing { return scanner.append(bytes) }
    var text: [UInt8] = []
    decoder.decode(bytes, to: &text)
    scanner.append(text)
  }

  /// Tells that no bytes follow, so that a last line without its end is read.
  public mutating func finish() { finish(isCut: false) }

  /// - Parameter isCut: whether the text lacks its end: then a last line without its end is refused.
  mutating func finish(isCut: Bool) {
    var text: [UInt8] = []
    decoder.finish(to: &text)
    if !text.isEmpty { scanner.append(text) }
    scanner.finish(isCut: isCut)
  }

  /// The next row, or `nil` when more bytes are needed or, after ``finish()``, at the end.
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

  /// Whether an error has ended the reading: each further call throws it again.
  public var hasFailed: Bool { scanner.hasFailed }

  /// Goes to the next row; without the names of the columns there is no going on.
  private mutating func scan() throws(CSVError) -> Bool {
    do throws(CSVError) {
      return try scanner.scan()
    } catch {
      if options.header == .firstRow && names == nil { scanner.stop(error) }
      throw error
    }
  }

  /// The row of the last error: its first bytes, the number of all, the line and the byte where it
  /// begins; of use until the next call.
  var faultyRow: (text: [UInt8], count: Int, line: Int, offset: Int) {
    let row = scanner.faultyRow
    return (row.text, row.count, scanner.origin.line, scanner.origin.offset)
  }

  /// Rows of fields between tabulators in which a quoted field has line ends: how many, and the
  /// line of the first.
  var longRows: (count: Int, line: Int) { scanner.longRows }

  private mutating func stopped(_ reason: CSVError.Reason, field: Int?) -> CSVError {
    let error = error(reason, field: field)
    scanner.stop(error)
    return error
  }

  /// Whether the last row, which `error` refuses, lacks its end, as the text does.
  func lacksEnd(_ error: CSVError) -> Bool {
    guard scanner.isAtEnd else { return false }
    return switch error.reason {
    case .unclosedQuote: true
    case .fieldCount(let found, let expected): found < expected && !scanner.endsWithLineEnd
    default: false
    }
  }

  /// Whether there is nothing after what ``next()`` has given.
  var isFinished: Bool { scanner.isFinished }

  /// An error at a field of the last row.
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

  /// How many fields the row shall have; the first row says it where nothing else does.
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
      // The first field too many, or the end of the last.
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

internal import LodestoreBytes
internal import LodestoreEssentials

/// Division of a file's text into pages.
enum PageCutting {
  /// The possible forms of a file.
  enum Form: Sendable {
    case json
    case jsonLines(Int)
    case jsonValues(Int)
    case pagePerLine
    case csv(CSVOptions, Int)
    case columns(Int)

    func cutter() -> any PageCutter {
      switch self {
      case .json: TextCutter()
      case .jsonLines(let count): RecordCutter(count: max(count, 1), cut: .lines)
      case .jsonValues(let count): RecordCutter(count: max(count, 1), cut: .values)
      case .pagePerLine: PageLinesCutter()
      case .csv(let options, let count): CSVCutter(CSVReader(options), count: max(count, 1))
      case .columns(let count): ColumnsCutter(count: max(count, 1))
      }
    }

    /// Whether the cutter decodes the characters of the file itself.
    var isCSV: Bool { if case .csv = self { true } else { false } }
  }
}

/// A page of a file.
struct CutPage: Sendable {
  /// The page as JSON text, without the records that could not be read.
  var content: Data
  var places = PagePlaces()
  /// Whether the page is a line of its file, so that an error in it does not affect the next page.
  var isLine = false
  /// Whether the page is a line without a line end, at the end of its file.
  var isLastLine = false
  /// Whether the page is the whole text of its file.
  var isText = false
  /// The error by which the truncation of the file was detected.
  private(set) var cutError: (any Error)?

  init(_ content: Data) { self.content = content }

  /// Notes that the file is truncated after `offset` bytes of its text.
  mutating func noteCut(after offset: Int, _ error: any Error) {
    cutError = error
    // For one JSON text, its parser finds the incomplete record.
    if !isText { places.noteCut(after: offset, error) }
  }

  private static let noRecords = Data("[]".utf8)

  /// A page of an empty array, for a part of the file in which no record could be read.
  static var empty: CutPage { CutPage(noRecords) }
}

/// Divides a text into pages.
protocol PageCutter {
  mutating func append(_ bytes: [UInt8])
  /// - Parameter isCut: whether the file is truncated, so that its last record may be incomplete.
  mutating func finish(isCut: Bool)
  /// Returns the next page; nil when more bytes are needed, and at the end after `finish`.
  mutating func next() throws -> CutPage?
}

/// The error for a file that is one page and exceeds the maximum size of a page.
struct PageTooLong: Error, CustomStringConvertible {
  let limit: Int

  var description: String {
    "found more than \(limit) bytes in one JSON text, expected fewer; make it JSON Lines"
  }
}

/// Reads a file as one JSON text, without parsing it.
private struct TextCutter: PageCutter {
  private var bytes: [UInt8] = []
  private var isFinished = false
  private var isTaken = false

  mutating func append(_ bytes: [UInt8]) { self.bytes += bytes }
  mutating func finish(isCut _: Bool) { isFinished = true }

  mutating func next() throws -> CutPage? {
    guard let text = try text() else { return nil }
    var page = CutPage(text)
    page.isText = true
    return page
  }

  mutating func text() throws -> Data? {
    guard bytes.count <= FilePages.pageByteLimit else {
      throw PageTooLong(limit: FilePages.pageByteLimit)
    }
    guard isFinished, !isTaken else { return nil }
    defer { bytes = [] }
    isTaken = true
    return Data(bytes)
  }
}

/// Reads lines that are pages, without parsing them.
private struct PageLinesCutter: PageCutter {
  private var lines = JSONLinesReader()

  mutating func append(_ bytes: [UInt8]) { lines.append(bytes) }
  mutating func finish(isCut _: Bool) { lines.finish() }

  mutating func next() throws -> CutPage? {
    do throws(JSONError) {
      guard let text = try lines.nextText() else { return nil }
      var page = CutPage(Data(text))
      page.isLine = true
      page.isLastLine = lines.isAtEnd
      page.places.origin = lines.lastLine.map { .init(offset: $0.offset, line: $0.line) }
      return page
    } catch {
      var page = CutPage.empty
      page.places.refuse(error, lines)
      return page
    }
  }
}

/// Reads records of lines or values, a fixed number to a page.
///
/// Each record is parsed here. Two values on one line are therefore not mistaken for two records,
/// and a fault is known before the record is in a page.
private struct RecordCutter: PageCutter {
  private static let limits = JSONLimits(
    // Two bytes are reserved for the brackets around a line.
    bytes: JSONLimits.standard.bytes - 2, values: JSONLimits.standard.values - 1
  ).ofRecords

  private let count: Int
  private var lines: JSONLinesReader
  /// The line of the last record.
  private var line = 1
  /// The remaining elements of the line when the line is an array.
  private var elements: JSONElements?
  /// The keys of rows, with quotes and colon, if the first line contains column names.
  private var columns: [[UInt8]]?
  private var content: [UInt8] = []
  private var places = PagePlaces.ofRecords
  private var entries = 1
  private var isFinished = false

  init(count: Int, cut: JSONLinesReader.Cut) {
    self.count = count
    lines = JSONLinesReader(limits: Self.limits, cut: cut)
  }

  mutating func append(_ bytes: [UInt8]) { lines.append(bytes) }

  mutating func finish(isCut _: Bool) {
    lines.finish()
    isFinished = true
  }

  mutating func next() throws -> CutPage? {
    while true {
      if places.recordCount >= count { return take() }
      let record: JSONNode
      do throws(JSONError) {
        guard let next = try nextRecord() else { return isFinished ? take() : nil }
        record = next
      } catch {
        places.refuse(error, lines)
        continue
      }
      if let unreadable = UnreadableInput(
        places.recordCount + 1, record, line: line, isFirst: places.unreadable.isEmpty)
      {
        places.unreadable.append(unreadable)
        continue
      }
      let ended: CutPage?
      // A row of another length stays an array, and only this row is rejected.
      if let columns, record.kind == .array, record.count == columns.count {
        var object: [UInt8] = []
        ColumnPage.append(record, columns, to: &object)
        ended = object._withBytes { append($0, record, record.entryCount + columns.count) }
      } else {
        ended = record.withSourceBytes { append($0, record, record.entryCount) }
      }
      if let ended { return ended }
    }
  }

  private mutating func nextRecord() throws(JSONError) -> JSONNode? {
    if let record = elements?.next() { return record }
    elements = nil
    while let line = try lines.next() {
      self.line = line.line
      guard line.root.kind == .array, columns == nil else { return line.root }
      if !line.root.document.hasFaults, let names = line.root.columnNames {
        columns = ColumnPage.keys(of: names)
        continue
      }
      guard line.root.count == 0 || line.root[0]?.kind == .object else { return line.root }
      // A fault outside the elements is an error of the whole line, which is then rejected.
      if let error = line.root.document.faultError(outside: line.root.elements) { throw error }
      elements = line.root.elements
      if let record = elements?.next() { return record }
    }
    return nil
  }

  /// Appends a record; `count` is its number of values and keys.
  ///
  /// - Returns: the page without the record, when the page is full; the record then begins the next
  ///   page.
  private mutating func append(_ bytes: ByteView, _ record: JSONNode, _ count: Int) -> CutPage? {
    let isFull =
      content.count + bytes.count + 2 > FilePages.pageByteLimit
      || entries + count > JSONLimits.standard.values
    let ended = isFull ? take() : nil
    content.append(content.isEmpty ? 0x5B : 0x2C)
    content.append(contentsOf: bytes)
    places.append(offset: record.offset, line: line)
    entries += count
    return ended
  }

  private mutating func take() -> CutPage? {
    guard places.recordCount > 0 else { return nil }
    defer { content.removeAll(keepingCapacity: true) }
    var page = CutPage.empty
    if !content.isEmpty {
      content.append(0x5D)
      page.content = Data(content)
    }
    page.places = places
    places = .ofRecords
    entries = 1
    return page
  }
}

/// Reads rows, a fixed number to a page.
private struct CSVCutter: PageCutter {
  private var reader: CSVReader
  private let count: Int
  private var unreadable: [UnreadableInput] = []
  private var isReported = false
  /// Whether the text ends inside a row; the next page reports it.
  private var isCut = false
  private var failure: CSVError?

  init(_ reader: CSVReader, count: Int) {
    self.reader = reader
    self.count = count
  }

  mutating func append(_ bytes: [UInt8]) { reader.append(bytes) }
  mutating func finish(isCut: Bool) { reader.finish(isCut: isCut) }

  mutating func next() throws -> CutPage? {
    if let failure { throw failure }
    while true {
      do throws(CSVError) {
        // Rows that could not be read count toward the rows of the page.
        guard let content = try reader.nextPage(of: max(count - unreadable.count, 1)) else {
          return reader.isFinished && !unreadable.isEmpty ? page(.empty) : nil
        }
        return page(CutPage(content))
      } catch {
        guard !reader.hasFailed else { throw error }
        let number = reader.page.rows + unreadable.count + 1
        unreadable.append(UnreadableInput(number, error, reader))
        if reader.lacksEnd(error) { isCut = true }
        if reader.page.rows == 0, unreadable.count >= count { return page(.empty) }
      }
    }
  }

  private mutating func page(_ page: CutPage) -> CutPage {
    var page = page
    page.places = .ofRecords
    let rows = page.content.count > 2 ? reader.page.takenPlaces : []
    for row in rows { page.places.append(offset: row.offset, line: row.line) }
    page.places.unreadable = unreadable
    unreadable = []
    let long = reader.longRows
    if long.count > 0, !isReported {
      isReported = true
      page.places.warnings = [PagePlaces.warning(ofQuotedLines: long.line)]
    }
    if isCut { page.places.warnings.append(PagePlaces.cutWarning) }
    isCut = false
    return page
  }
}

/// Reads one page in the column form, some rows at a time.
private struct ColumnsCutter: PageCutter {
  private var text = TextCutter()
  private let count: Int
  private var records: ColumnPage.Records?

  init(count: Int) { self.count = count }

  mutating func append(_ bytes: [UInt8]) { text.append(bytes) }
  mutating func finish(isCut: Bool) { text.finish(isCut: isCut) }

  mutating func next() throws -> CutPage? {
    if let page = try text.text() {
      var records = try ColumnPage(page).records
      // A table without rows is a page without records, like an empty array.
      let first = try records.next(count).map(CutPage.init) ?? .empty
      self.records = records
      return first
    }
    return try records?.next(count).map(CutPage.init)
  }
}

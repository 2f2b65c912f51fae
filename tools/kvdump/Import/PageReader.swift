import EntityStore

/// Divides files into pages.
///
/// A JSON text is a page. A line of JSON Lines is a page if its records are inside the line. In
/// other files a page has a thousand lines, JSON values or rows of CSV. Each of these lines is a
/// record, an array of records or a row. A page of a SQLite database has a thousand rows of one
/// table.
///
/// A line, value or row that cannot be read is noted in its page, and reading continues. The reader
/// holds one page, and the current chunk of the file.
final class PageReader {
  /// The number of records in a page of lines or rows.
  static let linesPerPage = 1000
  /// The limits of a file with one JSON text, which is held in memory as a whole, with 16 bytes for
  /// each of its values.
  private static let textLimits = JSONLimits(bytes: 1 << 30, values: 1 << 26).ofRecords

  /// The maximum amount of white space at the beginning of a file.
  private static let mostBlanks = 16 << 20

  private enum State {
    case new
    case records(JSONLinesReader)
    case csv(DynamicRows, isRead: Bool)
    case table(SQLiteRows)
    case ended
  }

  private let form: InputForm
  private var files: [InputFile]
  private var state = State.new
  /// The text of the current file.
  private var input = DynamicText(isCSV: false)
  private var isInputRead = false
  /// Whether a page already notes that the file is incomplete.
  private var isCutNoted = false
  private var pageNumber = 0
  /// The names from the first line of a file whose lines are rows.
  private var columns: [String]?
  /// Pages read ahead, to be returned again.
  ///
  /// The last element is the next page.
  private var ahead: [RecordPage] = []
  /// The number of bytes read so far.
  private(set) var bytesRead = 0
  /// Called before each chunk is read.
  var willRead: () -> Void = {}
  /// Called before each page is read.
  ///
  /// An error ends the reading.
  var check: () throws -> Void = {}

  init(_ files: [InputFile], form: InputForm) {
    self.files = files.reversed()
    self.form = form
  }

  /// - Parameter path: The path of the records in a page; `nil` if the page itself is the records.
  convenience init(_ files: [InputFile], records path: String?) {
    self.init(files, form: InputForm(records: path))
  }

  /// The next page; `nil` at the end of the last file.
  ///
  /// Throws `malformedPage` for a page that is malformed or has no records. After this error,
  /// reading can continue only if the page is a line or a value of its file.
  func next() throws -> RecordPage? {
    if let page = ahead.popLast() { return page }
    while let file = files.last {
      if let page = try next(in: file) { return page }
      files.removeLast()
      state = .new
    }
    return nil
  }

  /// Reads up to `count` pages, which ``next()`` returns again.
  func sample(_ count: Int) throws -> [RecordPage] {
    var pages: [RecordPage] = []
    while pages.count < count, let page = try next() { pages.append(page) }
    ahead += pages.reversed()
    return pages
  }

  private func next(in file: InputFile) throws -> RecordPage? {
    switch state {
    case .ended: return nil
    case .records(var lines):
      state = .ended
      let page = try nextRecords(&lines, file)
      if page != nil { state = .records(lines) }
      return page
    case .csv(let rows, let isRead):
      state = .ended
      return try nextRows(rows, isRead, file)
    case .table(let rows):
      state = .ended
      return try nextRows(of: rows, file)
    case .new:
      columns = nil
      isInputRead = false
      isCutNoted = false
      if file.isSQLite {
        return try nextRows(of: try SQLiteRows(file.name, table: form.records), file)
      }
      if let options = form.csv(for: file.textName) {
        input = DynamicText(isCSV: true)
        return try nextRows(DynamicRows(options, count: Self.linesPerPage), false, file)
      }
      input = DynamicText(isCSV: false)
      return try start(file)
    }
  }

  // MARK: JSON

  /// Reads the start of a file and decides whether it is one JSON text, or a sequence of lines or
  /// values.
  ///
  /// The decision is made by the file's name, or by the first value and the byte after it.
  private func start(_ file: InputFile) throws -> RecordPage? {
    var head: [UInt8] = []
    let isNamed = ["jsonl", "ndjson"].contains { file.textName.hasSuffix(".\($0)") }
    var cut: JSONLinesReader.Cut? = isNamed ? .lines : nil
    var first = FirstValue()
    while cut == nil, head.count <= Self.textLimits.bytes, let text = try read(file) {
      head += text
      first.search(head)
      guard let start = first.start else {
        guard head.count <= Self.mostBlanks else {
          throw CommandFailure.malformedPage(
            pageNumber + 1, file: file.name,
            reason: "its first \(Self.mostBlanks >> 20) MiB are blank, expected JSON")
        }
        continue
      }
      // A file with an invalid first byte is refused without reading further.
      if !FirstValue.mayBegin(head[start]) { break }
      cut = first.cut(head)
    }
    if let cut {
      var lines = JSONLinesReader(limits: JSONLimits.standard.ofRecords, cut: cut)
      lines.append(head)
      state = .records(lines)
      return try next(in: file)
    }
    let isJSON = first.start.map { FirstValue.mayBegin(head[$0]) } ?? true
    while isJSON, head.count <= Self.textLimits.bytes, let text = try read(file) { head += text }
    state = .ended
    guard first.start != nil else { return nil }
    pageNumber += 1
    do {
      let text = try JSONDocument.parsing(head, limits: Self.textLimits)
      let page = try page(text.root, line: nil, file)
      guard let error = input.cutError else { return page }
      let places = DynamicPlaces(page.content.records.count, cutAfter: head.count, error)
      return self.page(of: page.content.records, places, file)
    } catch let error as JSONError {
      if let page = wholeRecords(of: head, input.cutError ?? error, file) { return page }
      throw malformed(
        error, file, isOther: first.start.map { FirstValue.isWord(head[$0]) } ?? false)
    }
  }

  /// The page of the complete records of a text that ends within them; `nil` if the text has
  /// another fault.
  private func wholeRecords(
    of bytes: [UInt8], _ error: any Error, _ file: InputFile
  ) -> RecordPage? {
    guard !form.isColumns, let text = JSONCutText(bytes) else { return nil }
    for level in 0..<text.depth where level < JSONCutText.mostLevels {
      guard
        let root = try? JSONDocument.parsing(text.whole(at: level), limits: Self.textLimits).root,
        let records = RecordPath.wholeRecords(of: root, form),
        root.document.faultError(outside: records.map(\.node)) == nil
      else { continue }
      // Without a complete record there is nothing to keep, and the page is refused.
      guard !records.isEmpty else { return nil }
      return page(of: records, DynamicPlaces(records.count, of: text, at: level, error), file)
    }
    return nil
  }

  private func nextRecords(
    _ lines: inout JSONLinesReader, _ file: InputFile
  ) throws -> RecordPage? {
    var records: [JSONRecord] = []
    var places = DynamicPlaces.ofLines
    var isFinished = false
    while places.recordCount < Self.linesPerPage {
      do {
        if let line = try lines.next() {
          if isPageOfItsOwn {
            pageNumber += 1
            do {
              return try page(line.root, line: line.line, file)
            } catch let error as JSONError {
              places.refuse(error, lines)
              return page(of: [], places, file)
            }
          }
          try take(line, &records, &places)
          continue
        }
      } catch let error as JSONError {
        places.append(error, lines)
        if isPageOfItsOwn { break }
        continue
      }
      if isFinished { break }
      if let text = try read(file) {
        lines.append(text)
      } else {
        lines.finish()
        isFinished = true
      }
    }
    if isFinished { noteCut(&places) }
    guard places.recordCount > 0 else { return nil }
    pageNumber += 1
    return page(of: records, places, file)
  }

  /// Notes once that the compressed file is incomplete.
  private func noteCut(_ places: inout DynamicPlaces) {
    guard let error = input.cutError, !isCutNoted else { return }
    isCutNoted = true
    places.noteCut(after: input.count, error)
  }

  /// Whether each line or value is a page.
  private var isPageOfItsOwn: Bool { form.records != nil || form.keyName != nil || form.isColumns }

  /// Adds the records of a line or value.
  private func take(
    _ line: JSONLine, _ records: inout [JSONRecord], _ places: inout DynamicPlaces
  ) throws(JSONError) {
    let root = line.root
    let isTable = root.kind == .array && columns == nil
    if isTable, !root.document.hasFaults, let names = root.namesOfColumns {
      columns = names
    } else if isTable, root.count == 0 || root[0]?.kind == .object {
      // A fault outside the elements concerns the whole line.
      if let error = root.document.faultError(outside: root.elements) { throw error }
      let elements = root.arrayRecords
      for record in elements { places.append(record.node, line: line.line) }
      records += elements
    } else {
      places.append(root, line: line.line)
      let names = root.kind == .array ? columns : nil
      records.append(names.map { .row(names: $0, values: root) } ?? .object(root))
    }
  }

  /// The page for a text.
  ///
  /// Throws a `JSONError` for a fault outside the records.
  private func page(_ root: JSONNode, line: Int?, _ file: InputFile) throws -> RecordPage {
    if form.records == nil, form.keyName == nil, !form.isColumns {
      do {
        if let records = try FeatureCollection.records(of: root) {
          let document = try JSONDocument.parsing(records, limits: Self.textLimits)
          return page(
            of: document.root.arrayRecords, line.map { DynamicPlaces(line: $0) } ?? .init(), file)
        }
      } catch let error as FeatureError {
        throw malformed(error, file)
      }
    }
    let places = line.map { DynamicPlaces(line: $0) } ?? DynamicPlaces()
    if form.isColumns {
      do {
        return page(of: try ColumnPage(root).jsonRecords, places, file)
      } catch {
        throw malformed(error, file)
      }
    }
    guard let records = RecordPath.records(of: root, form) else {
      if let error = root.faultError { throw error }
      throw CommandFailure.pageWithoutRecords(
        pageNumber, file: file.name, line: line, form, candidates: RecordPath.candidates(in: root))
    }
    if root.document.hasFaults,
      let error = root.document.faultError(outside: records.map(\.node))
    {
      throw error
    }
    return page(of: records, places, file)
  }

  private func page(
    of records: [JSONRecord], _ places: DynamicPlaces, _ file: InputFile, isText: Bool = false
  ) -> RecordPage {
    var places = places
    places.note(file: file.name)
    return RecordPage(
      number: pageNumber, file: file.name,
      content: DynamicPage(records, places: places, isText: isText))
  }

  // MARK: Tables

  private func nextRows(of rows: SQLiteRows, _ file: InputFile) throws -> RecordPage? {
    willRead()
    try check()
    guard let text = try rows.next(count: Self.linesPerPage) else { return nil }
    pageNumber += 1
    bytesRead += text.count
    state = .table(rows)
    let names = rows.columns
    let table = try JSONDocument.parsing(text, limits: Self.textLimits)
    let records = table.root.elements.map { JSONRecord.row(names: names, values: $0) }
    return page(of: records, DynamicPlaces(), file)
  }

  // MARK: CSV

  private func nextRows(
    _ rows: DynamicRows, _ isRead: Bool, _ file: InputFile
  ) throws -> RecordPage? {
    var rows = rows
    var isRead = isRead
    do {
      while true {
        if var cut = try rows.next() {
          pageNumber += 1
          if cut.places.endsCut { noteCut(&cut.places) }
          state = .csv(rows, isRead: isRead)
          let records = try JSONDocument.parsing(cut.content).root.elements.map(Self.record)
          return page(of: records, cut.places, file, isText: true)
        }
        if isRead {
          var places = DynamicPlaces.ofLines
          noteCut(&places)
          guard places.recordCount > 0 else { return nil }
          pageNumber += 1
          state = .csv(rows, isRead: isRead)
          return page(of: [], places, file, isText: true)
        }
        if let text = try read(file) {
          rows.append(text)
        } else {
          rows.finish(isCut: input.cutError != nil)
          isRead = true
        }
      }
    } catch let error as CSVError {
      pageNumber += 1
      throw malformed(error, file)
    }
  }

  /// A row, keyed by the names of the columns, or by their numbers if they have no names.
  private static func record(_ row: JSONNode) -> JSONRecord {
    guard row.kind == .array else { return .object(row) }
    return .row(names: (0..<row.count).map { "column\($0 + 1)" }, values: row)
  }

  /// - Parameter isOther: Whether the file begins with a word, as separated values do.
  private func malformed(
    _ error: any Error, _ file: InputFile, isOther: Bool = false
  ) -> CommandFailure {
    CommandFailure.malformedPage(
      pageNumber, file: file.name,
      reason: "\(error)\(isOther ? "; --csv reads separated values" : "")")
  }

  /// The next part of the file's text; `nil` at the end.
  private func read(_ file: InputFile) throws -> [UInt8]? {
    while true {
      do {
        if let text = try input.next() { return text }
      } catch {
        pageNumber += 1
        throw malformed(error, file)
      }
      if isInputRead { return nil }
      willRead()
      try check()
      if let chunk = try file.read() {
        bytesRead += chunk.count
        input.append(chunk)
      } else {
        input.finish()
        isInputRead = true
      }
    }
  }
}

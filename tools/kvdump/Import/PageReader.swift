import EntityStore

/// Cuts files into pages: each JSON text is a page, and so is each line of JSON Lines where the
/// records are inside the lines; lines that are records themselves, arrays of them or rows, and
/// rows of CSV, come a thousand a page.
///
/// Memory: one page, and the chunk of the file that is being read.
final class PageReader {
  /// The number of records in a page of lines or rows.
  static let linesPerPage = 1000
  /// A file of one JSON text is in memory as a whole, with 16 bytes for each value in it.
  private static let textLimits = JSONLimits(bytes: 1 << 30, values: 1 << 26).ofRecords

  /// So many blanks at the beginning of a file are no records that are still to come.
  private static let mostBlanks = 16 << 20

  private enum State {
    case new
    case lines(JSONLinesReader)
    case csv(any PageCutter, isRead: Bool)
    case ended
  }

  private let form: InputForm
  private var files: [InputFile]
  private var state = State.new
  private var pageNumber = 0
  /// The names that the first of a file's lines has, where its lines are rows.
  private var columns: [String]?
  /// Read ahead, to be given again; the next is the last.
  private var ahead: [RecordPage] = []
  /// Bytes read so far.
  private(set) var bytesRead = 0
  /// Which file each page was in.
  let pageFiles = PageFiles()
  /// Called before each chunk is read.
  var willRead: () -> Void = {}
  /// Called before each page is read; what it throws ends the reading.
  var check: () throws -> Void = {}

  init(_ files: [InputFile], form: InputForm) {
    self.files = files.reversed()
    self.form = form
  }

  /// - Parameter path: where a page has its records; nil when the page is the records.
  convenience init(_ files: [InputFile], records path: String?) {
    self.init(files, form: InputForm(records: path))
  }

  /// The next page, or nil at the end of the last file.
  ///
  /// A page that is malformed or has no records throws `malformedPage`, and there is no going on.
  func next() throws -> RecordPage? {
    if let page = ahead.popLast() { return page }
    while let file = files.last {
      if let page = try next(in: file) {
        pageFiles.note(page.number, file.name)
        return page
      }
      files.removeLast()
      state = .new
    }
    return nil
  }

  /// The next pages, at most `count`, which ``next()`` gives again.
  func sample(_ count: Int) throws -> [RecordPage] {
    var pages: [RecordPage] = []
    while pages.count < count, let page = try next() { pages.append(page) }
    ahead += pages.reversed()
    return pages
  }

  private func next(in file: InputFile) throws -> RecordPage? {
    switch state {
    case .ended: return nil
    case .lines(var lines):
      state = .ended
      let page = try nextLines(&lines, file)
      if page != nil { state = .lines(lines) }
      return page
    case .csv(let cutter, let isRead):
      state = .ended
      return try nextRows(cutter, isRead, file)
    case .new:
      columns = nil
      if let options = form.csv(for: file.name) {
        let cutter = PageCutting.Form.csv(options, Self.linesPerPage).cutter()
        return try nextRows(cutter, false, file)
      }
      return try start(file)
    }
  }

  // MARK: JSON

  /// Tells JSON Lines from one JSON text: by the name, or by whether the first line is a whole
  /// value with more behind it.
  private func start(_ file: InputFile) throws -> RecordPage? {
    var head: [UInt8] = []
    var isLines = file.name.hasSuffix(".jsonl") || file.name.hasSuffix(".ndjson")
    var first = LineSearch()
    while !isLines, head.count <= Self.textLimits.bytes, let chunk = try read(file) {
      head += chunk
      guard first.start(in: head) != nil || head.count <= Self.mostBlanks else {
        throw CommandFailure.malformedPage(
          pageNumber + 1, file: file.name,
          reason: "its first \(Self.mostBlanks >> 20) MiB are blank, expected JSON")
      }
      // A wrong first byte is refused without reading on.
      if let start = first.start(in: head), !Self.mayBegin(head[start]) { break }
      // Only when there is more behind the first line does it tell anything.
      guard let end = first.end(in: head), first.isFollowed(from: end, in: head) else { continue }
      isLines =
        (try? JSONDocument.parsing(head[..<end], limits: JSONLimits.standard.ofRecords)) != nil
      break
    }
    if isLines {
      var lines = JSONLinesReader(limits: JSONLimits.standard.ofRecords)
      lines.append(head)
      state = .lines(lines)
      return try next(in: file)
    }
    let isJSON = first.start(in: head).map { Self.mayBegin(head[$0]) } ?? true
    while isJSON, head.count <= Self.textLimits.bytes, let chunk = try read(file) { head += chunk }
    state = .ended
    guard first.start(in: head) != nil else { return nil }
    pageNumber += 1
    do {
      let text = try JSONDocument.parsing(head, limits: Self.textLimits)
      head = []
      return try page(text.root, line: nil, file)
    } catch let error as JSONError {
      throw malformed(error, file)
    }
  }

  /// Whether a JSON text may begin so; the first byte of a byte order mark is refused by the parser
  /// with better words.
  private static func mayBegin(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""), UInt8(ascii: "-"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "t"), UInt8(ascii: "f"),
      UInt8(ascii: "n"):
      true
    default: false
    }
  }

  private func nextLines(
    _ lines: inout JSONLinesReader, _ file: InputFile
  ) throws -> RecordPage? {
    var records: [JSONRecord] = []
    do {
      while records.count < Self.linesPerPage {
        guard let line = try lines.next() else {
          guard let chunk = try read(file) else {
            lines.finish()
            guard let last = try lines.next() else { break }
            if let page = try take(last, &records, file) { return page }
            continue
          }
          lines.append(chunk)
          continue
        }
        if let page = try take(line, &records, file) { return page }
      }
    } catch let error as JSONError {
      pageNumber += 1
      throw malformed(error, file)
    }
    guard !records.isEmpty else { return nil }
    pageNumber += 1
    return RecordPage(number: pageNumber, file: file.name, content: DynamicPage(records))
  }

  /// A line is a page of its own where records are inside it, and else one of `records`.
  private func take(
    _ line: JSONLine, _ records: inout [JSONRecord], _ file: InputFile
  ) throws -> RecordPage? {
    guard form.records == nil, form.keyName == nil, !form.isColumns else {
      pageNumber += 1
      return try page(line.root, line: line.line, file)
    }
    if line.root.kind != .array {
      records.append(.object(line.root))
    } else if let columns {
      records.append(.row(names: columns, values: line.root))
    } else if let names = line.root.namesOfColumns {
      columns = names
    } else if line.root.count == 0 || line.root[0]?.kind == .object {
      records += line.root.arrayRecords
    } else {
      records.append(.object(line.root))
    }
    return nil
  }

  private func page(_ root: JSONNode, line: Int?, _ file: InputFile) throws -> RecordPage {
    if form.isColumns {
      do {
        let records = try ColumnPage(root).jsonRecords
        return RecordPage(number: pageNumber, file: file.name, content: DynamicPage(records))
      } catch {
        throw malformed(error, file)
      }
    }
    guard let records = RecordPath.records(of: root, form) else {
      throw CommandFailure.pageWithoutRecords(
        pageNumber, file: file.name, line: line, form,
        candidates: RecordPath.candidates(in: root))
    }
    if root.document.hasEquivalentKeys,
      let error = root.document.equivalentKeyError(outside: records.map(\.node))
    {
      throw malformed(error, file)
    }
    return RecordPage(number: pageNumber, file: file.name, content: DynamicPage(records))
  }

  // MARK: CSV

  private func nextRows(
    _ cutter: any PageCutter, _ isRead: Bool, _ file: InputFile
  ) throws -> RecordPage? {
    var cutter = cutter
    var isRead = isRead
    do {
      while true {
        if let text = try cutter.next() {
          pageNumber += 1
          state = .csv(cutter, isRead: isRead)
          let records = try JSONDocument.parsing(text).root.elements.map(Self.record)
          return RecordPage(
            number: pageNumber, file: file.name,
            content: DynamicPage(records, offsets: cutter.recordOffsets, isText: true))
        }
        if isRead { return nil }
        if let chunk = try read(file) {
          cutter.append(chunk)
        } else {
          cutter.finish()
          isRead = true
        }
      }
    } catch let error as CSVError {
      pageNumber += 1
      throw malformed(error, file)
    }
  }

  /// A row by the names of the columns, or by their numbers where they have no names.
  private static func record(_ row: JSONNode) -> JSONRecord {
    guard row.kind == .array else { return .object(row) }
    return .row(names: (0..<row.count).map { "column\($0 + 1)" }, values: row)
  }

  private func malformed(_ error: any Error, _ file: InputFile) -> CommandFailure {
    CommandFailure.malformedPage(pageNumber, file: file.name, reason: "\(error)")
  }

  private func read(_ file: InputFile) throws -> [UInt8]? {
    willRead()
    try check()
    let chunk = try file.read()
    bytesRead += chunk?.count ?? 0
    return chunk
  }
}

/// Finds the first line that is not blank in bytes that grow, looking at each byte once.
private struct LineSearch {
  private var searched = 0
  private var start: Int?
  /// Behind the line and the blanks that follow it.
  private var blankEnd = 0

  /// The first byte that is not blank.
  mutating func start(in bytes: [UInt8]) -> Int? {
    if start == nil {
      start = bytes[searched...].firstIndex { $0 != 0x20 && !(0x09...0x0D).contains($0) }
      searched = start ?? bytes.count
    }
    return start
  }

  /// Behind the line; nil when it has not ended yet.
  mutating func end(in bytes: [UInt8]) -> Int? {
    guard start(in: bytes) != nil else { return nil }
    let end = bytes[searched...].firstIndex(of: 0x0A)
    searched = end ?? bytes.count
    return end
  }

  /// Whether there is more than blanks behind the line that ends at `end`.
  mutating func isFollowed(from end: Int, in bytes: [UInt8]) -> Bool {
    let next = bytes[max(end, blankEnd)...].firstIndex { $0 > 0x20 }
    blankEnd = next ?? bytes.count
    return next != nil
  }
}

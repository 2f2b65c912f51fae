import EntityStore

/// Cuts files into pages: each JSON text is a page, and so is each line of JSON Lines where the
/// records are inside the lines; lines that are records themselves come a thousand a page.
///
/// Memory: one page, and the chunk of the file that is being read.
final class PageReader {
  /// Lines that are records and go into one transaction.
  static let linesPerPage = 1000
  /// A text that is one value is in memory as a whole, with 16 bytes for each value in it.
  private static let textLimits = JSONLimits(bytes: 1 << 30, values: 1 << 26)

  private enum Form {
    case unknown
    case lines(JSONLinesReader)
    case ended
  }

  private let path: String?
  private var files: [InputFile]
  private var form = Form.unknown
  private var pageNumber = 0
  /// Bytes read so far.
  private(set) var bytesRead = 0
  /// Which file each page was in.
  let pageFiles = PageFiles()
  /// Called before each page is read.
  var willRead: () -> Void = {}

  /// - Parameter path: where a page has its records; nil when the page is the records.
  init(_ files: [InputFile], records path: String?) {
    self.files = files.reversed()
    self.path = path
  }

  /// The next page, or nil at the end of the last file.
  ///
  /// A page that is no JSON or has no records throws `malformedPage`; there is no going on after it.
  func next() throws -> RecordPage? {
    willRead()
    while let file = files.last {
      if let page = try next(in: file) {
        pageFiles.note(page.number, file.name)
        return page
      }
      files.removeLast()
      form = .unknown
    }
    return nil
  }

  private func next(in file: InputFile) throws -> RecordPage? {
    switch form {
    case .ended: return nil
    case .lines(var lines):
      form = .ended
      let page = try nextLines(&lines, file)
      if page != nil { form = .lines(lines) }
      return page
    case .unknown: return try start(file)
    }
  }

  /// Tells JSON Lines from one JSON text: by the name, or by whether the first line is a whole
  /// value with more behind it.
  private func start(_ file: InputFile) throws -> RecordPage? {
    var head: [UInt8] = []
    var isLines = file.name.hasSuffix(".jsonl") || file.name.hasSuffix(".ndjson")
    while !isLines, head.count <= Self.textLimits.bytes, let chunk = try read(file) {
      head += chunk
      // Only when there is more behind the first line does it tell anything.
      guard let end = Self.lineEnd(head), head[end...].contains(where: { $0 > 0x20 }) else {
        continue
      }
      isLines = Self.isValue(head[..<end])
      break
    }
    if isLines {
      var lines = JSONLinesReader()
      lines.append(head)
      form = .lines(lines)
      return try next(in: file)
    }
    while head.count <= Self.textLimits.bytes, let chunk = try read(file) { head += chunk }
    form = .ended
    guard head.contains(where: { $0 > 0x20 }) else { return nil }
    pageNumber += 1
    do {
      let text = try JSONDocument.parsing(head, limits: Self.textLimits)
      head = []
      return try page(text.root, line: nil, file)
    } catch let error as JSONError {
      throw CommandFailure.malformedPage(pageNumber, file: file.name, reason: "\(error)")
    }
  }

  /// Behind a first line that is not blank; nil when there is no line end yet.
  private static func lineEnd(_ bytes: [UInt8]) -> Int? {
    guard let start = bytes.firstIndex(where: { $0 > 0x20 }) else { return nil }
    return bytes[start...].firstIndex(of: 0x0A)
  }

  private static func isValue(_ bytes: ArraySlice<UInt8>) -> Bool {
    (try? JSONDocument.parsing(bytes)) != nil
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
      throw CommandFailure.malformedPage(pageNumber, file: file.name, reason: "\(error)")
    }
    guard !records.isEmpty else { return nil }
    pageNumber += 1
    return RecordPage(number: pageNumber, file: file.name, records: records)
  }

  /// A line is a page of its own where records are inside it, and else one of `records`.
  private func take(
    _ line: JSONLine, _ records: inout [JSONRecord], _ file: InputFile
  ) throws -> RecordPage? {
    guard path == nil else {
      pageNumber += 1
      return try page(line.root, line: line.line, file)
    }
    records.append(.object(line.root))
    return nil
  }

  private func page(_ root: JSONNode, line: Int?, _ file: InputFile) throws -> RecordPage {
    guard let records = RecordPath.records(of: root, path: path) else {
      throw CommandFailure.pageWithoutRecords(
        pageNumber, file: file.name, line: line, path: path ?? "",
        candidates: RecordPath.candidates(in: root))
    }
    return RecordPage(number: pageNumber, file: file.name, records: records)
  }

  private func read(_ file: InputFile) throws -> [UInt8]? {
    let chunk = try file.read()
    bytesRead += chunk?.count ?? 0
    return chunk
  }
}

/// The places of a page's records in its file, and the records that could not be read.
struct PagePlaces: Sendable {
  /// The path of the file; nil when the page does not come from a file.
  var file: String?
  /// The start of the page's text in the file, if the page is a part of it.
  var origin: JSONPosition.Origin?
  /// The offset of each readable record in the file; nil when the offsets in the page's text are
  /// already those of the file.
  private(set) var offsets: [Int]?
  /// The line of each readable record; nil when lines are unknown.
  private(set) var lines: [Int]?
  /// The records that could not be read, in the order of their numbers.
  var unreadable: [UnreadableInput] = []
  /// Warnings about the imported file, for example that it is truncated.
  var warnings: [String] = []

  init() {}

  /// The initial places for records that are added one at a time.
  static var ofRecords: PagePlaces {
    var places = ofLines
    places.offsets = []
    return places
  }

  /// The initial places for records whose nodes have their offsets in the file.
  static var ofLines: PagePlaces {
    var places = PagePlaces()
    places.lines = []
    return places
  }

  /// The places for a page that is a line, and whose nodes have their offsets in the file.
  static func ofPage(line: Int) -> PagePlaces {
    var places = PagePlaces()
    places.origin = .init(offset: 0, line: line)
    return places
  }

  /// The number of added and of unreadable records.
  var recordCount: Int { (lines?.count ?? 0) + unreadable.count }

  /// The numbers of the first `count` readable records, counted with the unreadable ones.
  func numbers(of count: Int) -> [Int] {
    var numbers: [Int] = []
    numbers.reserveCapacity(count)
    var gaps = unreadable[...]
    var number = 1
    while numbers.count < count {
      if gaps.first?.record == number {
        gaps.removeFirst()
      } else {
        numbers.append(number)
      }
      number += 1
    }
    return numbers
  }

  /// Adds a readable record.
  mutating func append(offset: Int, line: Int) {
    offsets?.append(offset)
    lines?.append(line)
  }

  /// The offset in the file of a readable record; `number` counts only readable records.
  func offset(of number: Int, inPage offset: Int?) -> Int? {
    if let offsets { return offsets[number - 1] }
    return offset.map { $0 + (origin?.offset ?? 0) }
  }

  /// The line of a readable record; `number` counts only readable records.
  func line(of number: Int) -> Int? { lines?[number - 1] ?? origin?.line }

  /// The report's warning about a truncated file.
  static let cutWarning =
    "the text ends within its records, as after an interrupted transfer; fetch it and import it again"

  /// Adds the line or value that `lines` refused last.
  mutating func refuse(_ error: JSONError, _ lines: JSONLinesReader) {
    unreadable.append(UnreadableInput(recordCount + 1, error, lines))
    if lines.endsCut { warnings.append(Self.cutWarning) }
  }

  /// Notes that the file is truncated; adds an unreadable record for it, unless the last unreadable
  /// record is the truncated one.
  mutating func noteCut(after offset: Int, _ error: any Error) {
    if !warnings.contains(Self.cutWarning) { warnings.append(Self.cutWarning) }
    guard unreadable.isEmpty || unreadable.last?.record != recordCount else { return }
    unreadable.append(UnreadableInput(recordCount + 1, endOf: offset, error))
  }

  /// Whether the last record is a row that is truncated together with the file.
  var endsCut: Bool {
    unreadable.last?.record == recordCount
      && (unreadable.last?.error as? CSVError)?.reason == .unexpectedEnd
  }

  /// The report's warning about a quoted field over several lines in tab-separated values.
  static func warning(ofQuotedLines line: Int) -> String {
    "line \(line): a quoted field extends over several lines, which is rare in a file with tabs "
      + "between the fields; if quotes are ordinary characters in the file, read it without quotes"
  }
}

/// A record that could not be read, although its end is known.
struct UnreadableInput: Sendable {
  /// The maximum number of bytes kept of a record.
  static let keptBytes = CSVScanner.keptBytes

  /// The record's number in the page, counted from 1.
  let record: Int
  /// The line on which the record begins, counted from 1; nil when it is unknown.
  let line: Int?
  /// The offset of the record in the file, in bytes.
  let offset: Int
  /// The reason why the record could not be read, as a clause.
  let reason: String
  /// The first bytes of the record's text, at most ``keptBytes``.
  let content: [UInt8]
  /// The error to throw when reading cannot continue without the record.
  let error: any Error

  init(
    record: Int, line: Int?, offset: Int, reason: String, content: some Sequence<UInt8>,
    error: any Error
  ) {
    self.record = record
    self.line = line
    self.offset = offset
    self.reason = reason
    self.content = Array(content.prefix(Self.keptBytes))
    self.error = error
  }

  /// Describes a line or a value that is not JSON.
  init(_ record: Int, _ error: JSONError, _ lines: JSONLinesReader) {
    let last = lines.lastLine
    self.init(
      record: record, line: last?.line ?? error.position.line,
      offset: last?.offset ?? error.position.offset, reason: "\(error)",
      content: last?.text ?? [], error: error)
  }

  /// Describes a record with a faulty value; nil when all values are correct.
  ///
  /// - Parameter isFirst: whether the record is the first faulty one of its page. Only its error
  ///   has line and column, because finding them takes time in a long text.
  init?(_ record: Int, _ node: JSONNode, line: Int?, isFirst: Bool) {
    guard node.document.hasFaults, let rejection = node.faultRejection else { return nil }
    let error: (any Error)? = isFirst ? node.faultError : nil
    self.init(
      record: record, line: line, offset: rejection.offset, reason: rejection.reason,
      content: rejection.content ?? [], error: error ?? rejection)
  }

  /// Describes the rest of a truncated text after its last complete record.
  ///
  /// - Parameter level: the level of the array or object of records, counted from the outermost.
  init(_ record: Int, _ text: JSONCutText, at level: Int, _ error: any Error) {
    let offset = text.restOffset(at: level)
    self.init(
      record: record, line: text.line(at: offset), offset: offset, reason: "\(error)",
      content: text.rest(at: level), error: error)
  }

  /// Describes the end of a file that is truncated after `offset` bytes of its text.
  init(_ record: Int, endOf offset: Int, _ error: any Error) {
    self.init(
      record: record, line: nil, offset: offset, reason: "\(error)", content: [], error: error)
  }

  /// Describes a row that violates the options.
  init(_ record: Int, _ error: CSVError, _ reader: CSVReader) {
    let row = reader.faultyRow
    self.init(
      record: record, line: row.line, offset: row.offset, reason: "\(error)", content: row.text,
      error: error)
  }
}

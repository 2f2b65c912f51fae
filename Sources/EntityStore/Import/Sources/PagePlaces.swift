/// Where the records of a page are in its file, and which of them could not be read.
struct PagePlaces: Sendable {
  /// The file; nil where the page is of none.
  var file: String?
  /// Where the page's own text begins in the file, where it is a part of it.
  var origin: JSONPosition.Origin?
  /// The first byte of each record that could be read; nil where the page's text is the file's.
  private(set) var offsets: [Int]?
  /// The line of each; nil where that is not known.
  private(set) var lines: [Int]?
  /// Records that could not be read, by their numbers.
  var unreadable: [UnreadableInput] = []
  /// Facts about the file that a person should know.
  var warnings: [String] = []

  init() {}

  /// For records that are added one at a time.
  static var ofRecords: PagePlaces {
    var places = ofLines
    places.offsets = []
    return places
  }

  /// Places of records whose nodes have their offsets in the file.
  static var ofLines: PagePlaces {
    var places = PagePlaces()
    places.lines = []
    return places
  }

  /// For a page that is a line, whose nodes have their offsets in the file.
  static func ofPage(line: Int) -> PagePlaces {
    var places = PagePlaces()
    places.origin = .init(offset: 0, line: line)
    return places
  }

  /// Records that were added, and those that could not be read.
  var recordCount: Int { (lines?.count ?? 0) + unreadable.count }

  /// The numbers of the records that could be read, up to `count` of them.
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

  /// Adds a record that could be read.
  mutating func append(offset: Int, line: Int) {
    offsets?.append(offset)
    lines?.append(line)
  }

  /// The offset in the file of a record that could be read, by its number among these.
  func offset(of number: Int, inPage offset: Int?) -> Int? {
    if let offsets { return offsets[number - 1] }
    return offset.map { $0 + (origin?.offset ?? 0) }
  }

  /// The line of the same.
  func line(of number: Int) -> Int? { lines?[number - 1] ?? origin?.line }

  /// The report's warning of a file that lacks its end.
  static let cutWarning =
    "the text ends within its records, as after a transfer that was cut; fetch it and import it again"

  /// Adds the line or value that `lines` has refused last.
  mutating func refuse(_ error: JSONError, _ lines: JSONLinesReader) {
    unreadable.append(UnreadableInput(recordCount + 1, error, lines))
    if lines.endsCut { warnings.append(Self.cutWarning) }
  }

  /// Notes that the file lacks its end, by a record that could not be read where none says so yet.
  mutating func noteCut(after offset: Int, _ error: any Error) {
    if !warnings.contains(Self.cutWarning) { warnings.append(Self.cutWarning) }
    guard unreadable.isEmpty || unreadable.last?.record != recordCount else { return }
    unreadable.append(UnreadableInput(recordCount + 1, endOf: offset, error))
  }

  /// Whether the last record is a row that lacks its end, as the file does.
  var endsCut: Bool {
    unreadable.last?.record == recordCount
      && (unreadable.last?.error as? CSVError)?.reason == .unexpectedEnd
  }

  /// The report's warning of a quoted field over several lines between tabulators.
  static func warning(ofQuotedLines line: Int) -> String {
    "line \(line): a field in quotes goes over several lines, in a file of tabulators, which seldom "
      + "has quoted fields; where quotes are characters there, read it without quotes"
  }
}

/// A record that could not be read, although its end is known.
struct UnreadableInput: Sendable {
  /// The most bytes that are kept of a record.
  static let keptBytes = CSVScanner.keptBytes

  /// Its number in the page, from 1.
  let record: Int
  /// From 1.
  let line: Int?
  /// From the start of the file.
  let offset: Int
  /// Why, as a clause.
  let reason: String
  /// Its first bytes.
  let content: [UInt8]
  /// The error of whoever cannot go on without the record.
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

  /// A line, or a value, that is no JSON.
  init(_ record: Int, _ error: JSONError, _ lines: JSONLinesReader) {
    let last = lines.lastLine
    self.init(
      record: record, line: last?.line ?? error.position.line,
      offset: last?.offset ?? error.position.offset, reason: "\(error)",
      content: last?.text ?? [], error: error)
  }

  /// A record with a value that is at fault; nil where none is.
  ///
  /// - Parameter isFirst: whether the record is the first such one of its page, whose error has line
  ///   and column; these take time in a long text.
  init?(_ record: Int, _ node: JSONNode, line: Int?, isFirst: Bool) {
    guard node.document.hasFaults, let rejection = node.faultRejection else { return nil }
    let error: (any Error)? = isFirst ? node.faultError : nil
    self.init(
      record: record, line: line, offset: rejection.offset, reason: rejection.reason,
      content: rejection.content ?? [], error: error ?? rejection)
  }

  /// The part of a text from its last whole record on, where the text ends within its records.
  ///
  /// - Parameter level: of the array or object that has the records, from the outermost.
  init(_ record: Int, _ text: JSONCutText, at level: Int, _ error: any Error) {
    let offset = text.restOffset(at: level)
    self.init(
      record: record, line: text.line(at: offset), offset: offset, reason: "\(error)",
      content: text.rest(at: level), error: error)
  }

  /// The end of a file that lacks the rest, after `offset` bytes of its text.
  init(_ record: Int, endOf offset: Int, _ error: any Error) {
    self.init(
      record: record, line: nil, offset: offset, reason: "\(error)", content: [], error: error)
  }

  /// A row that is not as the options say.
  init(_ record: Int, _ error: CSVError, _ reader: CSVReader) {
    let row = reader.faultyRow
    self.init(
      record: record, line: row.line, offset: row.offset, reason: "\(error)", content: row.text,
      error: error)
  }
}

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// Cuts the bytes of a file into pages.
package enum PageCutting {
  /// What a file holds.
  package enum Form: Sendable {
    case json
    case jsonLines(Int)
    case pagePerLine
    case csv(CSVOptions, Int)
    case columns(Int)

    package func cutter() -> any PageCutter {
      switch self {
      case .json: TextCutter()
      case .jsonLines(let count): LinesCutter(count: max(count, 1))
      case .pagePerLine: PageLinesCutter()
      case .csv(let options, let count): CSVCutter(CSVReader(options), count: max(count, 1))
      case .columns(let count): ColumnsCutter(count: max(count, 1))
      }
    }
  }
}

/// Takes bytes and gives pages.
package protocol PageCutter {
  mutating func append(_ bytes: [UInt8])
  mutating func finish()
  /// The next page; nil when more bytes are needed or, after `finish`, at the end.
  mutating func next() throws -> Data?
  /// Where each record of the last page begins in the file, in bytes; nil where the page is not
  /// made of records.
  var recordOffsets: [Int]? { get }
}

extension PageCutter {
  package var recordOffsets: [Int]? { nil }
}

/// A whole file is longer than a page may be.
struct PageTooLong: Error, CustomStringConvertible {
  let limit: Int

  var description: String {
    "found more than \(limit) bytes in one JSON text, expected fewer; make it JSON Lines"
  }
}

/// One JSON text, not parsed here.
private struct TextCutter: PageCutter {
  private var bytes: [UInt8] = []
  private var isFinished = false
  private var isTaken = false

  mutating func append(_ bytes: [UInt8]) { self.bytes += bytes }
  mutating func finish() { isFinished = true }

  mutating func next() throws -> Data? {
    guard bytes.count <= FilePages.pageByteLimit else {
      throw PageTooLong(limit: FilePages.pageByteLimit)
    }
    guard isFinished, !isTaken else { return nil }
    defer { bytes = [] }
    isTaken = true
    return Data(bytes)
  }
}

/// Lines that are pages, not parsed here.
private struct PageLinesCutter: PageCutter {
  private var lines = JSONLinesReader()

  mutating func append(_ bytes: [UInt8]) { lines.append(bytes) }
  mutating func finish() { lines.finish() }
  mutating func next() throws -> Data? { try lines.nextText().map { Data($0) } }
}

/// So many lines to a page.
///
/// Every line is parsed, so that two values on one line are not taken for two records, and so that
/// an error has its position in the file.
private struct LinesCutter: PageCutter {
  private static let limits = JSONLimits(
    // Room for the brackets around a line.
    bytes: JSONLimits.standard.bytes - 2, values: JSONLimits.standard.values - 1
  ).ofRecords

  private let count: Int
  private var lines = JSONLinesReader(limits: Self.limits)
  /// The part of a line that has not been read yet, where the line is an array of records.
  private var elements: JSONElements?
  /// The keys of rows, with quotes and colon, where the first line has the names of columns.
  private var columns: [[UInt8]]?
  private var page: [UInt8] = []
  private var records = 0
  private var entries = 1
  private var isFinished = false

  init(count: Int) { self.count = count }

  mutating func append(_ bytes: [UInt8]) { lines.append(bytes) }

  mutating func finish() {
    lines.finish()
    isFinished = true
  }

  mutating func next() throws -> Data? {
    while let record = try nextRecord() {
      let ended: Data?
      // A row of another length stays what it is, and is rejected alone.
      if let columns, record.kind == .array, record.count == columns.count {
        var object: [UInt8] = []
        ColumnPage.append(record, columns, to: &object)
        ended = object.withUnsafeBytes { append($0, record.entryCount + columns.count) }
      } else {
        ended = record.withSourceBytes { append($0, record.entryCount) }
      }
      if let ended { return ended }
    }
    return isFinished ? take() : nil
  }

  private mutating func nextRecord() throws -> JSONNode? {
    if let record = elements?.next() { return record }
    elements = nil
    while let line = try lines.next() {
      guard line.root.kind == .array, columns == nil else { return line.root }
      if let names = line.root.columnNames {
        columns = ColumnPage.keys(of: names)
        continue
      }
      guard line.root.count == 0 || line.root[0]?.kind == .object else { return line.root }
      elements = line.root.elements
      if let record = elements?.next() { return record }
    }
    return nil
  }

  /// Adds a record with this number of values and of keys.
  ///
  /// - Returns: the page without the record, when that is full; the record then begins the next.
  private mutating func append(_ bytes: UnsafeRawBufferPointer, _ count: Int) -> Data? {
    let isFull =
      records >= self.count || page.count + bytes.count + 2 > FilePages.pageByteLimit
      || entries + count > JSONLimits.standard.values
    let ended = isFull ? take() : nil
    page.append(records == 0 ? 0x5B : 0x2C)
    page.append(contentsOf: bytes)
    records += 1
    entries += count
    return ended
  }

  private mutating func take() -> Data? {
    guard records > 0 else { return nil }
    page.append(0x5D)
    defer { page.removeAll(keepingCapacity: true) }
    records = 0
    entries = 1
    return Data(page)
  }
}

/// So many rows to a page.
private struct CSVCutter: PageCutter {
  private var reader: CSVReader
  private let count: Int

  init(_ reader: CSVReader, count: Int) {
    self.reader = reader
    self.count = count
  }

  mutating func append(_ bytes: [UInt8]) { reader.append(bytes) }
  mutating func finish() { reader.finish() }
  mutating func next() throws -> Data? { try reader.nextPage(of: count) }
  var recordOffsets: [Int]? { reader.page.takenOffsets }
}

/// One page in the column form, so many rows at a time.
private struct ColumnsCutter: PageCutter {
  private var text = TextCutter()
  private let count: Int
  private var records: ColumnPage.Records?

  init(count: Int) { self.count = count }

  mutating func append(_ bytes: [UInt8]) { text.append(bytes) }
  mutating func finish() { text.finish() }

  mutating func next() throws -> Data? {
    if let page = try text.next() {
      var records = try ColumnPage(page).records
      // A table without rows is a page without records, as an empty array is.
      let first = try records.next(count) ?? Data("[]".utf8)
      self.records = records
      return first
    }
    return try records?.next(count)
  }
}

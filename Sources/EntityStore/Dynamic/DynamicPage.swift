internal import LodestoreBytes

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// A page of records, parsed.
package struct DynamicPage: Sendable {
  package let records: [JSONRecord]
  /// Where the records are in their file, and those that could not be read.
  package let places: DynamicPlaces
  /// Whether all values are texts or null, as CSV has no others.
  package let isText: Bool

  package init(
    _ records: [JSONRecord], places: DynamicPlaces = DynamicPlaces(), isText: Bool = false
  ) {
    self.records = records
    self.places = places
    self.isText = isText
  }

  /// Calls `body` with the bytes of each text that the records are in, and of those that could not
  /// be read.
  func forEachText(_ body: (ByteView) -> Void) {
    for record in places.places.unreadable { record.content._withBytes(body) }
    var last: JSONDocument?
    for record in records where record.node.document !== last {
      last = record.node.document
      record.node.document.withText(body)
    }
  }

  /// Of the texts.
  var byteCount: Int {
    var count = 0
    forEachText { count += $0.count }
    return count
  }
}

/// Where the records of a page are in its file, and those that could not be read.
package struct DynamicPlaces: Sendable {
  fileprivate(set) var places: PagePlaces

  fileprivate init(places: PagePlaces) { self.places = places }

  /// Places of records whose offsets in the file are in their texts.
  package init() { places = PagePlaces() }

  /// Places of a page that is a line.
  package init(line: Int) { places = .ofPage(line: line) }

  /// Places of records on lines, which are added one at a time.
  package static var ofLines: DynamicPlaces { DynamicPlaces(places: .ofLines) }

  /// Records that were added, and those that could not be read.
  package var recordCount: Int { places.recordCount }

  /// The error of the first record that could not be read.
  package var error: (any Error)? { places.unreadable.first?.error }

  /// Notes the file of the page.
  package mutating func note(file: String) { places.file = file }

  /// Adds a record that could be read.
  package mutating func append(_ record: JSONNode, line: Int) {
    places.append(offset: record.offset, line: line)
  }

  /// Adds the line or value that `lines` has refused last.
  package mutating func append(_ error: JSONError, _ lines: JSONLinesReader) {
    places.refuse(error, lines)
  }

  /// Whether the last record is a row that lacks its end, as the file does.
  package var endsCut: Bool { places.endsCut }

  /// Notes that the file lacks its end, after `offset` bytes of its text, by a record that could not
  /// be read where none says so yet.
  package mutating func noteCut(after offset: Int, _ error: any Error) {
    places.noteCut(after: offset, error)
  }

  /// The places of the `count` whole records of a text that ends within them.
  ///
  /// - Parameter level: of the array or object that has the records, from the outermost.
  package init(_ count: Int, of text: JSONCutText, at level: Int, _ error: any Error) {
    places = PagePlaces()
    places.unreadable = [UnreadableInput(count + 1, text, at: level, error)]
    places.warnings = [PagePlaces.cutWarning]
  }

  /// The places of the `count` records of a text that is whole, of a file that lacks its end.
  package init(_ count: Int, cutAfter offset: Int, _ error: any Error) {
    places = PagePlaces()
    places.unreadable = [UnreadableInput(count + 1, endOf: offset, error)]
    places.warnings = [PagePlaces.cutWarning]
  }

  /// Makes the last line of `lines` a page of one record that could not be read.
  package mutating func refuse(_ error: JSONError, _ lines: JSONLinesReader) {
    places = PagePlaces()
    places.refuse(error, lines)
  }
}

/// The text of a file of JSON: without compression, and as UTF-8.
package struct DynamicText {
  private var input: TextInput

  /// - Parameter isCSV: whether the text goes to ``DynamicRows``, which decode its characters.
  package init(isCSV: Bool) { input = TextInput(decodes: !isCSV) }

  /// Takes the next bytes of the file; then call ``next()`` until it gives nil.
  package mutating func append(_ bytes: [UInt8]) { input.append(bytes) }

  /// Tells that no bytes follow.
  package mutating func finish() { input.finish() }

  /// The error of compressed bytes that lack their end, once all text before it was given.
  package var cutError: (any Error)? { input.cutError }

  /// The number of bytes of text given so far.
  package var count: Int { input.textCount }

  /// The next part of the text; nil when more bytes are needed or, after ``finish()``, at the end.
  package mutating func next() throws -> [UInt8]? { try input.next() }
}

/// Separated values, cut into pages of JSON.
package struct DynamicRows {
  private var cutter: any PageCutter

  package init(_ options: CSVOptions, count: Int) {
    cutter = PageCutting.Form.csv(options, count).cutter()
  }

  /// Takes the next part of the text; then call ``next()`` until it gives nil.
  package mutating func append(_ text: [UInt8]) { cutter.append(text) }

  /// Tells that no text follows.
  ///
  /// - Parameter isCut: whether the file lacks its end: then a last line without its end is refused.
  package mutating func finish(isCut: Bool) { cutter.finish(isCut: isCut) }

  /// The next page; nil when more text is needed or, after ``finish()``, at the end.
  package mutating func next() throws -> (content: Data, places: DynamicPlaces)? {
    try cutter.next().map { ($0.content, DynamicPlaces(places: $0.places)) }
  }
}

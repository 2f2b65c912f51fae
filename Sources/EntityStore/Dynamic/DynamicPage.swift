internal import LodestoreBytes
package import LodestoreEssentials

/// A parsed page of records.
package struct DynamicPage: Sendable {
  package let records: [JSONRecord]
  /// The lines and offsets of the records in the imported file, and the records that could not be
  /// read.
  package let places: DynamicPlaces
  /// Whether all values are texts or null, as in CSV.
  package let isText: Bool

  package init(
    _ records: [JSONRecord], places: DynamicPlaces = DynamicPlaces(), isText: Bool = false
  ) {
    self.records = records
    self.places = places
    self.isText = isText
  }

  /// Calls `body` with the bytes of each text that contains records, and of each unreadable record.
  func forEachText(_ body: (ByteView) -> Void) {
    for record in places.places.unreadable { record.content._withBytes(body) }
    var last: JSONDocument?
    for record in records where record.node.document !== last {
      last = record.node.document
      record.node.document.withText(body)
    }
  }

  /// The number of bytes in the texts.
  var byteCount: Int {
    var count = 0
    forEachText { count += $0.count }
    return count
  }
}

/// The lines and offsets of a page's records in the imported file, and the records that could not
/// be read.
package struct DynamicPlaces: Sendable {
  fileprivate(set) var places: PagePlaces

  fileprivate init(places: PagePlaces) { self.places = places }

  /// Creates an empty list of places, for records whose parsed texts know their offsets in the
  /// file.
  package init() { places = PagePlaces() }

  /// Creates the places for a page that consists of one line of the file.
  package init(line: Int) { places = .ofPage(line: line) }

  /// The initial places for records on lines, which are added one at a time.
  package static var ofLines: DynamicPlaces { DynamicPlaces(places: .ofLines) }

  /// The number of added and of unreadable records.
  package var recordCount: Int { places.recordCount }

  /// The error of the first record that could not be read.
  package var error: (any Error)? { places.unreadable.first?.error }

  /// Sets the name of the imported file from which the page comes.
  package mutating func note(file: String) { places.file = file }

  /// Adds a readable record.
  package mutating func append(_ record: JSONNode, line: Int) {
    places.append(offset: record.offset, line: line)
  }

  /// Adds the line or value that `lines` refused last.
  package mutating func append(_ error: JSONError, _ lines: JSONLinesReader) {
    places.refuse(error, lines)
  }

  /// Whether the last record is a row that is incomplete because the imported file is truncated.
  package var endsCut: Bool { places.endsCut }

  /// Notes that the imported file is truncated after `offset` bytes of its text.
  ///
  /// Adds an unreadable record unless the last one shows the truncation.
  package mutating func noteCut(after offset: Int, _ error: any Error) {
    places.noteCut(after: offset, error)
  }

  /// Creates places for the `count` complete records of a text that is truncated inside its
  /// records.
  ///
  /// - Parameter level: the nesting level of the array or object that contains the records, counted
  ///   from the outermost.
  package init(_ count: Int, of text: JSONCutText, at level: Int, _ error: any Error) {
    places = PagePlaces()
    places.unreadable = [UnreadableInput(count + 1, text, at: level, error)]
    places.warnings = [PagePlaces.cutWarning]
  }

  /// Creates places for the `count` records of a complete text in a truncated file.
  package init(_ count: Int, cutAfter offset: Int, _ error: any Error) {
    places = PagePlaces()
    places.unreadable = [UnreadableInput(count + 1, endOf: offset, error)]
    places.warnings = [PagePlaces.cutWarning]
  }

  /// Replaces the places by those of one unreadable record, which is the last line of `lines`.
  package mutating func refuse(_ error: JSONError, _ lines: JSONLinesReader) {
    places = PagePlaces()
    places.refuse(error, lines)
  }
}

/// The text of a JSON file, decompressed and as UTF-8.
package struct DynamicText {
  private var input: TextInput

  /// - Parameter isCSV: whether the text is for ``DynamicRows``, which decodes its characters.
  package init(isCSV: Bool) { input = TextInput(decodes: !isCSV) }

  /// Appends the next bytes of the file; call ``next()`` afterwards until it returns nil.
  package mutating func append(_ bytes: [UInt8]) { input.append(bytes) }

  /// Ends the input.
  package mutating func finish() { input.finish() }

  /// The error for truncated compressed bytes, set after all text before it was returned.
  package var cutError: (any Error)? { input.cutError }

  /// The number of bytes of text returned so far.
  package var count: Int { input.textCount }

  /// Returns the next part of the text; nil when more bytes are needed, and at the end after
  /// ``finish()``.
  package mutating func next() throws -> [UInt8]? { try input.next() }
}

/// Divides separated values into pages of JSON.
package struct DynamicRows {
  private var cutter: any PageCutter

  package init(_ options: CSVOptions, count: Int) {
    cutter = PageCutting.Form.csv(options, count).cutter()
  }

  /// Appends the next part of the text; call ``next()`` afterwards until it returns nil.
  package mutating func append(_ text: [UInt8]) { cutter.append(text) }

  /// Ends the text.
  ///
  /// - Parameter isCut: whether the file is truncated; a last line without a line end is then
  ///   refused.
  package mutating func finish(isCut: Bool) { cutter.finish(isCut: isCut) }

  /// Returns the next page; nil when more text is needed, and at the end after ``finish()``.
  package mutating func next() throws -> (content: Data, places: DynamicPlaces)? {
    try cutter.next().map { ($0.content, DynamicPlaces(places: $0.places)) }
  }
}

/// The bytes of one form of a page, and the parts that follow.
///
/// Each later part is read from the store when it is asked for, in a transaction of its own. A slow
/// client therefore does not hold back pages of the store. The rows of later parts are those of
/// later commits, if there are any.
struct TwinPart: Sendable {
  typealias Next = @Sendable () throws -> TwinPart

  var bytes: [UInt8]
  /// Reads the next part; `nil` after the last.
  var next: Next?

  init(_ bytes: [UInt8], next: Next? = nil) {
    self.bytes = bytes
    self.next = next
  }

  /// The first part of the form `form` of a page.
  static func of(_ page: Page, as form: Form) -> TwinPart {
    switch form {
    case .html: TwinPart(PageDocument(page).bytes)
    case .json: JSONTwin(page).first
    case .jsonl: LinesTwin(page).first
    case .csv: CSVTwin(page).first
    case .geojson: GeoJSONTwin(page).first
    }
  }

  /// Appends one row; `isFirst` is true for the first row of all parts.
  typealias Write = @Sendable (_ row: Table.Row, _ isFirst: Bool, _ bytes: inout [UInt8]) -> Void

  /// The rows of a table between two texts.
  init(_ head: [UInt8], rowsOf table: Table, tail: [UInt8], _ write: @escaping Write) {
    self.init(
      head, Table.Batch(rows: table.rows, next: table.next), isFirst: true, tail: tail, write)
  }

  private init(
    _ head: [UInt8], _ batch: Table.Batch, isFirst: Bool, tail: [UInt8], _ write: @escaping Write
  ) {
    bytes = head
    var isFirst = isFirst
    for row in batch.rows {
      write(row, isFirst, &bytes)
      isFirst = false
    }
    guard let read = batch.next else {
      bytes += tail
      return
    }
    next = { [isFirst] in TwinPart([], try read(), isFirst: isFirst, tail: tail, write) }
  }
}

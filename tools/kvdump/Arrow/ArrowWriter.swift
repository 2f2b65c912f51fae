import LodestoreFormat

/// Writes rows as a stream of Arrow's interprocess format: a schema, then batches of columns.
///
/// The columns need types, which only records have. The memory use is bounded by the size of a
/// batch.
final class ArrowWriter: RowWriter {
  private static let rowsPerBatch = 1 << 16
  private static let bytesPerBatch = 16 << 20

  private let columns: [Column]
  private let output: TextOutput
  private let isOnTerminal: Bool
  private var types: [ArrowType] = []
  private var batch: [ArrowColumn] = []
  private var rowCount = 0
  private var hasBegun = false

  init(_ columns: [Column], to output: TextOutput, isOnTerminal: Bool = false) {
    self.columns = columns
    self.output = output
    self.isOnTerminal = isOnTerminal
  }

  func write(_ row: [Cell]) throws {
    try begin()
    for (position, cell) in row.enumerated() {
      guard batch[position].append(cell) else {
        throw CommandFailure.notArrow(cell, of: columns[position].name)
      }
    }
    rowCount += 1
    let isFull = batch.contains { $0.byteCount >= Self.bytesPerBatch / max(batch.count, 1) }
    if rowCount == Self.rowsPerBatch || isFull { try writeBatch() }
  }

  func finish() throws {
    try begin()
    if rowCount > 0 { try writeBatch() }
    try output.write([0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0])
  }

  /// Writes the schema if it is not written yet.
  private func begin() throws {
    guard !hasBegun else { return }
    hasBegun = true
    if isOnTerminal { throw CommandFailure.arrowOnTerminal }
    types = try columns.map { column in
      guard let type = column.type else { throw CommandFailure.arrowWithoutTypes }
      return ArrowType(type)
    }
    batch = types.map(ArrowColumn.init)
    var message = FlatBuffer()
    let fields = zip(columns, types).map { column, type in
      let name = message.string(column.name)
      let (kind, table) = type.add(to: &message)
      let children = message.vector([Int]())
      return message.table([
        .object(name), .flag(column.isOptional), .scalar(kind, size: 1), .object(table), nil,
        .object(children),
      ])
    }
    let list = message.vector(fields)
    let schema = message.table([nil, .object(list)])
    try write(&message, kind: 1, schema, body: [])
  }

  private func writeBatch() throws {
    var message = FlatBuffer()
    var body: [UInt8] = []
    var buffers: [(Int, Int)] = []
    for bytes in batch.lazy.flatMap(\.buffers) {
      buffers.append((body.count, bytes.count))
      body += bytes
      body += repeatElement(0, count: -body.count & 7)
    }
    let places = message.vector(buffers)
    let nodes = message.vector(batch.map { (rowCount, $0.nullCount) })
    let header = message.table([
      .scalar(Int64(rowCount), size: 8), .object(nodes), .object(places),
    ])
    try write(&message, kind: 3, header, body: body)
    batch = types.map(ArrowColumn.init)
    rowCount = 0
  }

  /// Writes a message of the kind that Arrow's Message.fbs numbers, with its body.
  private func write(
    _ message: inout FlatBuffer, kind: Int64, _ header: Int, body: [UInt8]
  ) throws {
    let root = message.table([
      .scalar(4, size: 2), .scalar(kind, size: 1), .object(header),
      .scalar(Int64(body.count), size: 8),
    ])
    let metadata = message.finished(root: root)
    try output.write([0xFF, 0xFF, 0xFF, 0xFF] + littleEndianBytes(UInt32(metadata.count)))
    try output.write(metadata)
    try output.write(body)
  }
}

extension CommandFailure {
  static let arrowOnTerminal = badArgument(
    "--format arrow", reason: "is binary, and the output is a terminal",
    nextStep: "redirect it to a file or into a program")

  static let arrowWithoutTypes = badArgument(
    "--format arrow", reason: "needs columns with types, which this command's rows lack",
    nextStep: "take it for records: 'export', 'query', 'records', 'get' or 'index'")

  /// The failure for a value that the column's Arrow type cannot represent.
  static func notArrow(_ cell: Cell, of column: String) -> Self {
    let text = PlainText.text(of: cell) ?? ""
    return CommandFailure(
      code: "not-arrow",
      message: "'\(column)': \(text.utf8.count > 64 ? text.prefix(60) + "…" : text) is beyond "
        + "the range of an Arrow timestamp of microseconds, or a value is larger than 2 GiB; "
        + "leave the attribute out by --fields",
      status: .damagedData, details: [.text("attribute", column)])
  }
}

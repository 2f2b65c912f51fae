/// Writes JSON Lines, or one JSON array with a row on each line.
///
/// The keys are in the order of the columns. An absent cell has no key.
final class JSONRowWriter: RowWriter {
  enum Layout { case lines, array }

  private let names: [[UInt8]]
  private let output: TextOutput
  private let layout: Layout
  private var hasRows = false
  private var line: [UInt8] = []

  init(_ columns: [Column], to output: TextOutput, layout: Layout) {
    names = columns.map { CellJSON.text($0.name) }
    self.output = output
    self.layout = layout
  }

  func write(_ row: [Cell]) throws {
    line.removeAll(keepingCapacity: true)
    if layout == .array {
      line.append(contentsOf: (hasRows ? ",\n" : "[\n").utf8)
    }
    hasRows = true
    CellJSON.appendObject(zip(names, row).lazy.map { (name: $0.0, cell: $0.1) }, to: &line)
    if layout == .lines { line.append(UInt8(ascii: "\n")) }
    try output.write(line)
  }

  func finish() throws {
    guard layout == .array else { return }
    try output.write(hasRows ? "\n]\n" : "[]\n")
  }
}

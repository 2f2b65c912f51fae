/// Rows in aligned columns.
///
///     var table = Table(["what", "records a second"], [.left, .right])
///     table.add("arrays", "1,200,000")
///     table.show(on: terminal)
///
/// A row that is wider than the terminal is cut. Other outputs get the whole row.
public struct Table: Sendable {
  private let alignments: [Alignment]
  private let heading: [String]
  private var rows: [[String]] = []

  /// Makes a table with headings.
  ///
  /// A column without an alignment is aligned left.
  public init(_ heading: [String], _ alignments: [Alignment] = []) {
    self.heading = heading
    self.alignments = alignments
  }

  /// Adds a row.
  ///
  /// Missing fields at the end are empty.
  public mutating func add(_ fields: String...) { rows.append(fields) }

  /// Adds a row of any number of fields.
  public mutating func add(fields: [String]) { rows.append(fields) }

  /// Heading and rows, without style.
  public var lines: [String] { render([heading] + rows) }

  /// Writes the table.
  public func show(on terminal: Terminal) {
    for (number, line) in lines.enumerated() {
      let line = terminal.isInteractive ? line.cut(to: terminal.width) : line
      terminal.print(number == 0 ? terminal.styled(line, .dim) : line)
    }
  }

  private func render(_ rows: [[String]]) -> [String] {
    let widths = heading.indices.map { column in
      rows.map { column < $0.count ? $0[column].columns : 0 }.max() ?? 0
    }
    return rows.map { row in
      let fields = heading.indices.map { column in
        (column < row.count ? row[column] : "").padded(
          to: widths[column], column < alignments.count ? alignments[column] : .left)
      }
      var line = fields.joined(separator: "  ")
      while line.last == " " { line.removeLast() }
      return line
    }
  }
}

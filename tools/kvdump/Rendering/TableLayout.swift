/// The layout of a table on a screen: the width and the alignment of each column.
struct TableLayout: Equatable {
  /// The number of spaces between two cells.
  static let gap = 2
  /// The minimum width to which a text is cut to make room for other columns.
  private static let leastText = 8
  /// The minimum width to which a number is cut, because its end matters.
  private static let leastNumber = 24
  /// The maximum padding.
  ///
  /// If the output is not a screen, a longer cell is written whole. The other cells of its column
  /// are not padded to its width.
  private static let mostPadding = 120

  let widths: [Int]
  let alignments: [Column.Alignment]
  /// Whether longer cells are cut.
  ///
  /// If the output is not a screen, they are written whole.
  let cuts: Bool

  /// The layout for a sample of rows; `nil` if `width` cannot fit all columns.
  init?(columns: [Column], sample: [[DisplayCell]], width: Int?) {
    var natural = columns.map { DisplayText($0.title, limit: Self.mostPadding).width }
    var isNumeric = [Bool](repeating: true, count: columns.count)
    var isEmpty = [Bool](repeating: true, count: columns.count)
    for row in sample {
      for (index, cell) in row.enumerated() {
        natural[index] = max(natural[index], cell.content.width)
        guard !cell.isEmpty else { continue }
        isEmpty[index] = false
        if !cell.isNumeric { isNumeric[index] = false }
      }
    }
    let alignments = columns.indices.map { index in
      let byCells: Column.Alignment = isNumeric[index] && !isEmpty[index] ? .trailing : .leading
      return columns[index].alignment ?? byCells
    }
    self.alignments = alignments
    cuts = width != nil
    guard let width else {
      widths = natural.map { min($0, Self.mostPadding) }
      return
    }
    let least = columns.indices.map { index in
      min(natural[index], alignments[index] == .trailing ? Self.leastNumber : Self.leastText)
    }
    let room = width - Self.gap * max(columns.count - 1, 0)
    guard least.reduce(0, +) <= room else { return nil }
    widths = Self.shared(room, natural: natural, least: least)
  }

  /// Divides the room among the columns.
  ///
  /// If the columns do not fit, the widest columns are cut to one common width. The remainder of
  /// the division goes to the first of the widest columns.
  private static func shared(_ room: Int, natural: [Int], least: [Int]) -> [Int] {
    guard natural.reduce(0, +) > room else { return natural }
    func widths(cutAt cap: Int) -> [Int] {
      natural.indices.map { min(natural[$0], max(cap, least[$0])) }
    }
    var low = 0
    var high = natural.max() ?? 0
    while low < high {
      let middle = (low + high + 1) / 2
      if widths(cutAt: middle).reduce(0, +) <= room { low = middle } else { high = middle - 1 }
    }
    var result = widths(cutAt: low)
    var spare = room - result.reduce(0, +)
    for index in result.indices where spare > 0 && result[index] < natural[index] {
      result[index] += 1
      spare -= 1
    }
    return result
  }
}

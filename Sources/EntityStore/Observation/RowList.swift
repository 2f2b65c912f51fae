internal import LodestoreFormat

/// A list in chunks, whose copies share unchanged chunks.
///
/// A change in a list of a million rows copies only some hundred rows and the list of chunks.
struct RowList<Row: Sendable>: Sendable {
  private static var fullCount: Int { 512 }

  private var chunks: [[Row]] = []
  /// The index after each chunk's last row.
  private var ends: [Int] = []

  init() {}

  init(_ rows: [Row]) {
    var start = 0
    while start < rows.count {
      let end = min(rows.count, start + Self.fullCount / 2)
      chunks.append(Array(rows[start..<end]))
      ends.append(end)
      start = end
    }
  }

  var count: Int { ends.last ?? 0 }

  /// The chunk that contains the row at `index`, and the index of its first row.
  private func chunk(of index: Int) -> (position: Int, start: Int) {
    let position = ends.dropLast().partitioningIndex { $0 > index }
    return (position, position == 0 ? 0 : ends[position - 1])
  }

  subscript(index: Int) -> Row {
    let (position, start) = chunk(of: index)
    return chunks[position][index - start]
  }

  /// The number of rows before the first for which `isBehind` is true; it must be true for all
  /// later rows.
  func partition(_ isBehind: (Row) throws -> Bool) rethrows -> Int {
    // The result is in the last chunk whose first row fails the test, or at the end of that chunk.
    let next = try chunks.partitioningIndex { try isBehind($0[0]) }
    guard next > 0 else { return 0 }
    let index = try chunks[next - 1].dropFirst().partitioningIndex(where: isBehind)
    return (next == 1 ? 0 : ends[next - 2]) + index
  }

  mutating func remove(at index: Int) {
    let (position, start) = chunk(of: index)
    chunks[position].remove(at: index - start)
    if chunks[position].isEmpty {
      chunks.remove(at: position)
      ends.remove(at: position)
    }
    for later in position..<ends.count { ends[later] -= 1 }
  }

  mutating func insert(_ row: Row, at index: Int) {
    guard !chunks.isEmpty else {
      self = RowList([row])
      return
    }
    let (position, start) = chunk(of: max(0, min(index, count - 1)))
    chunks[position].insert(row, at: index - start)
    for later in position..<ends.count { ends[later] += 1 }
    let chunk = chunks[position]
    guard chunk.count > Self.fullCount else { return }
    let half = chunk.count / 2
    chunks[position] = Array(chunk[..<half])
    chunks.insert(Array(chunk[half...]), at: position + 1)
    ends.insert(start + half, at: position)
  }

  func forEach(_ body: (Int, Row) throws -> Void) rethrows {
    var index = 0
    for chunk in chunks {
      for row in chunk {
        try body(index, row)
        index += 1
      }
    }
  }
}

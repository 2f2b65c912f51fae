/// A list in chunks, of which a copy shares all that is not changed: a change in the midst of a million
/// rows copies some hundreds, and the list of chunks.
struct RowList<Row: Sendable>: Sendable {
  private static var fullCount: Int { 512 }

  private var chunks: [[Row]] = []
  /// The index behind each chunk's last row.
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

  /// The chunk that has the row at `index`, and its first index.
  private func chunk(of index: Int) -> (position: Int, start: Int) {
    var low = 0
    var high = ends.count - 1
    while low < high {
      let middle = (low + high) / 2
      if ends[middle] <= index { low = middle + 1 } else { high = middle }
    }
    return (low, low == 0 ? 0 : ends[low - 1])
  }

  subscript(index: Int) -> Row {
    let (position, start) = chunk(of: index)
    return chunks[position][index - start]
  }

  /// How many rows come before the first for which `isBehind` is true; it is true for all behind one.
  func partition(_ isBehind: (Row) throws -> Bool) rethrows -> Int {
    // The last chunk whose first row is not behind has the border.
    var low = 0
    var high = chunks.count
    while low < high {
      let middle = (low + high) / 2
      if try isBehind(chunks[middle][0]) { high = middle } else { low = middle + 1 }
    }
    guard low > 0 else { return 0 }
    let chunk = chunks[low - 1]
    var first = 1
    var last = chunk.count
    while first < last {
      let middle = (first + last) / 2
      if try isBehind(chunk[middle]) { last = middle } else { first = middle + 1 }
    }
    return (low == 1 ? 0 : ends[low - 2]) + first
  }

  mutating func replace(at index: Int, with row: Row) {
    let (position, start) = chunk(of: index)
    chunks[position][index - start] = row
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

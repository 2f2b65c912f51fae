internal import LodestoreFormat

/// Determines which rows have moved among the others.
enum RowMoves {
  /// Returns which of the rows in both results have moved.
  ///
  /// As few rows as possible are moved, and preferably those that changed.
  static func moves(
    _ kept: [(from: Int, to: Int, isChanged: Bool)]
  ) -> [(from: Int, to: Int, isMoved: Bool)] {
    var isAscending = true
    for index in 1..<max(1, kept.count) where kept[index].from < kept[index - 1].from {
      isAscending = false
      break
    }
    if isAscending { return kept.filter(\.isChanged).map { ($0.from, $0.to, false) } }
    let kept = withReordered(kept)
    // The unchanged rows have one order in both results; a changed row stays if it fits between its
    // neighbours. The longest ascending sequence that contains all unchanged rows stays.
    var below = -1
    var upper = Array(repeating: Int.max, count: kept.count)
    var bound = Int.max
    for index in kept.indices.reversed() {
      if !kept[index].isChanged { bound = kept[index].from }
      upper[index] = bound
    }
    var staying: Set<Int> = []
    var start = 0
    while start < kept.count {
      if !kept[start].isChanged {
        below = kept[start].from
        start += 1
        continue
      }
      var end = start
      while end < kept.count, kept[end].isChanged { end += 1 }
      let fitting = (start..<end).filter { kept[$0].from > below && kept[$0].from < upper[$0] }
      staying.formUnion(longestAscending(fitting) { kept[$0].from })
      start = end
    }
    var result: [(from: Int, to: Int, isMoved: Bool)] = []
    for index in kept.indices where kept[index].isChanged {
      result.append((kept[index].from, kept[index].to, !staying.contains(index)))
    }
    return result
  }

  /// Marks as few unchanged rows as possible as changed, so that the remaining unchanged rows have
  /// one order in both results.
  ///
  /// An order by values of related records may move a row without a change of its own record.
  private static func withReordered(
    _ kept: [(from: Int, to: Int, isChanged: Bool)]
  ) -> [(from: Int, to: Int, isChanged: Bool)] {
    let same = kept.indices.filter { !kept[$0].isChanged }
    guard zip(same, same.dropFirst()).contains(where: { kept[$0].from > kept[$1].from }) else {
      return kept
    }
    let ascending = Set(longestAscending(same) { kept[$0].from })
    var kept = kept
    for index in same where !ascending.contains(index) { kept[index].isChanged = true }
    return kept
  }

  static func longestAscending(_ items: [Int], _ value: (Int) -> Int) -> [Int] {
    var ends: [Int] = []
    var previous: [Int: Int] = [:]
    for item in items {
      let index = ends.partitioningIndex { value($0) >= value(item) }
      if index > 0 { previous[item] = ends[index - 1] }
      if index == ends.count { ends.append(item) } else { ends[index] = item }
    }
    var chain: [Int] = []
    var next = ends.last
    while let item = next {
      chain.append(item)
      next = previous[item]
    }
    return chain
  }
}

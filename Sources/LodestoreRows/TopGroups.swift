package import LodestoreFormat

/// The most frequent values among any number of them.
///
/// Equally frequent values stay in the order of their arrival.
package struct TopGroups {
  package private(set) var rows: [(keys: [Value], count: Int, place: Int)] = []
  private let most: Int
  /// The number of all groups, including groups beyond the limit, which are not kept.
  package private(set) var total = 0

  /// - Parameter most: The maximum number of groups to keep; `nil` keeps all.
  package init(most: Int?) { self.most = most ?? .max }

  package mutating func add(_ keys: [Value], _ count: Int) {
    rows.append((keys, count, total))
    total += 1
    if rows.count >= 1_024, rows.count / 2 >= most { sort() }
  }

  /// Sorts the rows and removes those beyond the limit.
  package mutating func sort() {
    rows.sort { $0.count != $1.count ? $0.count > $1.count : $0.place < $1.place }
    if rows.count > most { rows.removeLast(rows.count - most) }
  }

  /// The first value of each group, the most frequent group first.
  package var sorted: [(value: Value, count: Int)] {
    var copy = self
    copy.sort()
    return copy.rows.map { ($0.keys[0], $0.count) }
  }
}

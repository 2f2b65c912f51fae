package import LodestoreFormat

/// The most frequent values among any number of them.
package struct TopGroups {
  private var rows: [(value: Value, count: Int, place: Int)] = []
  private let most: Int
  package private(set) var total = 0

  package init(most: Int) { self.most = most }

  package mutating func add(_ value: Value, _ count: Int) {
    rows.append((value, count, total))
    total += 1
    if rows.count >= 1_024 { cut() }
  }

  private mutating func cut() {
    rows.sort { $0.count != $1.count ? $0.count > $1.count : $0.place < $1.place }
    if rows.count > most { rows.removeLast(rows.count - most) }
  }

  package var sorted: [(value: Value, count: Int)] {
    var copy = self
    copy.cut()
    return copy.rows.map { ($0.value, $0.count) }
  }
}

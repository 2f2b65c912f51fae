#if Macros
  /// The candidate that `name` was probably meant to be; `nil` if none is close enough.
  ///
  /// The distance counts inserted, deleted, replaced and swapped characters; a difference in case
  /// counts half. The nearest candidate is returned if its distance is at most a third of the
  /// longer name.
  func nearestName(to name: String, among candidates: [String]) -> String? {
    let ranked = candidates.map { ($0, editDistance(from: Array(name), to: Array($0))) }
    guard let (best, distance) = ranked.min(by: { $0.1 < $1.1 }) else { return nil }
    return distance * 3 <= Double(max(name.count, best.count)) ? best : nil
  }

  private func editDistance(from source: [Character], to target: [Character]) -> Double {
    // Three rows of the distance table: for the current character of the name, and for the two
    // characters before it.
    var beforePrevious: [Double] = []
    var previous = (0...target.count).map(Double.init)
    for i in source.indices {
      var row = [Double(i + 1)]
      for j in target.indices {
        let change: Double =
          source[i] == target[j]
          ? 0 : source[i].lowercased() == target[j].lowercased() ? 0.5 : 1
        var best = min(previous[j] + change, previous[j + 1] + 1, row[j] + 1)
        if i > 0, j > 0, source[i] == target[j - 1], source[i - 1] == target[j] {
          best = min(best, beforePrevious[j - 1] + 1)
        }
        row.append(best)
      }
      (beforePrevious, previous) = (previous, row)
    }
    return previous[target.count]
  }
#endif

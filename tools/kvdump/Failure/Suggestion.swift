/// "Did you mean": the known name nearest to a mistyped one.
enum Suggestion {
  /// The name of `known` that differs from `name` by few enough slips to be worth proposing.
  ///
  /// A name that differs only in case wins; of equally near ones, the first. How many slips are
  /// allowed grows with the length, because two slips in a name of three letters make another name.
  static func nearest(to name: String, among known: [String]) -> String? {
    let wanted = Array(name.lowercased().unicodeScalars)
    var best: (name: String, distance: Int)?
    for candidate in known {
      let letters = Array(candidate.lowercased().unicodeScalars)
      if letters == wanted { return candidate }
      let limit = allowedSlips(forLength: max(wanted.count, letters.count))
      guard abs(wanted.count - letters.count) <= limit else { continue }
      let slips = distance(from: wanted, to: letters)
      if slips <= limit, slips < best?.distance ?? Int.max { best = (candidate, slips) }
    }
    return best?.name
  }

  private static func allowedSlips(forLength length: Int) -> Int {
    switch length {
    case ...2: 0
    case 3...5: 1
    case 6...9: 2
    default: 3
    }
  }

  /// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
  ///
  /// O(|a|·|b|) time, three rows of memory. This is the restricted form of the Damerau-Levenshtein
  /// distance, in which swapped letters are not edited again: enough for slips of the finger.
  static func distance(from a: [Unicode.Scalar], to b: [Unicode.Scalar]) -> Int {
    if a.isEmpty { return b.count }
    if b.isEmpty { return a.count }
    var beforePrevious = [Int](repeating: 0, count: b.count + 1)
    var previous = Array(0...b.count)
    var current = beforePrevious
    for i in 1...a.count {
      current[0] = i
      for j in 1...b.count {
        let replacement = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)
        var least = min(previous[j] + 1, current[j - 1] + 1, replacement)
        if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
          least = min(least, beforePrevious[j - 2] + 1)
        }
        current[j] = least
      }
      (beforePrevious, previous, current) = (previous, current, beforePrevious)
    }
    return previous[b.count]
  }
}

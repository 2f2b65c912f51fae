/// Suggestions for mistyped names.
package enum NearestName {
  /// Returns the most similar candidate that is similar enough to suggest.
  ///
  /// A name that differs only in case wins; of equally similar names, the first. The distance
  /// counts letters that are inserted, missing, replaced or swapped with a neighbour. A word of two
  /// letters allows no error, up to five letters one, up to nine two, longer words three. Without a
  /// similar name, the result may be an index whose name, as `name+version`, begins with the
  /// attributes in `name`.
  package static func of(_ name: String, among candidates: [String]) -> String? {
    // No candidate is similar to a much longer name, so a long input needs no search.
    let longest = candidates.reduce(0) { max($0, $1.utf8.count) }
    guard name.utf8.count <= 2 * longest + 16 else { return nil }
    let wanted = Array(name.lowercased().unicodeScalars)
    var best: (name: String, slips: Int)?
    for candidate in candidates {
      let letters = Array(candidate.lowercased().unicodeScalars)
      if letters == wanted { return candidate }
      let allowed = allowedSlips(max(letters.count, wanted.count))
      guard abs(letters.count - wanted.count) <= allowed else { continue }
      let slips = slips(from: wanted, to: letters)
      if slips <= allowed, slips < best?.slips ?? .max { best = (candidate, slips) }
    }
    return best?.name ?? index(beginningWith: name, among: candidates)
  }

  /// Returns the first candidate that begins with the attributes of `name`, or similar ones, and
  /// has more.
  private static func index(beginningWith name: String, among candidates: [String]) -> String? {
    let wanted = name.split(separator: "+", omittingEmptySubsequences: false).map(String.init)
    return candidates.first { candidate in
      let parts = candidate.split(separator: "+").map(String.init)
      return wanted.count < parts.count
        && zip(wanted, parts).allSatisfy { of($0, among: [$1]) != nil }
    }
  }

  private static func allowedSlips(_ length: Int) -> Int {
    switch length {
    case ...2: 0
    case ...5: 1
    case ...9: 2
    default: 3
    }
  }

  /// Returns the restricted Damerau-Levenshtein distance, in O(|a|·|b|) time and memory for three
  /// rows of the matrix.
  private static func slips(from a: [Unicode.Scalar], to b: [Unicode.Scalar]) -> Int {
    var last = Array(0...b.count)
    var lastButOne = last
    for i in a.indices {
      var row = [i + 1]
      row.reserveCapacity(b.count + 1)
      for j in b.indices {
        var least = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
          least = min(least, lastButOne[j - 1] + 1)
        }
        row.append(least)
      }
      (lastButOne, last) = (last, row)
    }
    return last[b.count]
  }
}

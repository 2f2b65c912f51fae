/// The known name that a mistyped one was probably meant to be.
package enum NearestName {
  /// The nearest of `candidates` that is near enough to be worth proposing.
  ///
  /// A name that differs only in case wins; of equally near ones, the first. Nearness counts
  /// letters inserted, left out, replaced or swapped with a neighbour: none may be wrong in a word
  /// of two letters, one up to five, two up to nine, three beyond. Where no name is near, an index
  /// whose name, as `name+version`, begins with the attributes may be meant.
  package static func of(_ name: String, among candidates: [String]) -> String? {
    // No candidate is near a name much longer than itself, however long the text's author made it.
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

  /// The first of `candidates` with further attributes behind those of `name`, or of near ones.
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

  /// The restricted Damerau-Levenshtein distance; O(|a|·|b|) time, three rows of memory.
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

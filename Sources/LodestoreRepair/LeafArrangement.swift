internal import LodestoreFormat

/// Finds the leaves of one tree and commit among leaves of several, by the digest of the content.
///
/// The key ranges of two leaves of one tree never overlap. Leaves with overlapping ranges are
/// therefore alternatives, and the right ones have the digest as their sum.
struct LeafArrangement {
  struct Leaf: Hashable {
    /// The range from the first to the last key of the leaf.
    var keys: Range<UInt128>
    /// The sum of the leaf's pairs.
    var sum: ContentDigest
  }

  /// Leaves whose ranges overlap, directly or through others, and the possible choices among them.
  private struct Group {
    var choices: [(leaves: [Int], sum: ContentDigest)]
  }

  /// The maximum number of choices tried within one group.
  private static var mostChoices: Int { 512 }
  private static var mostSteps: Int { 1 << 16 }
  /// The maximum number of sums of one half of the groups to compare with the sums of the other
  /// half.
  private static var mostSums: Int { 1 << 17 }

  private var groups: [[Int]] = []
  private let leaves: [Leaf]

  init(_ leaves: [Leaf]) {
    self.leaves = leaves
    var end: UInt128 = 0
    for index in leaves.indices.sorted(by: {
      leaves[$0].keys.lowerBound < leaves[$1].keys.lowerBound
    }) {
      let keys = leaves[index].keys
      if groups.isEmpty || keys.lowerBound >= end { groups.append([]) }
      groups[groups.count - 1].append(index)
      end = max(end, keys.upperBound)
    }
  }

  /// The leaves that together contain all pairs, whose sum is `target`; `nil` if none are found.
  func leaves(making target: ContentDigest) -> [Int]? {
    // A choice that leaves room for another leaf is rarely right, so maximal choices are tried
    // first.
    for isMaximal in [true, false] {
      let groups = groups.compactMap { self.choices(of: $0, isMaximal: isMaximal) }
      guard groups.count == self.groups.count else { return nil }
      if let found = Self.search(groups, target) { return found }
    }
    return nil
  }

  /// The leaves of a commit that changed some leaves of `earlier`.
  ///
  /// The result is `nil` unless all leaves that the commit wrote are in ``leaves``.
  ///
  /// - Parameter change: The change of the digest by the commit. Lost leaves that the commit did
  ///   not write are in the digests of both commits.
  func leaves(changing earlier: Set<Int>, by change: ContentDigest) -> [Int]? {
    for isMaximal in [true, false] {
      let groups = groups.compactMap { group -> Group? in
        guard var changed = choices(of: group, isMaximal: isMaximal) else { return nil }
        let unchanged = group.filter(earlier.contains)
        if !changed.choices.contains(where: { $0.leaves == unchanged }) {
          changed.choices.append((unchanged, sum(unchanged)))
        }
        let before = sum(unchanged)
        for index in changed.choices.indices { changed.choices[index].sum -= before }
        return changed
      }
      guard groups.count == self.groups.count else { return nil }
      if let found = Self.search(groups, change) { return found }
    }
    return nil
  }

  private func sum(_ indices: [Int]) -> ContentDigest {
    indices.reduce(into: ContentDigest()) { $0 += leaves[$1].sum }
  }

  /// The choices of leaves of a group whose ranges do not overlap; `nil` if there are too many.
  ///
  /// - Parameter isMaximal: Whether each leaf that overlaps no chosen leaf must be chosen too.
  private func choices(of group: [Int], isMaximal: Bool) -> Group? {
    var result: [(leaves: [Int], sum: ContentDigest)] = []
    var steps = 0
    /// Adds the choices that continue at a leaf of the group, after the key `end`.
    func go(_ position: Int, _ chosen: [Int], _ end: UInt128) -> Bool {
      steps += 1
      guard steps <= Self.mostSteps else { return false }
      guard position < group.count else {
        if !isMaximal || isMaximalChoice(chosen, of: group) { result.append((chosen, sum(chosen))) }
        return result.count <= Self.mostChoices
      }
      let keys = leaves[group[position]].keys
      if keys.lowerBound >= end, !go(position + 1, chosen + [group[position]], keys.upperBound) {
        return false
      }
      return go(position + 1, chosen, end)
    }
    guard go(0, [], 0) else { return nil }
    return Group(choices: result)
  }

  private func isMaximalChoice(_ chosen: [Int], of group: [Int]) -> Bool {
    group.allSatisfy { index in
      chosen.contains(index) || chosen.contains { leaves[$0].keys.overlaps(leaves[index].keys) }
    }
  }

  /// Selects one choice for each group so that the sums make `target`.
  ///
  /// All sums of one half of the groups are compared with the sums of the other half.
  private static func search(_ groups: [Group], _ target: ContentDigest) -> [Int]? {
    var fixed: [Int] = []
    var rest = target
    var halves: [[Group]] = [[], []]
    var counts = [1, 1]
    for group in groups.sorted(by: { $0.choices.count > $1.choices.count }) {
      if group.choices.count == 1 {
        fixed += group.choices[0].leaves
        rest -= group.choices[0].sum
        continue
      }
      let half = counts[0] <= counts[1] ? 0 : 1
      counts[half] *= group.choices.count
      guard counts[half] <= mostSums else { return nil }
      halves[half].append(group)
    }
    let first = sums(halves[0])
    let second = sums(halves[1])
    let places = Dictionary(zip(first, first.indices)) { first, _ in first }
    for (index, sum) in second.enumerated() {
      var missing = rest
      missing -= sum
      guard let place = places[missing] else { continue }
      return fixed + leaves(place, halves[0]) + leaves(index, halves[1])
    }
    return nil
  }

  /// The sum of each combination of choices.
  ///
  /// The first group is the lowest digit of a combination's number.
  private static func sums(_ groups: [Group]) -> [ContentDigest] {
    groups.reduce([ContentDigest()]) { sums, group in
      group.choices.flatMap { choice in
        sums.map { sum in
          var result = sum
          result += choice.sum
          return result
        }
      }
    }
  }

  private static func leaves(_ number: Int, _ groups: [Group]) -> [Int] {
    var number = number
    var result: [Int] = []
    for group in groups {
      result += group.choices[number % group.choices.count].leaves
      number /= group.choices.count
    }
    return result
  }
}

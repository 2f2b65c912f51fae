internal import LodestoreFormat

/// The records with the highest scores; those with lower ids first among equal scores.
struct BestMatches {
  struct Match: Equatable {
    var id: UInt64
    var score: Double

    /// Whether the match comes after `other`.
    @inline(__always)
    func isWorse(than other: Match) -> Bool {
      score != other.score ? score < other.score : id > other.id
    }
  }

  private let capacity: Int
  /// A heap with the worst match first.
  private var heap: [Match] = []

  init(capacity: Int) {
    self.capacity = capacity
    heap.reserveCapacity(min(capacity, 1 << 16))
  }

  /// The score that a match must exceed; records come in the order of ids.
  private(set) var threshold = -Double.infinity

  @inline(__always)
  mutating func add(
    _ id: UInt64, _ score: Double, _ isWanted: (UInt64) throws -> Bool
  ) rethrows {
    if score > threshold, try isWanted(id) { insert(Match(id: id, score: score)) }
  }

  private mutating func insert(_ match: Match) {
    if heap.count < capacity {
      heap.append(match)
      var child = heap.count - 1
      while child > 0 {
        let parent = (child - 1) / 2
        guard heap[child].isWorse(than: heap[parent]) else { break }
        heap.swapAt(child, parent)
        child = parent
      }
    } else {
      var parent = 0
      while true {
        var child = 2 * parent + 1
        if child >= heap.count { break }
        if child + 1 < heap.count, heap[child + 1].isWorse(than: heap[child]) { child += 1 }
        guard heap[child].isWorse(than: match) else { break }
        heap[parent] = heap[child]
        parent = child
      }
      heap[parent] = match
    }
    if heap.count == capacity, let worst = heap.first { threshold = worst.score }
  }

  /// The matches, the best first.
  var sorted: [Match] { heap.sorted { $1.isWorse(than: $0) } }
}

extension BestMatches {
  /// Returns the `count` best matches of a search among the records for which `isWanted` is true.
  ///
  /// The closure is called only for records that are among the best so far.
  ///
  /// - Parameter filter: the only records that are wanted; `nil` for all.
  static func of(
    _ node: any SearchNode, count: Int, among filter: GivenRecords?,
    where isWanted: (UInt64) throws -> Bool
  ) throws -> [Match] {
    var best = BestMatches(capacity: count)
    if count == 0 { return [] }
    if let all = node as? AllNode, let terms = all.parts as? [TermPostings] {
      try best.addAll(terms, filter, excluding: all.excluded, isWanted)
    } else if let any = node as? AnyNode, !any.takesHighest,
      let terms = any.parts as? [TermPostings]
    {
      try best.addAny(terms, filter, isWanted)
    } else if let term = node as? TermPostings {
      try best.addAll([term], filter, excluding: [], isWanted)
    } else {
      let node = AllNode.of(node, among: filter)
      if let found = try node.bestByBeginning(count, where: isWanted) { return found }
      try node.advance(to: 1)
      while node.id != .max {
        try best.add(node.id, try node.score(), isWanted)
        try node.advance(to: node.id + 1)
      }
    }
    return best.sorted
  }

  /// Adds the records that have all terms, and leaves out ranges of ids whose blocks cannot have a
  /// better match.
  private mutating func addAll(
    _ terms: [TermPostings], _ filter: GivenRecords?, excluding excluded: [any SearchNode],
    _ isWanted: (UInt64) throws -> Bool
  ) throws {
    var from: UInt64 = 1
    while true {
      var end = UInt64.max
      var bound = 0.0
      guard let next = filter.next(from) else { return }
      from = next
      for term in terms {
        if term.id == .max { return }
        try term.seekBlock(from)
        if term.id == .max { return }
        from = max(from, term.id)
      }
      for term in terms {
        try term.seekBlock(from)
        if term.id == .max { return }
        end = min(end, term.blockEnd)
        bound += term.blockBound
      }
      if bound > threshold {
        while true {
          let id = try AllNode.next(terms, among: filter, excluded, from: from)
          if id == .max { return }
          if id > end {
            from = id
            break
          }
          var score = 0.0
          for term in terms { score += try term.score() }
          try add(id, score, isWanted)
          from = id + 1
          if from > end { break }
        }
      } else {
        guard end < .max else { return }
        from = end + 1
      }
    }
  }

  /// Adds the records that have any of the terms (block-max MaxScore by ranges of ids).
  private mutating func addAny(
    _ all: [TermPostings], _ filter: GivenRecords?, _ isWanted: (UInt64) throws -> Bool
  ) throws {
    var terms = all.filter { $0.id != .max }
    var from: UInt64 = 1
    while !terms.isEmpty {
      guard let next = filter.next(from) else { return }
      from = next
      var end = UInt64.max
      var bound = 0.0
      for term in terms {
        try term.seekBlock(from)
        end = min(end, term.blockEnd)
        bound += term.blockBound
      }
      if bound > threshold { try addAny(terms, from...end, filter, isWanted) }
      guard end < .max else { return }
      from = end + 1
      terms.removeAll { $0.id == .max }
    }
  }

  /// Adds the records of a range of ids, within which each term has one block.
  private mutating func addAny(
    _ terms: [TermPostings], _ range: ClosedRange<UInt64>, _ filter: GivenRecords?,
    _ isWanted: (UInt64) throws -> Bool
  ) throws {
    let terms = terms.sorted { $0.blockBound < $1.blockBound }
    // The sums of the bounds of the terms up to each one.
    var sums: [Double] = []
    for term in terms { sums.append((sums.last ?? 0) + term.blockBound) }
    var from = range.lowerBound
    while true {
      // Only a record with one of the terms from here on can be a better match.
      guard let essential = sums.firstIndex(where: { $0 > threshold }) else { return }
      guard let first = filter.next(from), first <= range.upperBound else { return }
      from = first
      var id = UInt64.max
      for term in terms[essential...] {
        try term.advance(to: from)
        id = min(id, term.id)
      }
      guard id <= range.upperBound, id != .max else { return }
      if let filter {
        filter.advance(to: id)
        guard filter.id == id else {
          from = id
          continue
        }
      }
      var score = 0.0
      for term in terms[essential...] where term.id == id { score += try term.score() }
      for index in (0..<essential).reversed() {
        if score + sums[index] <= threshold { break }
        try terms[index].advance(to: id)
        if terms[index].id == id { score += try terms[index].score() }
      }
      try add(id, score, isWanted)
      if id == range.upperBound { return }
      from = id + 1
    }
  }
}

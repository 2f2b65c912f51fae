internal import LodestoreBytes
internal import LodestoreFormat

/// Records that match all of several parts, and none of others.
final class AllNode: SearchNode {
  /// The parts that must match, the rarest first.
  let parts: [any SearchNode]
  let excluded: [any SearchNode]
  private(set) var id: UInt64 = 0

  init(_ parts: [any SearchNode], excluding excluded: [any SearchNode] = []) {
    self.parts = parts.sorted { $0.recordCount < $1.recordCount }
    self.excluded = excluded
  }

  var recordCount: UInt64 { parts.first?.recordCount ?? 0 }

  func advance(to target: UInt64) throws {
    if id >= target { return }
    id = try Self.next(parts, excluded, from: target)
  }

  /// Returns the first record from `target` on that matches.
  static func next<Part: SearchNode>(
    _ parts: [Part], among filter: GivenRecords? = nil, _ excluded: [any SearchNode],
    from target: UInt64
  ) throws -> UInt64 {
    try next(parts, advance: { try $0.advance(to: $1) }, id: { $0.id }, filter, excluded, target)
  }

  static func next(
    _ parts: [any SearchNode], _ excluded: [any SearchNode], from target: UInt64
  ) throws -> UInt64 {
    try next(parts, advance: { try $0.advance(to: $1) }, id: { $0.id }, nil, excluded, target)
  }

  @inline(__always)
  private static func next<Part>(
    _ parts: [Part], advance: (Part, UInt64) throws -> Void, id: (Part) -> UInt64,
    _ filter: GivenRecords?, _ excluded: [any SearchNode], _ target: UInt64
  ) throws -> UInt64 {
    var target = target
    if parts.isEmpty { return .max }
    search: while true {
      if let filter {
        filter.advance(to: target)
        target = filter.id
      }
      if target == .max { return .max }
      for part in parts {
        try advance(part, target)
        let next = id(part)
        if next != target {
          target = next
          continue search
        }
      }
      for part in excluded {
        try part.advance(to: target)
        if part.id == target {
          target += 1
          continue search
        }
      }
      return target
    }
  }

  func score() throws -> Double {
    var score = 0.0
    for part in parts { score += try part.score() }
    return score
  }

  /// The scores of all records; before the first move.
  func scores() throws -> ScoreTable {
    let table = ScoreTable()
    if parts.count == 1, excluded.isEmpty, let term = parts[0] as? TermPostings {
      try term.addScores(to: table)
      return table
    }
    try advance(to: 1)
    while id != .max {
      table.raise(id, to: try score())
      try advance(to: id + 1)
    }
    return table
  }

  var hasPrefix: Bool { parts.contains(where: \.hasPrefix) }
  func restrict(to wanted: ScoreTable) { for part in parts { part.restrict(to: wanted) } }
}

/// Records that match all of several parts, of which some are beginnings of words.
///
/// A beginning may have thousands of words. So the records that match the other parts are found
/// first, and the postings of other records are left out.
final class TypedNode: SearchNode {
  let others: AllNode
  let typed: [any SearchNode]
  private var all: AllNode?
  private(set) var id: UInt64 = 0

  init(_ others: AllNode, _ typed: [any SearchNode]) {
    self.others = others
    self.typed = typed
  }

  var recordCount: UInt64 { ([others] + typed).map(\.recordCount).min() ?? 0 }
  var hasPrefix: Bool { true }

  func advance(to target: UInt64) throws {
    if id >= target { return }
    let all = try all ?? restricted()
    self.all = all
    try all.advance(to: target)
    id = all.id
  }

  private func restricted() throws -> AllNode {
    let table = try others.scores()
    for part in typed { part.restrict(to: table) }
    return AllNode([table.sorted()] + typed)
  }

  func score() throws -> Double { try all?.score() ?? 0 }
}

/// Records that match at least one of several parts.
final class AnyNode: SearchNode {
  let parts: [any SearchNode]
  /// Whether the score is the highest of the parts' scores, and not their sum.
  let takesHighest: Bool
  private(set) var id: UInt64 = 0

  init(_ parts: [any SearchNode], takesHighest: Bool = false) {
    self.parts = parts
    self.takesHighest = takesHighest
  }

  var recordCount: UInt64 {
    parts.reduce(0) { $0.addingReportingOverflow($1.recordCount).partialValue }
  }

  func advance(to target: UInt64) throws {
    if id >= target { return }
    var next = UInt64.max
    for part in parts {
      try part.advance(to: target)
      next = min(next, part.id)
    }
    id = next
  }

  func score() throws -> Double {
    var score = 0.0
    for part in parts where part.id == id {
      let next = try part.score()
      score = takesHighest ? max(score, next) : score + next
    }
    return score
  }

  var hasPrefix: Bool { parts.contains(where: \.hasPrefix) }
  func restrict(to wanted: ScoreTable) { for part in parts { part.restrict(to: wanted) } }
}

/// Records that have given terms at given distances in one text.
final class PhraseNode: SearchNode {
  /// The terms with their places in the phrase.
  private let terms: [(postings: TermPostings, place: UInt32)]
  private let all: [TermPostings]
  private let sourceCount: Int
  private let sources: Set<UInt32>?
  private(set) var id: UInt64 = 0
  /// The places at which the phrase begins in the current record, as source and position.
  private(set) var starts: Set<UInt64> = []

  /// - Parameter sources: the sources in which the terms are sought; `nil` for all.
  init(
    _ terms: [(postings: TermPostings, place: UInt32)], sourceCount: Int, sources: Set<UInt32>?
  ) {
    self.sources = sources
    self.terms = terms.sorted { $0.postings.recordCount < $1.postings.recordCount }
    all = self.terms.map(\.postings)
    self.sourceCount = sourceCount
  }

  var recordCount: UInt64 { terms.first?.postings.recordCount ?? 0 }

  func advance(to target: UInt64) throws {
    if id >= target { return }
    var target = target
    while true {
      id = try AllNode.next(all, among: nil, [], from: target)
      if id == .max { return }
      if try hasPhrase() { return }
      target = id + 1
    }
  }

  private func hasPhrase() throws -> Bool {
    var starts: Set<UInt64>?
    for (postings, place) in terms {
      guard let positions = try postings.currentPositions() else { return false }
      var found: Set<UInt64> = []
      try PositionList.forEach(positions, sourceCount: sourceCount) { source, position in
        guard position >= place, sources?.contains(source) ?? true else { return }
        let start = UInt64(source) << 32 | UInt64(position - place)
        if starts?.contains(start) ?? true { found.insert(start) }
      }
      if found.isEmpty { return false }
      starts = found
    }
    self.starts = starts ?? []
    return true
  }

  /// The sum of the scores of the words.
  func score() throws -> Double {
    var score = 0.0
    for part in all { score += try part.score() }
    return score
  }
}

/// The properties of all scalars for the analysis, made from ``TextFolding`` at first use.
final class AnalysisTables: Sendable {
  static let shared = AnalysisTables()

  private static let blockBits: UInt32 = 7
  private static let blockSize = 1 << 7
  /// The start of the words for each group of 128 scalars.
  ///
  /// Groups of scalars that are all alike share their words.
  private let blocks: [UInt32]
  private let words: [UInt32]
  /// The foldings to several scalars.
  ///
  /// Each is a count, then for each scalar its facts and the scalar itself.
  private let expansions: [UInt32]

  @inline(__always)
  func facts(_ scalar: UInt32) -> ScalarFacts {
    let block = Int(scalar &>> Self.blockBits)
    guard block < blocks.count else { return ScalarFacts(word: 0) }
    return ScalarFacts(
      word: words[Int(blocks[block]) &+ Int(scalar) & (Self.blockSize &- 1)])
  }

  /// The number of scalars of a folding to several.
  func expansionCount(of facts: ScalarFacts) -> Int { Int(expansions[Int(facts.payload)]) }

  func expansion(of facts: ScalarFacts, at index: Int) -> (scalar: UInt32, facts: ScalarFacts) {
    let place = Int(facts.payload) &+ 1 &+ 2 &* index
    return (expansions[place &+ 1], ScalarFacts(word: expansions[place]))
  }

  private init() {
    let folding = TextFolding()
    var blocks: [UInt32] = []
    var words: [UInt32] = []
    var expansions: [UInt32] = []
    var uniform: [UInt32: UInt32] = [:]
    for first in stride(from: 0, to: TextFolding.end, by: Self.blockSize) {
      let members = first..<(first + UInt32(Self.blockSize))
      let place = UInt32(words.count)
      guard TextFolding.empty.contains(first) || Self.isUniform(members, folding) else {
        blocks.append(place)
        for scalar in members { words.append(Self.word(scalar, folding, &expansions)) }
        continue
      }
      let word = Self.word(first, folding, &expansions)
      if uniform[word] == nil {
        uniform[word] = place
        words.append(contentsOf: repeatElement(word, count: Self.blockSize))
      }
      blocks.append(uniform[word] ?? place)
    }
    self.blocks = blocks
    self.words = words
    self.expansions = expansions
  }

  /// Whether the members of a block have the same properties and roles, as most ideographs have.
  private static func isUniform(_ members: Range<UInt32>, _ folding: TextFolding) -> Bool {
    let (first, last) = (members.lowerBound, members.upperBound - 1)
    let properties = folding[first]
    let normalization = NormalizationTables.shared
    return !properties.isMapped && folding.role(of: first) == folding.role(of: last)
      && members.allSatisfy {
        folding[$0] == properties && normalization.facts($0).isBoundary
      }
  }

  private static func word(
    _ scalar: UInt32, _ folding: TextFolding, _ expansions: inout [UInt32]
  ) -> UInt32 {
    let wordClass = folding[scalar].wordClass
    let isPictograph = folding[scalar].isPictograph
    let folded = folding.folded(scalar)
    func facts(_ index: Int, flags: UInt32, payload: UInt32) -> UInt32 {
      let made = folded[index].scalar
      let composes =
        NormalizationTables.shared.facts(made).isBoundary ? 0 : ScalarFacts.composes
      return ScalarFacts(
        wordClass, isPictograph: isPictograph, role: folding.role(of: made),
        folded[index].letterCase, flags: flags | composes, payload: payload
      ).word
    }
    if folded.isEmpty {
      return ScalarFacts(
        wordClass, isPictograph: isPictograph, role: .ignored, .none, flags: 0, payload: 0
      ).word
    }
    if folded.count == 1, folded[0].scalar < ScalarFacts.payloadEnd {
      let isSame = folded[0].scalar == scalar
      return facts(
        0, flags: isSame ? 0 : ScalarFacts.isReplaced, payload: isSame ? 0 : folded[0].scalar)
    }
    let place = UInt32(expansions.count)
    expansions.append(UInt32(folded.count))
    for index in folded.indices {
      expansions.append(facts(index, flags: 0, payload: 0))
      expansions.append(folded[index].scalar)
    }
    return facts(0, flags: ScalarFacts.isExpanded, payload: place)
  }
}

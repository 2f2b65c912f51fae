/// The folding of single scalars and their roles, as Format.md, "Annex: analysis of texts", has
/// them.
///
/// This type answers slowly; ``AnalysisTables`` holds its answers.
struct TextFolding {
  /// Scalars of the class Extend in these ranges are ignored; all others stay as marks.
  static let ignoredMarks: [ClosedRange<UInt32>] = [
    0x300...0x74a, 0x7eb...0x8ff, 0x951...0x954, 0x135d...0x135f, 0x180b...0x180f,
    0x1ab0...0x1aff, 0x1cd0...0x1cff, 0x1dc0...0x1dff, 0x200c...0x20f0, 0x2cef...0x2dff,
    0x302a...0x302f, 0xa66f...0xa69f, 0xa8e0...0xa8f1, 0xfb1e...0xfe2f, 0x10eab...0x10eff,
    0x1e000...0x1e08f, 0x1f3fb...0x1f3ff, 0xe0000...0xe0fff,
  ]
  /// The letter that lengthens Arabic words, fillers of Hangul, and the signs for trade marks and
  /// service marks.
  static let ignoredScalars: Set<UInt32> = [0x640, 0x115f, 0x2120, 0x2122, 0x3164]
  static let apostrophes: Set<UInt32> = [
    0x22, 0x27, 0x2018, 0x2019, 0x2bb, 0x2bc, 0x5f3, 0x5f4,
  ]
  /// Letters with strokes and ligatures, which have no decomposition, and Arabic signs in numbers.
  static let replacements: [UInt32: [UInt32]] = [
    0xe6: [0x61, 0x65], 0xf0: [0x64], 0xf8: [0x6f], 0xfe: [0x74, 0x68], 0x111: [0x64],
    0x127: [0x68], 0x142: [0x6c], 0x153: [0x6f, 0x65], 0x167: [0x74], 0x66b: [0x2e], 0x66c: [0x2c],
  ]
  static let hangul: [ClosedRange<UInt32>] = [
    0x1100...0x11ff, 0x3131...0x318e, 0xa960...0xa97c, 0xac00...0xd7a3, 0xd7b0...0xd7fb,
  ]
  /// Vowels and finals of Hangul, which stay with the initial before them.
  static let hangulMarks: [ClosedRange<UInt32>] = [0x1160...0x11ff, 0xd7b0...0xd7fb]
  /// Scalars that are not decomposed: the vowel AM of Thai and Lao, and letters of Hangul.
  static let undecomposed: [ClosedRange<UInt32>] = [0xe33...0xe33, 0xeb3...0xeb3, 0x3131...0x318e]

  /// Scalars from here on have no properties.
  static let end: UInt32 = 0xe1000
  /// The scalars of these planes have no properties.
  static let empty: Range<UInt32> = 0x40000..<0xe0000

  /// The properties of a scalar that the tables of Unicode name.
  struct Properties: Equatable {
    var wordClass = WordClass.other
    var isLetter = false
    var isPictograph = false
    var digit: UInt8?
    /// The scalar has a decomposition, another case or a replacement.
    var isMapped = false
  }

  private let compatibility = CaseTable(CaseData.compatibility)
  private var all: [Properties]

  init() {
    all = Array(repeating: Properties(), count: Int(Self.end))
    readRuns()
    for scalar in Self.ignoredScalars { all[Int(scalar)].isMapped = true }
    let tables = [
      Self.replacements, compatibility.results, CaseTable.lower.results, CaseTable.upper.results,
    ]
    for scalar in tables.flatMap(\.keys) { all[Int(scalar)].isMapped = true }
    let normalization = NormalizationTables.shared
    for scalar in 0..<UInt32(0x30000)
    where normalization.facts(scalar).has(NormalizationFacts.hasDecomposition) {
      all[Int(scalar)].isMapped = true
    }
  }

  subscript(scalar: UInt32) -> Properties {
    scalar < Self.end ? all[Int(scalar)] : Properties()
  }

  private mutating func readRuns() {
    forEachRun(WordData.wordClasses) { run, number, all in
      let wordClass = WordClass(rawValue: number) ?? .other
      for scalar in run { all[scalar].wordClass = wordClass }
    }
    forEachRun(WordData.letters) { run, _, all in for scalar in run { all[scalar].isLetter = true }
    }
    forEachRun(WordData.pictographs) { run, _, all in
      for scalar in run { all[scalar].isPictograph = true }
    }
    forEachRun(WordData.digits) { run, _, all in
      for scalar in run {
        all[scalar].digit = UInt8((scalar - run.lowerBound) % 10)
        all[scalar].isMapped = scalar >= 0x80
      }
    }
  }

  private mutating func forEachRun(
    _ text: StaticString,
    _ body: (_ run: Range<Int>, _ number: UInt32, _ all: inout [Properties]) -> Void
  ) {
    var reader = NormalizationDataReader(text)
    var next = 0
    while reader.hasEntry() {
      let first = next + Int(reader.number())
      next = first + (reader.take("*") ? Int(reader.number()) : 1)
      body(first..<next, reader.take("=") ? reader.number() : 0, &all)
    }
  }

  private static func contains(_ ranges: [ClosedRange<UInt32>], _ scalar: UInt32) -> Bool {
    ranges.contains { $0.contains(scalar) }
  }

  /// The role of a folded scalar.
  func role(of scalar: UInt32) -> WordRole {
    let properties = self[scalar]
    let wordClass = properties.wordClass
    if Self.ignoredScalars.contains(scalar) || wordClass == .format || wordClass == .joiner {
      return .ignored
    }
    if wordClass == .extend {
      return Self.contains(Self.ignoredMarks, scalar) ? .ignored : .mark
    }
    if Self.contains(Self.hangulMarks, scalar) { return .mark }
    if Self.apostrophes.contains(scalar) { return .apostrophe }
    if properties.digit != nil { return .digit }
    if properties.isLetter {
      let isGram =
        wordClass == .other || wordClass == .katakana || Self.contains(Self.hangul, scalar)
      return isGram ? .gram : .letter
    }
    let isEmoji =
      properties.isPictograph && scalar >= 0x231a && !(0x25a0...0x25ff).contains(scalar)
    return isEmoji || wordClass == .regionalIndicator ? .emoji : .separator
  }

  /// The scalars that take the place of `scalar`, without ignored ones, each with its case.
  func folded(_ scalar: UInt32) -> [(scalar: UInt32, letterCase: LetterCase)] {
    guard self[scalar].isMapped else {
      return role(of: scalar) == .ignored ? [] : [(scalar, .none)]
    }
    if Self.ignoredScalars.contains(scalar) { return [] }
    var result: [(scalar: UInt32, letterCase: LetterCase)] = []
    for part in decomposed(scalar) where role(of: part) != .ignored {
      var letterCase: LetterCase =
        CaseTable.lower.results[part] != nil
        ? .capital : CaseTable.upper.results[part] != nil ? .small : .none
      for lower in CaseTable.lower[part].flatMap({ CaseTable.upper[$0] })
        .flatMap({ CaseTable.lower[$0] })
      {
        let digit = self[lower].digit.map { [0x30 + UInt32($0)] }
        for made in digit ?? Self.replacements[lower] ?? [lower] {
          result.append((made, letterCase))
          if letterCase != .none { letterCase = .continued }
        }
      }
    }
    return composed(result)
  }

  /// The full compatibility decomposition.
  private func decomposed(_ scalar: UInt32) -> [UInt32] {
    if Self.contains(Self.undecomposed, scalar) { return [scalar] }
    let tables = NormalizationTables.shared
    let facts = tables.facts(scalar)
    if facts.has(NormalizationFacts.hasDecomposition) {
      return tables.decompositions[facts.decomposition].flatMap { decomposed($0) }
    }
    return compatibility.results[scalar]?.flatMap { decomposed($0) } ?? [scalar]
  }

  /// The scalars in NFC, so that a letter with a mark that stays is one scalar if possible.
  private func composed(
    _ scalars: [(scalar: UInt32, letterCase: LetterCase)]
  ) -> [(scalar: UInt32, letterCase: LetterCase)] {
    guard scalars.count > 1 else { return scalars }
    var bytes: [UInt8] = []
    for (scalar, _) in scalars { UTF8Scalar.append(scalar, to: &bytes) }
    var normal: [UInt8] = []
    bytes._withBytes { Normalization.appendNFC(of: $0, to: &normal) }
    let made = String(decoding: normal, as: UTF8.self).unicodeScalars.map(\.value)
    return made.enumerated().map { index, scalar in
      (scalar, index < scalars.count ? scalars[index].letterCase : .none)
    }
  }
}

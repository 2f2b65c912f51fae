import Foundation
import LodestoreBytes
import Testing

@testable import LodestoreFormat

/// The file with the data of Unicode, for programs in other languages, has the same tables as the
/// code.
///
/// `LODESTORE_RENEW=1` rewrites it.
@Suite struct UnicodeFileTests {
  private static let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Format-Unicode-17.0.txt").path

  @Test func `the file of Unicode tables has exactly the lines that the tables make`() throws {
    let made = Self.head + Self.lines().joined(separator: "\n") + "\n"
    if ProcessInfo.processInfo.environment["LODESTORE_RENEW"] != nil {
      try made.write(toFile: Self.path, atomically: true, encoding: .utf8)
    }
    let text = try String(contentsOfFile: Self.path, encoding: .utf8)
    let (found, wanted) = (text.split(separator: "\n"), made.split(separator: "\n"))
    #expect(found.count == wanted.count)
    for (line, other) in zip(found, wanted) where line != other {
      Issue.record("'\(line)' is in the file, '\(other)' in the tables")
      return
    }
    #expect(text == made)
  }

  @Test func `the file of Unicode tables maps every scalar as the code does`() throws {
    var classes: [UInt32: Int] = [:]
    var parts: [UInt32: [UInt32]] = [:]
    var lower: [UInt32: [UInt32]] = [:]
    var upper: [UInt32: [UInt32]] = [:]
    var marks: Set<UInt32> = []
    for line in try String(contentsOfFile: Self.path, encoding: .utf8).split(separator: "\n")
    where !line.hasPrefix("#") {
      let words = line.split(separator: " ")
      let bounds = words[1].split(separator: ".").compactMap { UInt32($0, radix: 16) }
      let range = try #require(bounds.first)...(try #require(bounds.last))
      let scalars = words.dropFirst(2).compactMap { UInt32($0, radix: 16) }
      switch words[0] {
      case "class": for scalar in range { classes[scalar] = Int(words[2]) }
      case "pair", "single": parts[range.lowerBound] = scalars
      case "lower": lower[range.lowerBound] = scalars
      case "upper": upper[range.lowerBound] = scalars
      case "mark": marks.formUnion(range)
      case "compat", "word", "letter", "digit", "pictograph":
        // AnalysisExamplesTests and the reader in Python compare these with the code.
        continue
      default: Issue.record("a line begins with '\(words[0])'")
      }
    }
    func isSame(_ text: String, _ scalars: [UInt32]) -> Bool {
      text.unicodeScalars.map(\.value) == scalars
    }
    func decomposed(_ scalar: UInt32) -> [UInt32] {
      parts[scalar].map { $0.flatMap(decomposed) } ?? [scalar]
    }
    for value in UInt32(0)...0x10ffff {
      guard let scalar = Unicode.Scalar(value), !Hangul.syllables.contains(value) else { continue }
      let facts = NormalizationTables.shared.facts(value)
      var isRight =
        Int(facts.combiningClass) == classes[value] ?? 0
        && facts.has(NormalizationFacts.hasDecomposition) == (parts[value] != nil)
      // All other scalars have neither case, decomposition nor marks, so nothing changes them.
      if value < 0x20000 || parts[value] != nil || marks.contains(value) {
        let alone = String(scalar)
        isRight =
          isRight && isSame(TextMapping.lowercase.mapped(alone), lower[value] ?? [value])
          && isSame(TextMapping.uppercase.mapped(alone), upper[value] ?? [value])
          && isSame(String(decoding: Self.nfd(alone), as: UTF8.self), decomposed(value))
          && (!marks.contains(value) || TextMapping.canonical.mapped(alone).isEmpty)
      }
      guard isRight else {
        Issue.record("U+\(String(value, radix: 16))")
        return
      }
    }
    #expect(marks.count > 1_900)
  }

  private static func nfd(_ text: String) -> [UInt8] {
    var result: [UInt8] = []
    Array(text.utf8)._withBytes { Normalization.appendNFD(of: $0, to: &result) }
    return result
  }

  private static let head = """
    # What Lodestore files follow of Unicode 17.0. See Format.md, "Annex: data of Unicode".
    #
    # Facts of the Unicode Character Database, version 17.0 (https://www.unicode.org/Public/17.0.0/ucd/), in a
    # form of our own: combining classes, canonical decompositions, which of them are excluded from composition,
    # case mappings without conditions, the general category Mn, compatibility decompositions, classes of word
    # boundaries, and what letters, numbers and pictographs are. Unicode's terms are at
    # https://www.unicode.org/license.txt. Frozen: files depend on it, so no later version takes its place.
    #
    # class FIRST[..LAST] NUMBER    combining class, where it is not 0
    # pair SCALAR FIRST SECOND      canonical decomposition, one step; the pair composes to the scalar
    # single SCALAR PART...         canonical decomposition, one step; never composed
    # lower SCALAR RESULT...        lower case, where it is another text
    # upper SCALAR RESULT...        upper case, where it is another text
    # mark FIRST[..LAST]            general category Mn
    # compat SCALAR RESULT...       compatibility decomposition, one step
    # word FIRST[..LAST] CLASS      Word_Break, where it is not Other
    # letter FIRST[..LAST]          general categories L, Nl and No
    # digit FIRST[..LAST]           general category Nd, in groups of ten from zero to nine
    # pictograph FIRST[..LAST]      Extended_Pictographic

    """

  private static func hex(_ value: UInt32) -> String {
    let digits = String(value, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }

  private static func range(_ first: UInt32, _ count: UInt32) -> String {
    count == 1 ? hex(first) : hex(first) + ".." + hex(first + count - 1)
  }

  private static func lines() -> [String] {
    var lines: [String] = []
    var reader = NormalizationDataReader(NormalizationData.combiningClasses)
    var scalar: UInt32 = 0
    while reader.hasEntry() {
      scalar += reader.number()
      let count = reader.take("*") ? reader.number() : 1
      let combiningClass = reader.take("=") ? reader.number() : 0
      lines.append("class \(range(scalar, count)) \(combiningClass)")
      scalar += count
    }
    reader = NormalizationDataReader(NormalizationData.decompositions)
    scalar = 0
    while reader.hasEntry() {
      scalar += reader.number()
      let isComposed = reader.take("+")
      let isPair = isComposed || reader.take("-")
      if !isPair { _ = reader.take(",") }
      var parts = [reader.number()]
      if isPair, reader.take(",") { parts.append(reader.number()) }
      lines.append(
        "\(isComposed ? "pair" : "single") \(hex(scalar)) "
          + parts.map(hex).joined(separator: " "))
    }
    lines += caseLines("lower", CaseData.lowercase)
    lines += caseLines("upper", CaseData.uppercase)
    lines += caseLines("mark", CaseData.marks)
    lines += caseLines("compat", CaseData.compatibility)
    lines += classLines()
    lines += caseLines("letter", WordData.letters)
    lines += caseLines("digit", WordData.digits)
    lines += caseLines("pictograph", WordData.pictographs)
    return lines
  }

  private static func classLines() -> [String] {
    var lines: [String] = []
    var reader = NormalizationDataReader(WordData.wordClasses)
    var scalar: UInt32 = 0
    while reader.hasEntry() {
      scalar += reader.number()
      let count = reader.take("*") ? reader.number() : 1
      let number = reader.take("=") ? reader.number() : 0
      lines.append("word \(range(scalar, count)) \(wordClassNames[Int(number) - 1])")
      scalar += count
    }
    return lines
  }

  /// The names of Unicode for the classes of ``WordClass`` after the first.
  private static let wordClassNames = [
    "CR", "LF", "Newline", "Extend", "ZWJ", "Format", "Regional_Indicator", "Katakana",
    "Hebrew_Letter", "ALetter", "Single_Quote", "Double_Quote", "MidNumLet", "MidLetter", "MidNum",
    "Numeric", "ExtendNumLet", "WSegSpace",
  ]

  private static func caseLines(_ word: String, _ text: StaticString) -> [String] {
    var lines: [String] = []
    var reader = NormalizationDataReader(text)
    var next: UInt32 = 0
    while reader.hasEntry() {
      next += reader.number()
      let step: UInt32 = reader.take("/") ? 2 : 1
      let count = step == 2 || reader.take("*") ? reader.number() : 1
      let sign: Int64 = reader.take("+") ? 1 : reader.take("-") ? -1 : 0
      if sign != 0 {
        let distance = Int64(reader.number()) * sign
        for index in 0..<count {
          let scalar = next + index * step
          lines.append("\(word) \(hex(scalar)) \(hex(UInt32(Int64(scalar) + distance)))")
        }
      } else if reader.take("=") {
        var made = [reader.number()]
        while reader.take(".") { made.append(reader.number()) }
        for scalar in next..<(next + count) {
          lines.append("\(word) \(hex(scalar)) " + made.map(hex).joined(separator: " "))
        }
      } else {
        lines.append("\(word) \(range(next, count))")
      }
      next += (count - 1) * step + 1
    }
    return lines
  }
}

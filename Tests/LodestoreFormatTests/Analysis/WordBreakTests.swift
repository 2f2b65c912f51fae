import LodestoreBytes
import Testing

@testable import LodestoreFormat

/// Word boundaries are those of Unicode 17.0.
@Suite struct `Word boundaries` {
  private static let cases = String(describing: WordBreakCases.all)
    .split { $0 == " " || $0 == "\n" }

  /// The ends of the segments of a text in UTF-8.
  private func ends(of text: [UInt8]) -> [Int] {
    text._withBytes { text in
      let breaks = WordBreaks(text: text, tables: .shared)
      var ends: [Int] = []
      while (ends.last ?? 0) < text.count { ends.append(breaks.segmentEnd(from: ends.last ?? 0)) }
      return ends
    }
  }

  @Test func `every case of Unicode's test of word boundaries holds`() {
    #expect(Self.cases.count == 1_944)
    for line in Self.cases {
      var text: [UInt8] = []
      var expected: [Int] = []
      for segment in line.split(separator: "|") {
        for scalar in segment.split(separator: ".") {
          UTF8Scalar.append(UInt32(scalar, radix: 36) ?? 0, to: &text)
        }
        expected.append(text.count)
      }
      #expect(ends(of: text) == expected, "\(line)")
    }
  }

  @Test func `segments of random bytes end, and cover the text`() {
    var generator = SeededGenerator(salt: 4901)
    for _ in 0..<2_000 {
      let text = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
        UInt8.random(in: 0...255, using: &generator)
      }
      #expect(ends(of: text).last ?? 0 == text.count)
    }
  }
}

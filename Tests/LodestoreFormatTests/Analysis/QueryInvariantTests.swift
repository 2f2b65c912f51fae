import LodestoreBytes
import Testing

@testable import LodestoreFormat

/// A query that is a part of a text finds the text.
@Suite struct `Queries taken from a text` {
  private static func part(_ text: String, _ range: Range<Int>) -> String {
    String(decoding: Array(text.utf8)[range], as: UTF8.self)
  }

  /// Whether the character is a vowel or a final consonant of Korean, which composes with the
  /// letters before it.
  ///
  /// The beginning of a syllable is another syllable, and finds nothing.
  private static func continuesSyllable(_ character: Character) -> Bool {
    let scalar = character.unicodeScalars.first?.value ?? 0
    return (0x1160...0x11ff).contains(scalar) || (0xd7b0...0xd7ff).contains(scalar)
  }

  private static func check(_ text: String) {
    let analyzed = AnalyzedText(text)
    let words = AnalyzedText.query(text)
    for first in words.indices {
      for last in first..<min(first + 4, words.count) {
        let taken = part(text, words[first].range.lowerBound..<words[last].range.upperBound)
        let query = AnalyzedText.query(taken)
        let isFound = analyzed.hasAll(query) && analyzed.hasPhrase(query)
        #expect(
          isFound && !query.isEmpty, "'\(taken)' of '\(text)' \(text.unicodeScalars.map(\.value))")
        guard let word = query.last else { continue }
        let beginning = part(taken, 0..<word.range.lowerBound)
        let characters = Array(part(taken, word.range))
        for count in characters.indices.dropFirst() where !continuesSyllable(characters[count]) {
          let typed = beginning + String(characters[..<count])
          let query = AnalyzedText.query(typed)
          #expect(
            analyzed.hasAll(query, lastIsPrefix: true)
              && (query.isEmpty || analyzed.hasPhrase(query, lastIsPrefix: true)),
            "the beginning '\(typed)' of '\(taken)' in '\(text)' \(text.unicodeScalars.map(\.value))"
          )
        }
      }
    }
  }

  @Test func `every word and phrase, and the beginning of every word, finds its text`() {
    var generator = SeededGenerator(salt: 4902)
    for _ in 0..<1_500 { Self.check(RandomTexts.text(&generator)) }
    for _ in 0..<500 { Self.check(RandomTexts.wildText(&generator)) }
  }

  @Test func `any segments of Unicode side by side find the run that they are taken from`() {
    for text in ["東京タワーとスカイツリー", "서울특별시", "แม่น้ำเจ้าพระยา", "မြန်မာဘာသာ", "ພາສາລາວ"] {
      let analyzed = AnalyzedText(text)
      var ends = [0]
      Array(text.utf8)._withBytes { utf8 in
        let breaks = WordBreaks(text: utf8, tables: .shared)
        while let last = ends.last, last < utf8.count {
          ends.append(breaks.segmentEnd(from: last))
        }
      }
      for (index, first) in ends.enumerated() {
        for end in ends.dropFirst(index + 1) {
          let taken = Self.part(text, first..<end)
          #expect(analyzed.hasPhrase(AnalyzedText.query(taken)), "'\(taken)' of '\(text)'")
        }
      }
    }
  }

  @Test func `terms are UTF-8 of at most 120 bytes, in the order of positions without a gap`() {
    var generator = SeededGenerator(salt: 4903)
    for round in 0..<1_500 {
      var bytes = Array(
        (round % 2 == 0 ? RandomTexts.text(&generator) : RandomTexts.wildText(&generator)).utf8)
      if round % 3 == 0 {
        for _ in 0..<3 {
          bytes.insert(
            .random(in: 0...255, using: &generator),
            at: .random(in: 0...bytes.count, using: &generator))
        }
      }
      var next = -1
      var known: Set<[UInt8]> = []
      bytes._withBytes { text in
        TextAnalysis.forEachTerm(in: text) { term, position, range in
          #expect(position == next || position == next + 1)
          if position != next { known = [] }
          next = position
          let array = Array(term)
          #expect(known.insert(array).inserted, "a term twice at a position")
          #expect((1...TextAnalysis.termLimit).contains(term.count) && !array.contains(0))
          #expect(Array(String(decoding: array, as: UTF8.self).utf8) == array)
          #expect(!range.isEmpty && range.upperBound <= text.count)
        }
      }
    }
  }
}

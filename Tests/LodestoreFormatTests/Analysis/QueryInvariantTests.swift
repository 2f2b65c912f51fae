import LodestoreBytes
import Testing

@testable import LodestoreFormat

/// Whatever is taken from a text finds the text.
@Suite struct `Queries taken from a text` {
  private static let samples: [[String]] = [
    ["new", "Hope", "AFNetworking", "iPhone15Pro", "don't", "l\u{2019}avion", "XMLHttpRequest2"],
    ["1,234.5", "1.2.3", "v10", "3rd", "2020-12-01", "x\u{b2}", "\u{bd}", "1_000"],
    ["Stra\u{df}e", "\u{1e9e}A", "e\u{301}t\u{e9}", "\u{fb01}n", "\u{c6}r\u{f8}", "\u{130}\u{131}"],
    ["Ωμέγα", "Ёлка", "Київ", "ЛевТолстой", "ქართული", "Հայերեն"],
    ["צה\"ל", "שָׁלוֹם", "العَرَبِيّة", "٣٫١٤", "فارسی\u{200c}ها"],
    ["हिन्दी", "क़लम", "বাংলা", "தமிழ்", "తెలుగు", "සිංහල"],
    ["東京", "スター・ウォーズ", "ｶﾞﾝﾀﾞﾑ", "か\u{3099}", "らーめん", "㍿", "三國志", "ㄅㄆㄇ"],
    ["서울특별시", "KBS뉴스9", "\u{1112}\u{1161}\u{11ab}", "ㅋㅋ"],
    ["แม่น้ำ", "ภาษาไทย๑๒", "ພາສາລາວ", "ភាសាខ្មែរ", "မြန်မာ"],
    ["👨‍👩‍👧", "🇫🇷🇩🇪", "👍🏽", "☀️", "1️⃣", "a\u{200d}🙂"],
    [" ", " ", "-", "_", ".", ",", "'", "\u{2010}", "・", "\n", "\u{ad}", "\u{200d}", "\u{e31}", "/"],
  ]

  private static func text(_ generator: inout SeededGenerator) -> String {
    var text = ""
    for _ in 0..<Int.random(in: 1...12, using: &generator) {
      let group = Bool.random(using: &generator) ? samples.last : samples.randomElement(using: &generator)
      let sample = group?.randomElement(using: &generator) ?? ""
      if Int.random(in: 0..<4, using: &generator) == 0 {
        text.unicodeScalars += sample.unicodeScalars.prefix(Int.random(in: 1...3, using: &generator))
      } else {
        text += sample
      }
    }
    return text
  }

  /// A text of any scalars, half of them in one block, or of nasty ones.
  private static func wildText(_ generator: inout SeededGenerator) -> String {
    if Bool.random(using: &generator) { return generator.nastyText(upTo: 12) }
    var text = ""
    let block = UInt32.random(in: 0..<0x320, using: &generator) << 8
    for _ in 0..<Int.random(in: 1...12, using: &generator) {
      let value =
        Bool.random(using: &generator)
        ? block + .random(in: 0...255, using: &generator) : .random(in: 0x20...0x3ffff, using: &generator)
      text.unicodeScalars.append(Unicode.Scalar(value) ?? " ")
    }
    return text
  }

  private static func part(_ text: String, _ range: Range<Int>) -> String {
    String(decoding: Array(text.utf8)[range], as: UTF8.self)
  }

  private static func check(_ text: String) {
    let analyzed = AnalyzedText(text)
    let words = AnalyzedText.query(text)
    for first in words.indices {
      for last in first..<min(first + 4, words.count) {
        let taken = part(text, words[first].range.lowerBound..<words[last].range.upperBound)
        let query = AnalyzedText.query(taken)
        let isFound = analyzed.hasAll(query) && analyzed.hasPhrase(query)
        #expect(isFound && !query.isEmpty, "'\(taken)' of '\(text)' \(text.unicodeScalars.map(\.value))")
        guard let word = query.last else { continue }
        let beginning = part(taken, 0..<word.range.lowerBound)
        let characters = Array(part(taken, word.range))
        for count in characters.indices.dropFirst() {
          let typed = beginning + String(characters[..<count])
          let query = AnalyzedText.query(typed)
          #expect(
            analyzed.hasAll(query, lastIsPrefix: true)
              && (query.isEmpty || analyzed.hasPhrase(query, lastIsPrefix: true)),
            "the beginning '\(typed)' of '\(taken)' in '\(text)' \(text.unicodeScalars.map(\.value))")
        }
      }
    }
  }

  @Test func `every word and phrase, and the beginning of every word, finds its text`() {
    var generator = SeededGenerator(salt: 4902)
    for _ in 0..<1_500 { Self.check(Self.text(&generator)) }
    for _ in 0..<500 { Self.check(Self.wildText(&generator)) }
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
      var bytes = Array((round % 2 == 0 ? Self.text(&generator) : Self.wildText(&generator)).utf8)
      if round % 3 == 0 {
        for _ in 0..<3 {
          bytes.insert(
            .random(in: 0...255, using: &generator), at: .random(in: 0...bytes.count, using: &generator))
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

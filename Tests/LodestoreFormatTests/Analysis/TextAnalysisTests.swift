import Foundation
import LodestoreBytes
import LodestoreFormat
import Testing

/// Words are found as people type them.
@Suite struct `Analyzed texts` {
  @Test(arguments: [
    ("AFNetworking", "networking"), ("AFNetworking", "afnetworking"),
    ("AFNetworking", "AFNetworking"),
    ("AF Networking", "AFNetworking"), ("iPhone15Pro", "iphone 15 pro"),
    ("iPhone15Pro", "iPhone15"),
    ("new-hope", "newhope"), ("new hope", "new-hope"), ("newhope", "new-hope"),
    ("new\u{2011}hope", "New-Hope"),
    ("don\u{2019}t", "dont"), ("dont", "don't"), ("L\u{2019}Avion", "avion"),
    ("O'Brien", "o brien"),
    ("Hawai\u{2bb}i", "hawaii"), ("1,234.5", "1234.5"), ("1234.5", "1,234.5"), ("3.14", "3,14"),
    ("swift 6.2.1", "6.2.1"), ("swift 6.2.1", "6.2"), ("v1.2.3", "1.2.3"), ("20\u{2103}", "20"),
    ("https://example.org/a_path?q=1", "example.org"), ("user@example.org", "user@example.org"),
    ("a.user@example.org", "user"), ("get_HTTPResponse", "http response"),
    ("Łódź", "lodz"), ("Ångström", "angstrom"), ("CRÈME BRÛLÉE", "crème brulee"),
    ("STRASSE", "straße"),
    ("IŞIK", "ışık"), ("İstanbul", "istanbul"), ("Ærøskøbing", "aeroskobing"),
    ("ΣΊΣΥΦΟΣ", "σισυφος"),
    ("ёлка", "Елка"), ("Ｆｕｌｌ　Ｗｉｄｔｈ", "full width"), ("\u{fb01}ne", "fine"), ("m\u{b2}", "m2"),
    ("co\u{ad}operate", "cooperate"), ("אֱלֹהִים", "אלהים"), ("צה״ל", "צהל"), ("مُحَمَّد", "محمد"),
    ("أحمد", "احمد"), ("٢٠٢٤", "2024"), ("हिन्दी", "हिन्दी"), ("👍🏿", "👍"), ("🇫🇷", "🇫🇷"),
  ])
  func `a text is found by what people type`(text: String, typed: String) {
    #expect(
      AnalyzedText(text).hasAll(AnalyzedText.query(typed)), "\(AnalyzedText(text).summary)")
  }

  @Test(arguments: [
    ("か", "が"), ("が", "か"), ("1.2.3", "123"), ("12.3", "1.23"), ("हिन्दी", "हन"), ("kelp", "help"),
    ("🇫🇷", "🇩🇪"), ("ab", "a"), ("東 京", "東京"), ("Foo", "Foo bar"),
  ])
  func `a text is not found by other words`(text: String, typed: String) {
    #expect(!AnalyzedText(text).hasAll(AnalyzedText.query(typed)))
  }

  @Test(arguments: [
    ("AFNetworking Example", "af networking"), ("AFNetworking Example", "AFNetworking Example"),
    ("AFNetworking Example", "afnetworking example"), ("The AFNetworking", "the afnetworking"),
    ("I don't know", "i dont know"), ("state-of-the-art", "of the art"), ("東京 タワー", "東京 タワー"),
    ("the 1,234.5 m", "1,234.5 m"),
  ])
  func `a phrase finds words side by side`(text: String, typed: String) {
    #expect(AnalyzedText(text).hasPhrase(AnalyzedText.query(typed)))
    #expect(!AnalyzedText("x " + text + " x").hasPhrase(AnalyzedText.query(typed + " " + typed)))
  }

  @Test func `canonically equivalent texts have the same terms`() {
    var generator = SeededGenerator(salt: 4905)
    for _ in 0..<2_000 {
      let text = RandomTexts.text(&generator)
      let terms = AnalyzedText(text).summary
      #expect(AnalyzedText(text.decomposedStringWithCanonicalMapping).summary == terms, "\(text)")
      #expect(AnalyzedText(text.precomposedStringWithCanonicalMapping).summary == terms, "\(text)")
    }
  }

  @Test(arguments: ["", " ", "—…!?", "\u{200d}\u{301}", "\u{e31}", "\u{3164}", "©™", "\u{2028}"])
  func `a text without words has no terms`(text: String) {
    #expect(AnalyzedText(text).terms.isEmpty)
    #expect(AnalyzedText.query(text).isEmpty)
  }

  @Test func `bytes that are no UTF-8 separate words`() {
    let bytes: [UInt8] = [0x41, 0xff, 0x62, 0xc3, 0x20, 0xe6, 0x9d, 0xf0, 0x9f]
    #expect(AnalyzedText(utf8: bytes).summary == "a b")
  }

  @Test(arguments: [
    "a", "aB", "a'", "a-", "1.", "か", "か\u{3099}", "e\u{301}", "🙂\u{200d}", "\u{301}", "a.\u{301}",
    "'", " ",
    "क\u{94d}", "한", "\u{1112}\u{1161}\u{11ab}",
    "क\u{bca}", "\u{bca}", "\u{fdfa}", "\u{fdfa}-", "㍿", "½", "𝟙.",
  ])
  func `a long text of one repeated piece takes linear time and gives terms within the limit`(
    piece: String
  ) {
    let repeated = String(repeating: piece, count: 60_000 / piece.utf8.count)
    let bytes = Array("aB \(repeated) end".utf8)
    var next = 0
    var last: [UInt8] = []
    let duration = ContinuousClock().measure {
      bytes._withBytes { text in
        TextAnalysis.forEachTerm(in: text) { term, position, _ in
          #expect(term.count <= TextAnalysis.termLimit && position >= next)
          next = position
          last = Array(term)
        }
      }
    }
    #expect(last == Array("end".utf8))
    #expect(duration < .seconds(20))
  }

  @Test func `lines of a long text have the terms that each has alone`() {
    var generator = SeededGenerator(salt: 4906)
    for _ in 0..<20 {
      var text = ""
      var expected: [AnalyzedText.Term] = []
      for _ in 0..<600 {
        let line = RandomTexts.text(&generator)
        let (start, position) = (text.utf8.count, (expected.last?.position ?? -1) + 1)
        expected += AnalyzedText(line).terms.map {
          AnalyzedText.Term(
            text: $0.text, position: $0.position + position,
            range: $0.range.lowerBound + start..<$0.range.upperBound + start)
        }
        text += line + "\n"
      }
      let terms = AnalyzedText(text).terms
      #expect(terms.count == expected.count)
      let difference = zip(terms, expected).first { $0 != $1 }
      #expect(difference == nil, "\(String(describing: difference)), \(SeededGenerator.replay)")
    }
  }

  @Test func `the shared start of two texts and their rests have the terms of the whole texts`() {
    var generator = SeededGenerator(salt: 7401)
    var sharedCount = 0
    for round in 0..<4_000 {
      let text = Array(Self.sentence(&generator).utf8)
      // An equal beginning may end anywhere, even within a scalar.
      let kept = Int.random(in: 0...text.count, using: &generator)
      let end = round % 5 == 0 ? "" : Self.sentence(&generator)
      let other = Array(text[..<kept]) + Array(end.utf8)
      let start = text._withBytes { a in
        other._withBytes { b in TextAnalysis.sharedStart(of: a, and: b) }
      }
      if start > 0 { sharedCount += 1 }
      #expect(text.prefix(start) == other.prefix(start))
      for whole in [text, other] {
        let terms = AnalyzedText(utf8: Array(whole[..<start])).terms
        let position = (terms.last?.position ?? -1) + 1
        let rest = AnalyzedText(utf8: Array(whole[start...])).terms.map {
          AnalyzedText.Term(
            text: $0.text, position: $0.position + position,
            range: $0.range.lowerBound + start..<$0.range.upperBound + start)
        }
        #expect(
          terms + rest == AnalyzedText(utf8: whole).terms,
          "\(String(decoding: whole, as: UTF8.self)) from \(start), \(SeededGenerator.replay)")
      }
    }
    #expect(sharedCount > 1_000)
  }

  @Test(arguments: [
    ("new star", "new moon", 4), ("new star", "new star", 8), ("new star", "new star map", 4),
    ("a b", "a  b", 0), ("new-star", "new-moon", 0), ("don't go", "don't \u{e9}go", 0),
    ("x 1.5", "x 1.7", 2), ("a - b", "a - c", 4), ("a b-", "a b- c", 2), ("", "a", 0),
  ])
  func `texts share their start up to a word after a space`(a: String, b: String, count: Int) {
    let start = Array(a.utf8)._withBytes { a in
      Array(b.utf8)._withBytes { b in TextAnalysis.sharedStart(of: a, and: b) }
    }
    #expect(start == count)
  }

  /// Random texts with words of ASCII and spaces between them.
  private static func sentence(_ generator: inout SeededGenerator) -> String {
    var text = ""
    for _ in 0..<Int.random(in: 1...6, using: &generator) {
      switch Int.random(in: 0..<4, using: &generator) {
      case 0: text += RandomTexts.wildText(&generator)
      case 1: text += RandomTexts.text(&generator)
      default: text += ["a", "New", "3rd", "x-y", "I'm"].randomElement(using: &generator) ?? ""
      }
      if Int.random(in: 0..<4, using: &generator) > 0 { text += " " }
    }
    return text
  }

  @Test func `a long word is cut with a mark, and its beginning finds it`() {
    let long = String(repeating: "ab", count: 100)
    let text = AnalyzedText("x \(long)1 y")
    #expect(text.terms.contains { $0.text == String(repeating: "ab", count: 58) + "a…" })
    for count in [1, 60, 117, 118, 119, 120, 121, 200] {
      #expect(text.hasAll(AnalyzedText.query(long.prefix(count)), lastIsPrefix: true))
    }
    #expect(text.hasPhrase(AnalyzedText.query("x \(long)1 y")))
  }

  @Test func `at least 95 of 100 queries in Japanese, Chinese, Korean and Thai find their titles`()
    throws
  {
    let all = TitleQueries.all
    let titles = all.map { AnalyzedText($0.title) }
    var (queries, found, foundByWords, others) = (0, 0, 0, 0)
    for (index, title) in all.enumerated() {
      // The words that SQLite's default tokenizer makes: everything between two spaces or signs.
      let words = Set(title.title.lowercased().split { !$0.isLetter && !$0.isNumber })
      for text in title.queries {
        let query = AnalyzedText.query(text)
        try #require(!query.isEmpty)
        queries += 1
        if titles[index].hasAll(query) {
          found += 1
        } else {
          print("not found: \(text), in \(title.title)")
        }
        others += titles.indices.filter { $0 != index && titles[$0].hasAll(query) }.count
        let typed = text.lowercased().split { !$0.isLetter && !$0.isNumber }
        if typed.allSatisfy(words.contains) { foundByWords += 1 }
      }
    }
    print(
      "\(found) of \(queries) queries find their titles, by whole words \(foundByWords); \(others) others"
    )
    #expect(queries >= 190)
    #expect(Double(found) >= 0.95 * Double(queries))
    #expect(foundByWords < queries / 2)
    #expect(others < queries)
  }
}

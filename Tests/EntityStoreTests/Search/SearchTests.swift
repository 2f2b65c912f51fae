import Foundation
import Testing

@testable import EntityStore

/// A search and a plain reading of all texts find the same records, in the order of the scores.
@Suite struct `Searches of words` {
  private let words = [
    "new", "hope", "empire", "strikes", "back", "return", "of", "the", "jedi", "parser", "json",
    "swift", "network", "networking", "image", "cache", "view", "map", "star", "moon",
  ]

  private func text(_ random: inout SeededNumbers, upTo count: Int) -> String {
    // Low numbers are more frequent, as in natural texts.
    (0..<Int.random(in: 0...count, using: &random)).map { _ in
      words[min(Int.random(in: 0..<20, using: &random), Int.random(in: 0..<20, using: &random))]
    }.joined(separator: " ")
  }

  private func note(_ random: inout SeededNumbers) -> SearchedNote {
    let tags = (0..<Int.random(in: 0...2, using: &random)).map { _ in
      JSONValue.string(text(&random, upTo: 2))
    }
    return SearchedNote(
      text(&random, upTo: 4), Bool.random(using: &random) ? text(&random, upTo: 30) : nil,
      tags: .array(tags), group: Int.random(in: 0..<5, using: &random))
  }

  private func hasPhrase(_ phrase: [String], _ note: SearchedNote) -> Bool {
    note.texts.contains { text in
      text.terms.contains { start in
        phrase.enumerated().allSatisfy { place, word in
          text.terms.contains { $0.term == word && $0.position == start.position + place }
        }
      }
    }
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `changes of any kind leave an index that finds the same as a reading of the texts`(
    salt: UInt64
  ) throws {
    var random = SeededNumbers(salt: salt)
    try withTemporaryStore([SearchedNote.self]) { store in
      for _ in 0..<12 {
        try store.write { tx in
          switch Int.random(in: 0..<5, using: &random) {
          case 0, 1:
            var added: [SearchedNote] = []
            for _ in 0..<Int.random(in: 1...120, using: &random) { added.append(note(&random)) }
            try tx.insert(added)
          case 2: try tx.delete(SearchedNote.where { $0.group == 1 })
          case 3:
            for var changed in try tx.fetch(SearchedNote.where { $0.group == 2 }) {
              changed.body = text(&random, upTo: 10)
              if Bool.random(using: &random) { changed.title += " moon" }
              try tx.update(changed)
            }
          default:
            for one in try tx.fetch(SearchedNote.where { $0.group == 3 }).prefix(5) {
              try tx.delete(one)
            }
          }
        }
        try check(store, &random)
      }
    }
  }

  private func check(_ store: Store, _ random: inout SeededNumbers) throws {
    let all = try store.fetch(SearchedNote.all)
    for _ in 0..<20 {
      let a = words[Int.random(in: 0..<20, using: &random)]
      let b = words[Int.random(in: 0..<20, using: &random)]
      func ids(_ text: String, _ mode: SearchMode = .allWords) throws -> [SearchedNote.ID] {
        try store.fetch(SearchedNote.all.where(.search(text, mode))).map(\.id)
      }
      func expected(_ isWanted: (SearchedNote) -> Bool) -> [SearchedNote.ID] {
        all.filter(isWanted).map(\.id)
      }
      #expect(try ids(a) == expected { hasPhrase([a], $0) })
      #expect(try ids("\(a) \(b)") == expected { hasPhrase([a], $0) && hasPhrase([b], $0) })
      #expect(
        try ids("\(a) \(b)", .anyWord) == expected { hasPhrase([a], $0) || hasPhrase([b], $0) })
      #expect(try ids("\"\(a) \(b)\"") == expected { hasPhrase([a, b], $0) })
      #expect(try ids("\(a) -\(b)") == expected { hasPhrase([a], $0) && !hasPhrase([b], $0) })
      let begun = words.filter { $0.hasPrefix(b.prefix(2)) }
      #expect(
        try ids("\(a) \(b.prefix(2))", .typing)
          == expected { note in
            hasPhrase([a], note) && begun.contains { hasPhrase([$0], note) }
          })
      #expect(
        try ids("title:\(a)")
          == expected { $0.texts[0].terms.contains { $0.term == a } })
      // Another index finds the records, and the search is checked on their texts.
      #expect(
        try store.fetch(SearchedNote.where { $0.group == 2 }.where(.search("\(a) OR \"\(b)\"")))
          .map(\.id)
          == expected { $0.group == 2 && (hasPhrase([a], $0) || hasPhrase([b], $0)) })
      let query = SearchedNote.all.where(.search("\(a) \(b)", .anyWord)).sortedByScore()
      let best = try store.fetch(query.limit(10)).map(\.id)
      let scores = Dictionary(uniqueKeysWithValues: scores([a, b], all).map { ($0.id, $0.score) })
      let wanted = scores.values.sorted(by: >).prefix(10)
      #expect(best.count == wanted.count && Set(best).count == best.count)
      // Sums of equal numbers may differ in their last bit.
      for (id, score) in zip(best, wanted) { #expect(abs((scores[id] ?? 0) - score) < 1e-9) }
    }
  }

  /// The scores of BM25, by a plain reading of all notes.
  private func scores(
    _ words: [String], _ all: [SearchedNote]
  ) -> [(id: SearchedNote.ID, score: Double)] {
    func length(_ note: SearchedNote) -> Double {
      Double(note.texts.reduce(0) { $0 + (($1.terms.last?.position ?? -1) + 1) })
    }
    let lengths = all.map(length).filter { $0 > 0 }
    let mean = lengths.reduce(0, +) / Double(max(1, lengths.count))
    let count = Double(lengths.count)
    let counts = words.map { word in Double(all.count { hasPhrase([word], $0) }) }
    return all.compactMap { note in
      var score = 0.0
      for (word, holders) in zip(words, counts) {
        let frequency = note.texts.reduce(0.0) { sum, text in
          sum + Double(text.weight * text.terms.count { $0.term == word })
        }
        if frequency == 0 { continue }
        let weight = log(1 + (count - holders + 0.5) / (holders + 0.5))
        let norm = 1.2 * (0.25 + 0.75 * length(note) / mean)
        score += weight * (frequency * 2.2 / (frequency + norm))
      }
      return score > 0 ? (note.id, score) : nil
    }
  }

  @Test func `a word is found in every script, by its parts and as it is typed`() throws {
    // The text, searches that find it, and searches that do not.
    let cases: [(text: String, found: [String], other: [String])] = [
      ("AFNetworking 4.0.1", ["networking", "AFNetworking", "afnet*", "4.0"], ["net", "working"]),
      ("Straße nach Osnabrück", ["STRASSE", "osnabruck", "\"nach Osnabrück\""], ["osna"]),
      ("東京都庁の展望室", ["東京", "都庁", "展望室", "の"], ["京都府"]),
      ("서울특별시 지하철", ["서울", "지하철"], ["부산"]),
      ("กรุงเทพมหานคร", ["กรุงเทพ"], ["เชียงใหม่"]),
      ("l'été don't", ["ete", "dont", "don’t"], ["hiver"]),
      ("ＪＳＯＮ ﬁle", ["json", "file"], ["xml"]),
    ]
    try withTemporaryStore([SearchedNote.self]) { store in
      try store.insert(cases.map { SearchedNote($0.text) })
      for (index, one) in cases.enumerated() {
        func finds(_ text: String, _ mode: SearchMode = .allWords) throws -> Bool {
          let query = SearchedNote.all.where(.search(text, mode))
          let isFound = try store.fetch(query).contains { $0.title == one.text }
          // The texts alone give the same answer as the index.
          let checked = try store.fetch(
            SearchedNote.where { $0.group == 0 }.where(.search(text, mode)))
          #expect(checked.contains { $0.title == one.text } == isFound, "\(text)")
          return isFound
        }
        for text in one.found { #expect(try finds(text), "\(index): \(text)") }
        for text in one.other { #expect(try !finds(text), "\(index): \(text)") }
        // Each beginning of the text finds it while a person types it.
        for count in 1...one.text.count {
          let typed = String(one.text.prefix(count))
          if typed.last?.isWhitespace == false { #expect(try finds(typed, .typing), "\(typed)") }
        }
      }
    }
  }

  @Test func `a search of an entity without an index is refused with the index to declare`() throws
  {
    try withTemporaryStore([Film.self]) { store in
      let error = #expect(throws: StoreError.self) {
        try store.fetch(Film.all.where(.search("hope")))
      }
      #expect(error?.code == .invalidQuery)
      #expect(error?.message.contains("#Search<Film>") == true)
    }
  }

  @Test func `no text is an error`() throws {
    try withTemporaryStore([SearchedNote.self]) { store in
      try store.insert(SearchedNote("new hope"))
      for text in [
        "", " ", "-", "\"", "\"new", "*", "OR", "OR new", "new OR", "title:", ":", "a:b:c", "(new",
        "new AND", "\u{0}", "-\"", "--new", "“new hope”",
      ] {
        for mode in [SearchMode.allWords, .anyWord, .typing] {
          _ = try store.fetch(SearchedNote.all.where(.search(text, mode)))
        }
      }
    }
  }
}

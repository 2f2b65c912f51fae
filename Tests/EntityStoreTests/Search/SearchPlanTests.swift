import Foundation
import Testing

@testable import EntityStore

/// A search finds the same records, in the same order, whichever way its plan takes.
@Suite struct `Plans of searches` {
  private static let words = [
    "star", "stars", "stare", "start", "moon", "month", "mono", "json", "jsonp", "map", "maps",
    "new-moon", "newMoon", "the",
  ]

  private func withNotes(_ body: (Store) throws -> Void) throws {
    var random = SeededNumbers(salt: 61)
    func text(upTo count: Int) -> String {
      (0..<Int.random(in: 1...count, using: &random)).map { _ in
        // Rare words with the beginning of a frequent one.
        if random.below(6) == 0 { return "mo" + String(repeating: "x", count: random.below(100)) }
        let (a, b) = (random.below(Self.words.count), random.below(Self.words.count))
        return Self.words[max(a, b)]
      }.joined(separator: " ")
    }
    var notes: [SearchedNote] = []
    for _ in 0..<1_500 {
      notes.append(
        SearchedNote(
          text(upTo: 4), random.below(3) == 0 ? nil : text(upTo: 25), group: random.below(40)))
    }
    try withTemporaryStore([SearchedNote.self]) { store in
      try store.insert(notes)
      try body(store)
    }
  }

  private static let queries: [(text: String, mode: SearchMode)] = [
    ("star", .allWords), ("star moon", .allWords), ("star moon", .anyWord),
    ("json map star", .anyWord), ("\"star moon\"", .allWords), ("the -moon", .allWords),
    ("m", .typing), ("the m", .typing), ("json map mo", .typing), ("the -star m", .typing),
    ("s", .typing), ("st", .typing), ("mo", .typing), ("star m", .typing), ("the sta", .typing),
    ("new-m", .typing), ("the new-mo", .typing), ("title:sta", .typing), ("the -mo*", .allWords),
    ("json OR mon*", .allWords), ("absent", .allWords), ("absent x", .typing),
  ]

  /// The matches and their scores by an evaluation of all texts, the best first.
  private func all(
    _ store: Store, _ search: Condition<SearchedNote>
  ) throws -> [(note: SearchedNote, score: Double)] {
    let notes = try store.fetch(SearchedNote.all)
    return try store.core.read { core in
      let entity = try core.entity(named: "Note")
      let plan = try core.plan(
        SearchedNote.all.where(search).sortedByScore().request(), for: entity)
      guard case .score(let bound)? = plan.order.terms.first?.operand else { return [] }
      let evaluation = SearchEvaluation(bound, of: entity, core: core)
      var found: [(note: SearchedNote, score: Double)] = []
      for note in notes {
        let bytes = try #require(try core.storedRecord(note.id.rawValue, of: entity))
        let record = RecordUnderTest(
          view: try entity.view(bytes, id: note.id.rawValue), id: note.id.rawValue)
        if try evaluation.matches(record) { found.append((note, try evaluation.score(record))) }
      }
      return found.sorted { $0.score > $1.score }
    }
  }

  @Test func `the best matches are those of all texts, with and without another condition`() throws
  {
    try withNotes { store in
      for (text, mode) in Self.queries {
        let search = Condition<SearchedNote>.search(text, mode)
        let all = try all(store, search)
        for bound in [1, 4, 38, 40] {
          let wanted = all.filter { $0.note.group < bound }
          let narrow = SearchedNote.where { $0.group < bound }.where(search)
          #expect(
            try store.fetch(narrow).map(\.id) == wanted.map(\.note.id).sorted(), "\(text) \(bound)")
          #expect(try store.count(narrow) == wanted.count)
          for limit in [1, 10, 100, nil] {
            let ranked = narrow.sortedByScore()
            let best = try store.fetch(limit.map { ranked.limit($0) } ?? ranked)
            let scores = Dictionary(uniqueKeysWithValues: wanted.map { ($0.note.id, $0.score) })
            #expect(best.count == min(limit ?? .max, wanted.count), "\(text) \(bound)")
            // Sums of equal numbers may differ in their last bit.
            for (found, other) in zip(best, wanted) {
              #expect(abs((scores[found.id] ?? -1) - other.score) < 1e-9, "\(text) \(bound)")
            }
          }
        }
      }
    }
  }

  @Test func `two searches, alternatives and exclusions combine with each other`() throws {
    try withNotes { store in
      func ids(_ conditions: Condition<SearchedNote>...) throws -> Set<SearchedNote.ID> {
        let query = conditions.reduce(SearchedNote.all) { $0.where($1) }
        return Set(try store.fetch(query).map(\.id))
      }
      let a = Condition<SearchedNote>.search("json")
      let b = Condition<SearchedNote>.search("sta", .typing)
      let (found, others) = (try ids(a), try ids(b))
      #expect(try ids(a, b) == found.intersection(others))
      #expect(try ids(anyOf(a, b)) == found.union(others))
      #expect(try ids(a, !b) == found.subtracting(others))
      let group = Set(try store.fetch(SearchedNote.where { $0.group == 3 }).map(\.id))
      #expect(try ids(anyOf(a, SearchedNote.attributes.group == 3)) == found.union(group))
    }
  }

  @Test func `a plan reads no texts where two indexes find the records`() throws {
    try withNotes { store in
      let search = Condition<SearchedNote>.search("the")
      let queries = [
        SearchedNote.where { $0.group < 4 }.where(search),
        SearchedNote.where { $0.group < 4 }.where(search).sortedByScore().limit(5),
        SearchedNote.all.where(search).where(.search("star")),
      ]
      for query in queries {
        let plan = try store.read { try $0.explain(query) }.description
        #expect(plan.contains("among"), "\(plan)")
        #expect(plan.contains("the entries say it all"), "\(plan)")
      }
      let query = SearchedNote.where { anyOf(search, $0.group == 3) }
      let either = try store.read { try $0.explain(query) }.description
      #expect(either.contains("union"), "\(either)")
    }
  }

  @Test func `an order by score beside a condition that is always false has no records`() throws {
    try withNotes { store in
      let none = SearchedNote.all.where(.search("star")).where { $0.group.isIn([]) }
      let found = try store.fetch(none.sortedByScore().limit(3))
      #expect(found.isEmpty)
    }
  }
}

import Foundation
import Testing

@testable import EntityStore

@Suite struct `Attributes derived from a record` {
  private func expectDerived(_ article: Article, sourceLocation: SourceLocation = #_sourceLocation)
  {
    let folded = article.title.folding(
      options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
    #expect(article.sortTitle == folded, sourceLocation: sourceLocation)
    #expect(article.shout == article.subtitle?.uppercased(), sourceLocation: sourceLocation)
    #expect(article.minutes == Double(article.words) / 200, sourceLocation: sourceLocation)
  }

  private func insert(
    into tx: inout WriteTransaction, onConflict: MergePolicy<Article> = .fail,
    _ fill: (inout RecordDraft<Article>) -> Void
  ) throws {
    var isDone = false
    try tx.insert(
      Article.self, onConflict: onConflict,
      fillingRecord: { draft in
        if isDone { return true }
        fill(&draft)
        isDone = true
        return false
      })
  }

  private func all(_ store: Store) throws -> [Article] {
    let articles = try store.fetch(Article.all)
    for article in articles { expectDerived(article) }
    return articles
  }

  @Test func `every insert computes the attributes derived from a record`() throws {
    try withTemporaryStore([Article.self]) { store throws in
      try store.write { tx throws in
        let stored = try tx.insert(Article("Éa", subtitle: "é"))
        let one = try #require(try tx.fetch(stored.id))
        #expect(one.sortTitle == "ea" && one.shout == "É" && one.minutes == 0.5)
        try tx.insert((0..<300).map { Article("Batch \($0)", words: $0) })
        try tx.insert([Article("Upsert")], onConflict: .replace)
        try insert(into: &tx) { draft in
          draft.title = "Draft"
          draft.words = 7
        }
      }
      #expect(try all(store).count == 303)
      let quick = Article.where { $0.minutes < 0.05 }
      #expect(try store.count(quick) == 11)
      #expect(try store.read { try $0.explain(quick) }.description.contains("minutes"))
      #expect(try store.first(Article.where { $0.sortTitle == "ea" })?.title == "Éa")
    }
  }

  @Test func `every update recomputes the attributes derived from a record`() throws {
    try withTemporaryStore([Article.self]) { store throws in
      let ids = try store.write { tx throws in
        try tx.insert((0..<10).map { Article("T\($0)", subtitle: "s") }).ids
      }
      try store.write { tx throws in
        var first = try #require(try tx.fetch(ids[0]))
        first.title = "Neu ÄÖ"
        #expect(try tx.update(first))
        try tx.modify(ids[1]) { $0.subtitle = nil }
        #expect(try tx.update(Article.where { $0.words == 100 }) { $0.words.add(100) } == 10)
        try tx.update(Article.where { $0.title == "T5" }) { $0.subtitle = "ß" }
        try tx.insert([Article("t6", words: 5)], onConflict: .replace)
      }
      let articles = try all(store)
      #expect(articles.count == 10)
      #expect(articles[0].sortTitle == "neu ao" && articles[5].shout == "SS")
      let error = try storeError(.uniqueViolation) {
        try store.write { tx in try tx.modify(ids[2]) { $0.title = "t3" } }
      }
      #expect(error.index == "Article.sortTitle" && error.recordID == ids[3].rawValue)
      let batch = try storeError(.uniqueViolation) {
        try store.insert([Article("New"), Article("NEW")])
      }
      #expect(batch.index == "Article.sortTitle")
      #expect(try all(store).count == 10)
    }
  }

  @Test func `imports and merges of parts recompute the attributes derived from a record`()
    async throws
  {
    try await withTemporaryStore([Article.self]) { store in
      let page = #"[{"title": "Œuvre", "words": 40}, {"title": "B", "subtitle": "x", "words": 1}]"#
      let importer = Importer(into: store, Article.self, matching: .unique(\.sortTitle))
      for (inserted, unchanged) in [(2, 0), (0, 2)] {
        let report = try await importer.run(
          AsyncStream { continuation in
            continuation.yield(Data(page.utf8))
            continuation.finish()
          }, renaming: [:])
        #expect(report.inserted == inserted && report.unchanged == unchanged, "\(report)")
      }
      try await store.write { tx throws in
        try insert(into: &tx, onConflict: .patch()) { draft in
          draft.title = "b"
          draft.words = 9
        }
      }
      let articles = try await store.fetch(Article.all)
      for article in articles { expectDerived(article) }
      #expect(articles.map(\.words) == [40, 9] && articles[1].subtitle == "x")
    }
  }

  @Test func `derived attributes record the times of insertion and change`() throws {
    try withTemporaryStore([Article.self]) { store throws in
      let before = Date()
      let stored = try store.insert(Article("A"))
      let first = try #require(try store.fetch(stored.id))
      #expect(first.insertedAt >= before && first.insertedAt == first.changedAt)
      // The struct from before the insert has no times. An update with it must not overwrite the
      // stored times.
      #expect(try store.write { tx in try tx.update(stored) } == false)
      #expect(try store.fetch(stored.id) == first)
      var changed = stored
      changed.words = 5
      #expect(try store.write { tx in try tx.update(changed) })
      let second = try #require(try store.fetch(stored.id))
      #expect(second.insertedAt == first.insertedAt && second.changedAt > first.changedAt)
      try store.write { tx throws in
        try tx.update(Article.all) { $0.words = 6 }
        try tx.upsert(Article("a", words: 7))
      }
      let third = try #require(try store.fetch(stored.id))
      #expect(third.insertedAt == first.insertedAt && third.changedAt > second.changedAt)
      #expect(third.title == "a" && third.words == 7)
    }
  }

  @Test func `derived attributes cannot be set`() throws {
    try withTemporaryStore([Article.self]) { store throws in
      try store.insert(Article("A"))
      let error = try storeError(.invalidQuery) {
        try store.write { tx throws in
          try tx.update(Article.all) { $0.set(\.sortTitle, format: "'x'") }
        }
      }
      #expect(error.message.contains("'sortTitle' is derived"))
      let draft = try storeError(.unstorableValue) {
        try store.write { tx throws in
          try insert(into: &tx) { draft in
            draft.title = "B"
            draft.words = 1
            draft.sortTitle = "x"
          }
        }
      }
      #expect(draft.message.contains("'sortTitle' is derived"))
    }
  }
}

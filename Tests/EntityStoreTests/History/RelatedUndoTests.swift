import Foundation
import LodestoreFormat
import Testing

@testable import EntityStore

/// Undo of writes whose records are linked, or have derived attributes.
@Suite struct `Undoing a write of related records` {
  private func withLibrary(_ body: (Store) throws -> Void) throws {
    try withTemporaryStore(Library.entities, options: .history(.images), body)
  }

  private func undo(_ token: HistoryToken, in store: Store) throws -> Int {
    try store.write { try $0.undo(token) }
  }

  private func expectRefused(
    _ token: HistoryToken, in store: Store, _ reason: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let error = try storeError(.cannotUndo, sourceLocation: sourceLocation) {
      try undo(token, in: store)
    }
    #expect(error.message.contains(reason), "\(error)", sourceLocation: sourceLocation)
  }

  @Test func `an undo is refused, naming the record, if a later write linked an inserted record`()
    throws
  {
    try withLibrary { store in
      let shelf = try store.insert(Shelf(name: "S")).id
      let books = Array(try store.insert([Book(title: "a"), Book(title: "b")]).ids)
      let insert = try store.historyToken()
      // An undo of the insert would remove both ends of the first link, and one end of the second
      // link.
      try store.write { tx in try tx.add(books[1], to: Book.sequels, of: books[0]) }
      let first = try store.historyToken()
      try expectRefused(insert, in: store, "by write \(first.number)")
      try store.write { tx in
        try tx.remove(books[1], from: Book.sequels, of: books[0])
        try tx.add(books[0], to: Shelf.books, of: shelf)
      }
      let second = try store.historyToken()
      try expectRefused(insert, in: store, "by write \(second.number)")
      try store.write { tx in try tx.remove(books[0], from: Shelf.books, of: shelf) }
      #expect(try undo(insert, in: store) == 2)
      #expect(try store.count(Book.all) == 0)
    }
  }

  @Test func `derived attributes do not block an undo`() throws {
    try withLibrary { store in
      let books = Array(
        try store.insert([Book(title: "a", pages: 10), Book(title: "b", pages: 20)]).ids)
      let shelf = try store.insert(Shelf(name: "S")).id
      let insert = try store.historyToken()
      var tokens: [HistoryToken] = []
      for book in books {
        try store.write { tx in try tx.add(book, to: Shelf.books, of: shelf) }
        tokens.append(try store.historyToken())
      }
      // Since the write, only derived totals of the shelf have changed, which do not block the
      // undo.
      #expect(try undo(tokens[0], in: store) == 0)
      #expect(try store.fetch(shelf)?.pageTotal == 20)
      #expect(try store.read { try $0.relatedIDs(Shelf.books, of: shelf) } == [books[1]])
      try store.write { tx in try tx.remove(books[1], from: Shelf.books, of: shelf) }
      #expect(try undo(insert, in: store) == 1)

      let author = try store.insert(Author(name: "old")).id
      try store.modify(books[0]) { $0.author = author }
      let given = try store.historyToken()
      try store.modify(author) { $0.name = "new" }
      #expect(try store.fetch(books[0])?.authorName == "new")
      // The rename has changed the copied name, which is derived and does not block the undo.
      #expect(try undo(given, in: store) == 1)
      #expect(try store.fetch(books[0])?.author == nil)
      #expect(try store.fetch(books[0])?.authorName == nil)
      #expect(try store.fetch(author)?.bookCount == 0)
    }
  }

  @Test func `an undo is refused if a link would lead to a missing record`() throws {
    try withLibrary { store in
      let shelf = try store.insert(Shelf(name: "S")).id
      let author = try store.insert(Author(name: "A")).id
      let book = try store.insert(Book(title: "a")).id
      let written = try store.insert(Book(title: "b", author: author)).id
      try store.write { tx in try tx.add(book, to: Shelf.books, of: shelf) }
      try store.write { tx in try tx.remove(book, from: Shelf.books, of: shelf) }
      let unlinked = try store.historyToken()
      try store.delete(book)
      let deletion = try store.historyToken()
      try expectRefused(
        unlinked, in: store, "Book \(book) was deleted, by write \(deletion.number)")
      try store.modify(written) { $0.author = nil }
      let nullified = try store.historyToken()
      try store.delete(written)
      let gone = try store.historyToken()
      #expect(try undo(gone, in: store) == 1)
      try store.delete(author)
      let last = try store.historyToken()
      let reason = "Author \(author) was deleted, by write \(last.number)"
      try expectRefused(nullified, in: store, reason)
      #expect(try undo(last, in: store) == 1)
      #expect(try undo(nullified, in: store) == 1)
      #expect(try store.fetch(written)?.author == author)
    }
  }

  /// The history reports several writes of one commit in this form, such as pages of an import that
  /// link to each other.
  @Test func `an undo takes back linked steps of one commit, the last one first`() throws {
    try withLibrary { store in
      let authors = try store.write { tx in
        let a = try tx.insert(Author(name: "a")).id
        let b = try tx.insert(Author(name: "b", teacher: a)).id
        try tx.modify(a) { $0.teacher = b }
        let entity = try tx.core.entity(Author.self).number
        let steps = [a, b].map { id in
          WriteStep(
            entity: entity, ids: IDRuns([id.rawValue..<id.rawValue + 1]), context: "step \(id)")
        }
        tx.core.recordSeparately(steps)
        return [a, b]
      }
      func teachers() throws -> [Author.ID?] { try store.fetch(Author.all).map(\.teacher) }
      let told = try store.history()
      #expect(told.map(\.contextName) == ["step 1", "step 2"])
      try expectRefused(told[0].token, in: store, "by write 2")
      let second = try undone(told[1].token, in: store)
      #expect(try teachers() == [nil])
      let first = try undone(told[0].token, in: store)
      #expect(try teachers() == [])
      _ = try undone(first, in: store)
      #expect(try teachers() == [nil])
      _ = try undone(second, in: store)
      #expect(try teachers() == [authors[1], authors[0]])
    }
  }

  private func undone(_ token: HistoryToken, in store: Store) throws -> HistoryToken {
    try store.write { tx in
      try tx.undo(token)
      return try #require(try tx.ownHistoryToken())
    }
  }

  /// The two pages name records of each other, and both are in one commit.
  @Test func `an undo takes back linked pages of an import, the last one first`()
    async throws
  {
    try await withTemporaryStore(Library.entities, options: .history(.images)) { store in
      let pages = [
        #"[{"name":"a","teacher":"b"},{"name":"c","teacher":"c"}]"#,
        #"[{"name":"b","teacher":"a"},{"name":"d","teacher":"c"}]"#,
      ]
      var importer = Importer(into: store, Author.self, matching: .unique(\.name))
      importer.options.groupDuration = .seconds(600)
      importer.links = [.init("teacher", \.teacher, by: \.name)]
      let report = try await importer.run(
        AsyncStream { continuation in
          for page in pages { continuation.yield(Data(page.utf8)) }
          continuation.finish()
        }, renaming: [:])
      #expect(report.commits == 1 && report.inserted == 4)
      func teachers() throws -> [String: String?] {
        try store.read { snapshot in
          let all = try snapshot.fetch(Author.all)
          return Dictionary(
            uniqueKeysWithValues: all.map { author in
              (author.name, all.first { $0.id == author.teacher }?.name)
            })
        }
      }
      let whole: [String: String?] = ["a": "b", "b": "a", "c": "c", "d": "c"]
      #expect(try teachers() == whole)
      // The history lists the two pages first, and then the links to records of later pages.
      let told = try await store.history()
      #expect(told.map(\.contextName).prefix(2) == ["page 1", "page 2"])
      let undos = try told.reversed().map { try undone($0.token, in: store) }
      #expect(try teachers() == [:])
      for undo in undos.reversed() { _ = try undone(undo, in: store) }
      #expect(try teachers() == whole)
    }
  }
}

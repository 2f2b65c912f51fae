import Foundation
import LodestoreBytes
import LodestoreFormat
import Testing

@testable import EntityStore
@testable import LodestorePages
@testable import LodestoreVerifier

@Suite struct `Attributes derived from related records` {
  private func withLibrary(_ body: (Store) throws -> Void) throws {
    try withTemporaryStore(Library.entities, body)
  }

  @Test func `attributes derived from related records are right at every commit`() throws {
    try withLibrary { store throws in
      let (author, other) = try store.write { tx in
        (try tx.insert(Author(name: "A")).id, try tx.insert(Author(name: "B")).id)
      }
      func expect(_ count: Int, _ total: Int, _ longest: Int?, _ line: UInt = #line) throws {
        let stored = try #require(try store.fetch(author))
        #expect(stored.bookCount == count, "line \(line)")
        #expect(stored.pageTotal == total, "line \(line)")
        #expect(stored.longest == longest, "line \(line)")
        try expectSound(store)
      }
      try expect(0, 0, nil)
      let books = try store.write { tx in
        try tx.insert((1...5).map { Book(title: "\($0)", pages: $0 * 100, author: author) }).ids
      }
      try expect(5, 1500, 500)
      try store.write { tx in try tx.modify(books[4]) { $0.author = other } }
      try expect(4, 1000, 400)
      try store.write { tx in try tx.update(Book.where { $0.title == "4" }) { $0.pages = 10 } }
      try expect(4, 610, 300)
      try store.write { tx in try tx.update(Book.all) { $0.author = nil } }
      try expect(0, 0, nil)
      try store.write { tx in try tx.add(books, to: Author.books, of: author) }
      try expect(5, 1110, 500)
      try store.write { tx in try tx.delete([books[4], books[0]]) }
      try expect(3, 510, 300)
      try store.write { tx throws in
        // An insert and a delete within one write leave derived attributes unchanged.
        let id = try tx.insert(Book(title: "x", pages: 999, author: author)).id
        try tx.delete(id)
      }
      try expect(3, 510, 300)
      try store.write { tx in _ = try tx.delete(Book.all) }
      try expect(0, 0, nil)
      #expect(try store.count(Author.where { $0.bookCount == 0 }) == 2)
    }
  }

  @Test func `attributes derived from related records follow separate links from both sides`()
    throws
  {
    try withLibrary { store throws in
      let shelves = try store.write { tx in
        try tx.insert([Shelf(name: "S"), Shelf(name: "T")]).ids
      }
      let books = try store.write { tx in
        try tx.insert([10, 20, 30].map { Book(title: "\($0)", pages: $0) }).ids
      }
      try store.write { tx in try tx.add(books, to: Shelf.books, of: shelves[0]) }
      var shelf = try #require(try store.fetch(shelves[0]))
      #expect(shelf.pageTotal == 60 && shelf.averagePages == 20 && shelf.fewestPages == 10)
      let changed = shelf.changedAt
      try store.write { tx throws in
        try tx.set(Book.shelves, of: books[0], to: [shelves[1]])
        try tx.update(Book.where { $0.pages == 30 }) { $0.pages = 50 }
      }
      shelf = try #require(try store.fetch(shelves[0]))
      #expect(shelf.pageTotal == 70 && shelf.averagePages == 35 && shelf.fewestPages == 20)
      #expect(shelf.changedAt == changed, "a change of a related record is none of its own")
      try store.write { tx in _ = try tx.delete(shelves[1]) }
      #expect(try store.fetch(books[0])?.shelfCount == 0)
      #expect(try store.fetch(books[1])?.shelfCount == 1)
    }
  }

  @Test func `copies of related attributes follow their originals`() throws {
    try withLibrary { store throws in
      let author = try store.insert(Author(name: "Ann"))
      let book = try store.insert(Book(title: "B", author: author.id))
      try store.insert(Loan(reader: "r", book: book.id))
      #expect(try store.fetch(book.id)?.authorName == "Ann")
      try store.write { tx in try tx.modify(author.id) { $0.name = "Zoe" } }
      #expect(try store.fetch(book.id)?.authorName == "Zoe")
      let byName = Book.where { $0.authorName == "Zoe" }
      #expect(try store.count(byName) == 1)
      #expect(try store.read { try $0.explain(byName) }.description.contains("authorName"))
      try store.write { tx in try tx.update(Book.all) { $0.pages = 7 } }
      #expect(try store.fetch(Loan.all).map(\.bookPages) == [7])
      try store.write { tx in try tx.modify(book.id) { $0.author = nil } }
      #expect(try store.fetch(book.id)?.authorName == nil)
    }
  }

  @Test func `values that were read earlier do not overwrite derived attributes`() throws {
    try withLibrary { store throws in
      let author = try store.insert(Author(name: "A"))
      try store.insert(Book(title: "B", author: author.id))
      #expect(author.bookCount == 0)
      #expect(try store.write { tx in try tx.update(author) } == false)
      try store.write { tx throws in
        try tx.upsert(Author(name: "A", teacher: author.id))
        try tx.insert(Book(title: "C", author: author.id))
        try tx.update(author)
      }
      let stored = try #require(try store.fetch(author.id))
      #expect(stored.bookCount == 2 && stored.teacher == nil && stored.pupilCount == 0)
    }
  }

  @Test func `an undone write leaves no change of derived attributes`() throws {
    try withLibrary { store throws in
      let author = try store.insert(Author(name: "A"))
      struct Stop: Error {}
      #expect(throws: Stop.self) {
        try store.write { tx throws in
          try tx.insert(Book(title: "B", author: author.id))
          throw Stop()
        }
      }
      try store.write { tx throws in
        #expect(throws: Stop.self) {
          try tx.savepoint { tx throws in
            try tx.insert(Book(title: "B", author: author.id))
            throw Stop()
          }
        }
        try tx.insert(Book(title: "C", author: author.id))
      }
      #expect(try store.fetch(author.id)?.bookCount == 1)
    }
  }

  @Test func `a derived value outside of its type refuses the write`() throws {
    try withLibrary { store throws in
      let author = try store.insert(Author(name: "A"))
      try store.insert(Book(title: "B", pages: .max, author: author.id))
      let error = try storeError(.unstorableValue) {
        try store.insert(Book(title: "C", pages: 1, author: author.id))
      }
      #expect(error.entity == "Author" && error.attribute == "pageTotal" && error.recordID == 1)
      #expect(try store.count(Book.all) == 1)
    }
  }

  @Test func `the verifier finds damaged derived attributes`() throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: Library.entities)
    try store.write { tx throws in
      let author = try tx.insert(Author(name: "A"))
      try tx.insert((0..<3).map { Book(title: "É\($0)", author: author.id) })
    }
    try overwrite(
      [
        ("Author", "bookCount", .integer(4)), ("Author", "longest", .null),
        ("Book", "sortTitle", .string("e")), ("Book", "authorName", .string("B")),
      ], in: store)
    store.close()
    let report = try Verifier.verify(path: folder.storePath)
    #expect(report.count(of: .derivedValue) == 4, "\(report.findings)")
  }

  @Test func `derived texts have the exact bytes of their originals`() throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: Library.entities)
    let author = try store.insert(Author(name: "\u{e9}"))
    try store.insert(Book(title: "B", author: author.id))
    try store.write { tx in try tx.modify(author.id) { $0.name = "e\u{301}" } }
    let copied = try store.fetch(Book.all).map { $0.authorName.map { Array($0.utf8) } }
    #expect(copied == [Array("e\u{301}".utf8)])
    try expectSound(store)
    // The overwritten text is equal in Swift and in an index, but has other bytes.
    try overwrite([("Book", "authorName", .string("\u{e9}"))], in: store)
    store.close()
    let report = try Verifier.verify(path: folder.storePath)
    #expect(report.count(of: .derivedValue) == 1, "\(report.findings)")
  }

  /// Overwrites attributes of record 1 in the file, without the store's own calls.
  private func overwrite(
    _ changed: [(entity: String, attribute: String, value: Value)], in store: Store
  ) throws {
    try store.core.write { core in
      for (name, attribute, value) in changed {
        let entity = try core.entity(named: name)
        let number = try #require(entity.description.attribute(named: attribute)?.number)
        let position = try #require(entity.layout.slotIndex(ofAttribute: number))
        let bytes = try #require(try core.record(1, of: entity))
        var values = try entity.values(of: try entity.view(bytes, id: 1))
        values[position] = value
        let record = try entity.layout.record(id: 1, values: values)
        try record._withBytes { try core.writing.put(1, $0, in: entity.records) }
      }
    }
  }
}

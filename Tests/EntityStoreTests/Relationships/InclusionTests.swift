import EntityStore
import Testing

@Suite struct `Results with several related records` {
  @Test func `results include the records of each relationship, read once`() throws {
    try withTemporaryStore(Library.entities) { store in
      try store.write { tx throws in
        let teacher = try tx.insert(Author(name: "T")).id
        let authors = try tx.insert(
          (0..<6).map { Author(name: "A\($0)", teacher: $0 % 2 == 0 ? teacher : nil) }
        ).ids
        let books = try tx.insert(
          (0..<30).map { Book(title: "B\($0)", pages: $0, author: authors[$0 % 5]) }
        ).ids
        let shelf = try tx.insert(Shelf(name: "S")).id
        try tx.add(books.suffix(4), to: Shelf.books, of: shelf)
        try tx.insert(Loan(reader: "R", book: books[29]))
      }
      try store.read { snapshot throws in
        let query = Author.all.sorted(by: \.name)
        let rows = try snapshot.fetch(
          query,
          including: .many(Author.books, Book.all.sorted(by: \.pages.descending).limit(2)),
          .one(\.teacher), .many(Author.pupils))
        #expect(rows.map(\.0) == (try snapshot.fetch(query)))
        for (author, books, teacher, pupils) in rows {
          #expect(
            books
              == (try snapshot.related(
                Author.books, of: author.id, Book.all.sorted(by: \.pages.descending).limit(2))))
          #expect(teacher?.name == (author.teacher == nil ? nil : "T"))
          #expect(pupils == (try snapshot.related(Author.pupils, of: author.id)))
        }
        // A query with one result, by a required link.
        let loans = try snapshot.fetch(Loan.all, including: .one(\.book))
        #expect(loans.map(\.1?.title) == ["B29"])
        // Pages with related records use the same tokens as pages without them.
        var token: ContinuationToken?
        var titles: [String] = []
        repeat {
          let page = try snapshot.page(
            Book.all.sorted(by: \.pages).limit(7).continuing(after: token),
            including: .one(\.author), .many(Book.shelves))
          for (book, author, shelves) in page.items {
            titles.append(book.title)
            #expect(author?.name == "A\(book.pages % 5)")
            #expect(shelves.map(\.name) == (book.pages >= 26 ? ["S"] : []))
          }
          token = page.next
        } while token != nil
        #expect(titles == (0..<30).map { "B\($0)" })
      }
      // A fetch in a write includes the changes of the write.
      try store.write { tx throws in
        let author = try tx.insert(Author(name: "new"))
        try tx.insert(Book(title: "newest", author: author.id))
        let rows = try tx.fetch(
          Author.where { $0.name == "new" }, including: .many(Author.books), .one(\.teacher))
        #expect(rows.map(\.1.first?.title) == ["newest"] && rows.first?.2 == nil)
      }
    }
  }
}

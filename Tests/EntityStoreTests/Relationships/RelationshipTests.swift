import EntityStore
import Foundation
import Testing

@Suite struct `Relationships` {
  @Test func `relationships of an attribute are read from the other side`() throws {
    try withTemporaryStore(Library.entities) { store in
      let (le, books) = try store.write { tx throws in
        let le = try tx.insert(Author(name: "Ursula"))
        let other = try tx.insert(Author(name: "Stanislaw"))
        var books = [
          Book(title: "Rocannon", author: le.id), Book(title: "Solaris", author: other.id),
        ]
        books.append(Book(title: "Tehanu", author: le.id))
        return (le, try tx.insert(books).ids)
      }
      try store.read { snapshot throws in
        let found = try snapshot.related(Author.books, of: le.id)
        #expect(found.map(\.title) == ["Rocannon", "Tehanu"])
        #expect(try snapshot.relatedIDs(Author.books, of: le.id) == [books[0], books[2]])
        #expect(try snapshot.relatedCount(Author.books, of: le.id) == 2)
        let sorted = try snapshot.related(
          Author.books, of: le.id, Book.all.sorted(by: \.title.descending).limit(1))
        #expect(sorted.map(\.title) == ["Tehanu"])
        let long = try snapshot.related(Author.books, of: le.id, Book.where { $0.pages > 100 })
        #expect(long == [])
      }
    }
  }

  @Test func `relationships with links of their own are read from both sides`() throws {
    try withTemporaryStore(Library.entities) { store in
      let (shelves, books) = try store.write { tx throws in
        let shelves = try tx.insert(["A", "B", "C"].map { Shelf(name: $0) }).ids
        let books = try tx.insert((1...5).map { Book(title: "Book \($0)") }).ids
        #expect(try tx.add(books[0], to: Shelf.books, of: shelves[0]))
        #expect(try !tx.add(books[0], to: Shelf.books, of: shelves[0]))
        // The link is the same from the other side.
        #expect(try !tx.add(shelves[0], to: Book.shelves, of: books[0]))
        #expect(try tx.add(books, to: Shelf.books, of: shelves[1]) == 5)
        return (shelves, books)
      }
      try store.read { snapshot throws in
        #expect(try snapshot.relatedIDs(Shelf.books, of: shelves[0]) == [books[0]])
        #expect(try snapshot.relatedIDs(Book.shelves, of: books[0]) == [shelves[0], shelves[1]])
        #expect(try snapshot.relatedIDs(Book.shelves, of: books[4]) == [shelves[1]])
        #expect(try snapshot.related(Shelf.books, of: shelves[2]) == [])
      }
      try store.write { tx throws in
        #expect(try tx.remove(books[0], from: Shelf.books, of: shelves[1]))
        #expect(try !tx.remove(books[0], from: Shelf.books, of: shelves[1]))
        try tx.set(Shelf.books, of: shelves[2], to: [books[3], books[4]])
        try tx.set(Shelf.books, of: shelves[1], to: [books[4], books[1]])
      }
      try store.read { snapshot throws in
        #expect(try snapshot.relatedIDs(Shelf.books, of: shelves[1]) == [books[4], books[1]])
        #expect(try snapshot.relatedIDs(Shelf.books, of: shelves[2]) == [books[3], books[4]])
        #expect(try snapshot.relatedIDs(Book.shelves, of: books[0]) == [shelves[0]])
      }
    }
  }

  @Test func `relationships to the same entity lead both ways`() throws {
    try withTemporaryStore(Library.entities) { store in
      try store.write { tx throws in
        let books = try tx.insert((1...3).map { Book(title: "\($0)") }).ids
        try tx.link(
          [(books[0], books[1]), (books[1], books[2]), (books[2], books[0])], by: Book.sequels)
        #expect(try tx.relatedIDs(Book.sequels, of: books[1]) == [books[2]])
        try tx.delete(books[1])
        #expect(try tx.relatedIDs(Book.sequels, of: books[0]) == [])
        #expect(try tx.relatedIDs(Book.sequels, of: books[2]) == [books[0]])
        let teacher = try tx.insert(Author(name: "Plato"))
        let pupil = try tx.insert(Author(name: "Aristotle", teacher: teacher.id))
        #expect(try tx.related(Author.pupils, of: teacher.id) == [pupil])
      }
    }
  }

  @Test func `relationships can be changed from the side that holds no id`() throws {
    try withTemporaryStore(Library.entities) { store in
      try store.write { tx throws in
        let author = try tx.insert(Author(name: "A"))
        let other = try tx.insert(Author(name: "B"))
        let books = try tx.insert((1...3).map { Book(title: "\($0)") }).ids
        #expect(try tx.add(books, to: Author.books, of: author.id) == 3)
        #expect(try tx.add(books[0], to: Author.books, of: other.id))
        #expect(try tx.fetch(books[0])?.author == other.id)
        #expect(try tx.remove(books[1], from: Author.books, of: author.id))
        #expect(try tx.fetch(books[1])?.author == nil)
        #expect(try tx.relatedIDs(Author.books, of: author.id) == [books[2]])
      }
    }
  }

  @Test func `required relationships cannot lose their value`() throws {
    try withTemporaryStore(Library.entities) { store in
      try store.write { tx throws in
        let book = try tx.insert(Book(title: "lent"))
        let loan = try tx.insert(Loan(reader: "me", book: book.id))
        let error = #expect(throws: StoreError.self) {
          try tx.remove(loan.id, from: Book.loans, of: book.id)
        }
        #expect(error?.code == .unstorableValue)
        #expect(error?.message.contains("Book.loans") == true, "\(error?.message ?? "")")
        #expect(try tx.fetch(loan.id)?.book == book.id)
      }
    }
  }

  @Test func `links lead to existing records when the write ends`() throws {
    try withTemporaryStore(Library.entities) { store in
      let error = #expect(throws: StoreError.self) {
        try store.write { tx in try tx.insert(Book(title: "x", author: Author.ID(rawValue: 77))) }
      }
      #expect(error?.code == .missingTarget)
      #expect(error?.entity == "Book")
      #expect(error?.attribute == "author")
      #expect(error?.message.contains("Author 77") == true)
      #expect(try store.count(Book.all) == 0)
      // Within a write, a link may be stored before its target.
      try store.write { tx throws in
        try tx.insert(Book(title: "y", author: Author.ID(rawValue: 1)))
        try tx.insert(Author(name: "late"))
      }
      // Dangling links are also refused in a batch, an update and a merge.
      for change in Self.dangling {
        let error = #expect(throws: StoreError.self) { try store.write { tx in try change(&tx) } }
        #expect(error?.code == .missingTarget)
      }
      #expect(try store.fetch(Book.all).map(\.author) == [Author.ID(rawValue: 1)])
    }
  }

  private static let dangling: [@Sendable (inout WriteTransaction) throws -> Void] = [
    { tx in try tx.insert([Book(title: "z", author: Author.ID(rawValue: 9))]) },
    { tx in try tx.update(Book.all) { $0.author = Author.ID(rawValue: 9) } },
    { tx in try tx.modify(Book.ID(rawValue: 1)) { $0.author = Author.ID(rawValue: 9) } },
    { tx in try tx.upsert(Author(name: "late", teacher: Author.ID(rawValue: 9))) },
    { tx in
      try tx.insert(
        [Author(name: "late", teacher: Author.ID(rawValue: 9))], onConflict: .replace)
    },
  ]

  @Test func `links to missing records are refused`() throws {
    try withTemporaryStore(Library.entities) { store in
      try store.write { tx throws in
        let shelf = try tx.insert(Shelf(name: "A"))
        let book = try tx.insert(Book(title: "x"))
        let changes: [(inout WriteTransaction) throws -> Void] = [
          { try $0.add(Book.ID(rawValue: 9), to: Shelf.books, of: shelf.id) },
          { try $0.add(book.id, to: Shelf.books, of: Shelf.ID(rawValue: 9)) },
          { try $0.add(book.id, to: Author.books, of: Author.ID(rawValue: 9)) },
        ]
        for change in changes {
          let error = #expect(throws: StoreError.self) { try change(&tx) }
          #expect(error?.code == .noSuchRecord)
        }
        #expect(try tx.relatedIDs(Shelf.books, of: shelf.id) == [])
        try tx.add(book.id, to: Shelf.books, of: shelf.id)
      }
    }
  }

  @Test func `related records of many records are read in one pass`() throws {
    try withTemporaryStore(Library.entities) { store in
      try store.write { tx throws in
        let shelves = try tx.insert((0..<20).map { Shelf(name: "\($0)") }).ids
        let books = try tx.insert((0..<100).map { Book(title: "\($0)", pages: $0) }).ids
        for (position, shelf) in shelves.enumerated() {
          try tx.add(
            books.filter { $0.rawValue % 20 >= UInt64(position) }, to: Shelf.books, of: shelf)
        }
      }
      try store.read { snapshot throws in
        let all = try snapshot.fetch(Shelf.all, including: Shelf.books)
        for (shelf, books) in all {
          let alone = try snapshot.related(Shelf.books, of: shelf.id)
          #expect(books == alone)
        }
        #expect(all.count == 20)
        let query = Book.where { $0.pages >= 30 }.sorted(by: \.pages.descending).offset(2).limit(3)
        for (shelf, books) in try snapshot.fetch(Shelf.all, including: Shelf.books, query) {
          let alone = try snapshot.related(Shelf.books, of: shelf.id, query)
          #expect(books == alone)
        }
        let first = Book.all.limit(2)
        for (shelf, books) in try snapshot.fetch(Shelf.all, including: Shelf.books, first) {
          let alone = try snapshot.related(Shelf.books, of: shelf.id, first)
          #expect(books == alone)
          #expect(books.count == 2)
        }
      }
    }
  }

  @Test(arguments: [false, true]) func `related records come in pages`(isSorted: Bool) throws {
    try withTemporaryStore(Library.entities) { store in
      let shelf = try store.write { tx throws in
        let shelf = try tx.insert(Shelf(name: "S")).id
        let books = try tx.insert((0..<100).map { Book(title: "\($0)", pages: $0 * 7 % 50) }).ids
        try tx.add(books.filter { $0.rawValue % 3 > 0 }, to: Shelf.books, of: shelf)
        return shelf
      }
      let all = isSorted ? Book.all.sorted(by: \.pages.descending) : Book.all
      let expected = try store.read { try $0.related(Shelf.books, of: shelf, all) }
      var found: [Book] = []
      var token: ContinuationToken?
      repeat {
        let page = try store.read {
          try $0.relatedPage(Shelf.books, of: shelf, all.limit(9).continuing(after: token))
        }
        found += page.items
        token = page.next
      } while token != nil
      #expect(found == expected)
      #expect(found.count == 67)
    }
  }

  @Test func `related records to one are read in one pass`() throws {
    try withTemporaryStore(Library.entities) { store in
      try store.write { tx throws in
        let authors = try tx.insert((0..<5).map { Author(name: "\($0)") }).ids
        let books = try tx.insert(
          (0..<30).map { Book(title: "\($0)", author: $0 % 6 == 5 ? nil : authors[$0 % 6]) })
        try tx.insert(books.ids.map { Loan(reader: "me", book: $0) })
      }
      try store.read { snapshot throws in
        for (book, author) in try snapshot.fetch(Book.all, including: \.author) {
          #expect(author?.id == book.author)
        }
        let loans = try snapshot.fetch(Loan.all, including: \.book)
        #expect(loans.count == 30)
        #expect(loans.allSatisfy { $0.record.book == $0.related.id })
      }
    }
  }
}

import EntityStore
import Foundation
import Testing

@testable import EntityStore

@Suite struct `Conditions on related records` {
  /// Makes 40 authors, 200 books and 20 shelves.
  ///
  /// Each author except the first ten has the previous author as teacher. Every tenth book has no
  /// author.
  private func withLibrary(_ body: (Store) throws -> Void) throws {
    try withTemporaryStore(Library.entities) { store in
      try store.write { tx throws in
        var numbers = SeededNumbers(seed: 7)
        var authors: [Author.ID] = []
        for number in 1...40 {
          let teacher = number > 10 ? authors[numbers.below(authors.count)] : nil
          authors.append(try tx.insert(Author(name: "A\(number)", teacher: teacher)).id)
        }
        let books = try tx.insert(
          (1...200).map { number in
            Book(
              title: "B\(number)", pages: numbers.below(500),
              author: number % 10 == 0 ? nil : authors[numbers.below(30)])
          }
        ).ids
        let shelves = try tx.insert((1...20).map { Shelf(name: "S\($0)") }).ids
        for shelf in shelves.dropLast() {
          try tx.add(
            books.filter { _ in numbers.oneIn(6) }, to: Shelf.books, of: shelf)
        }
        try tx.insert(
          (0..<60).map { Loan(reader: "R\($0 % 7)", book: books[numbers.below(200)]) })
      }
      try body(store)
    }
  }

  /// All records and links in memory, for evaluating conditions without the store.
  private struct Model {
    var authors: [Author.ID: Author] = [:]
    var books: [Book.ID: Book] = [:]
    var shelves: [Shelf] = []
    var loans: [Loan] = []
    var booksOfShelf: [Shelf.ID: [Book]] = [:]
    var shelvesOfBook: [Book.ID: [Shelf]] = [:]

    init(_ snapshot: borrowing Snapshot) throws {
      for author in try snapshot.fetch(Author.all) { authors[author.id] = author }
      for book in try snapshot.fetch(Book.all) { books[book.id] = book }
      shelves = try snapshot.fetch(Shelf.all)
      loans = try snapshot.fetch(Loan.all)
      for shelf in shelves {
        let found = try snapshot.related(Shelf.books, of: shelf.id)
        booksOfShelf[shelf.id] = found
        for book in found { shelvesOfBook[book.id, default: []].append(shelf) }
      }
    }

    func author(of book: Book) -> Author? { book.author.flatMap { authors[$0] } }
    func teacher(of author: Author?) -> Author? { author?.teacher.flatMap { authors[$0] } }
    func books(of author: Author) -> [Book] {
      books.values.filter { $0.author == author.id }
    }
    func books(on shelf: Shelf) -> [Book] { booksOfShelf[shelf.id] ?? [] }
    func shelves(of book: Book) -> [Shelf] { shelvesOfBook[book.id] ?? [] }
    func loans(of book: Book) -> [Loan] { loans.filter { $0.book == book.id } }
  }

  /// A condition on books: as a format string, as key paths, and calculated in memory.
  private struct Case {
    var format: String
    var condition: Condition<Book>?
    var isTrue: (Model, Book) -> Bool
  }

  private static func lines(
    @ConditionBuilder<Book> _ build: (Book.Attributes) -> Condition<Book>
  ) -> Condition<Book> { Condition(build) }

  private static var cases: [Case] {
    [
      Case(
        format: "author.name == 'A3'", condition: lines { $0.author[\.name] == "A3" },
        isTrue: { $0.author(of: $1)?.name == "A3" }),
      Case(
        format: "'A3' == author.name", condition: nil,
        isTrue: { $0.author(of: $1)?.name == "A3" }),
      Case(
        format: "author.name != 'A3'", condition: lines { $0.author[\.name] != "A3" },
        isTrue: { $0.author(of: $1)?.name != "A3" }),
      Case(
        format: "author.teacher == nil", condition: nil,
        isTrue: { $0.author(of: $1)?.teacher == nil }),
      Case(
        format: "author.teacher != nil", condition: nil,
        isTrue: { $0.author(of: $1)?.teacher != nil }),
      Case(
        format: "author.name IN {'A3', 'A4', nil}", condition: nil,
        isTrue: { model, book in
          model.author(of: book).map { ["A3", "A4"].contains($0.name) } ?? true
        }),
      Case(
        format: "author.teacher.name BEGINSWITH 'A1'", condition: nil,
        isTrue: { $0.teacher(of: $0.author(of: $1))?.name.hasPrefix("A1") ?? false }),
      Case(
        format: "author.name == title", condition: nil,
        isTrue: { $0.author(of: $1)?.name == $1.title }),
      Case(
        format: "ANY shelves.name == 'S2'",
        condition: lines { $0.shelves.any { $0.name == "S2" } },
        isTrue: { $0.shelves(of: $1).contains { $0.name == "S2" } }),
      Case(
        format: "NONE shelves.name == 'S2'",
        condition: lines { $0.shelves.none { $0.name == "S2" } },
        isTrue: { !$0.shelves(of: $1).contains { $0.name == "S2" } }),
      Case(
        format: "ALL shelves.name < 'S5'", condition: lines { $0.shelves.all { $0.name < "S5" } },
        isTrue: { $0.shelves(of: $1).allSatisfy { $0.name < "S5" } }),
      Case(
        format: "shelves.@count > 3", condition: lines { $0.shelves.count > 3 },
        isTrue: { $0.shelves(of: $1).count > 3 }),
      Case(
        format: "shelves.@count == 0", condition: lines { $0.shelves.isEmpty },
        isTrue: { $0.shelves(of: $1).isEmpty }),
      Case(
        format: "shelves[SIZE] BETWEEN {1, 2}", condition: nil,
        isTrue: { (1...2).contains($0.shelves(of: $1).count) }),
      Case(
        format: "SUBQUERY(shelves, $s, $s.name > 'S1' AND $s.books.@count > 20).@count > 1",
        condition: lines {
          $0.shelves.count {
            $0.name > "S1"
            $0.books.count > 20
          } > 1
        },
        isTrue: { model, book in
          model.shelves(of: book).filter { $0.name > "S1" && model.books(on: $0).count > 20 }.count
            > 1
        }),
      Case(
        format: "ANY shelves.books.title == 'B17'",
        condition: lines { $0.shelves.any { $0.books.any { $0.title == "B17" } } },
        isTrue: { model, book in
          model.shelves(of: book).contains { model.books(on: $0).contains { $0.title == "B17" } }
        }),
      Case(
        format: "ANY shelves.books.author.name == 'A7'",
        condition: lines { $0.shelves.any { $0.books.any { $0.author[\.name] == "A7" } } },
        isTrue: { model, book in
          model.shelves(of: book).contains {
            model.books(on: $0).contains { model.author(of: $0)?.name == "A7" }
          }
        }),
      Case(
        format: "ALL author.books.pages < 480", condition: nil,
        isTrue: { model, book in
          model.author(of: book).map { model.books(of: $0).allSatisfy { $0.pages < 480 } } ?? true
        }),
      Case(
        format: "author.books.@count > 5",
        condition: lines { $0.author.satisfies { $0.books.count > 5 } },
        isTrue: { model, book in (model.author(of: book).map { model.books(of: $0).count } ?? 0) > 5
        }),
      Case(
        format: "author.books.@sum.pages > 1500",
        condition: lines { $0.author.satisfies { $0.books.sum(\.pages) > 1500 } },
        isTrue: { model, book in
          (model.author(of: book).map { model.books(of: $0).reduce(0) { $0 + $1.pages } } ?? 0)
            > 1500
        }),
      Case(
        format: "author.books.@max.pages == pages", condition: nil,
        isTrue: { model, book in
          model.author(of: book).map { model.books(of: $0).map(\.pages).max() } == book.pages
        }),
      Case(
        format: "loans.@count > 0 AND ANY loans.reader == 'R2'",
        condition: lines {
          !$0.loans.isEmpty
          $0.loans.any { $0.reader == "R2" }
        },
        isTrue: { $0.loans(of: $1).contains { $0.reader == "R2" } }),
      Case(
        format: "ANY loans.reader == 'R2' OR author.name == 'A1' OR pages < 20",
        condition: lines {
          anyOf($0.loans.any { $0.reader == "R2" }, $0.author[\.name] == "A1", $0.pages < 20)
        },
        isTrue: { model, book in
          model.loans(of: book).contains { $0.reader == "R2" }
            || model.author(of: book)?.name == "A1" || book.pages < 20
        }),
      Case(
        format: "shelves CONTAINS 3",
        condition: lines { $0.shelves.contains(Shelf.ID(rawValue: 3)) },
        isTrue: { $0.shelves(of: $1).contains { $0.id.rawValue == 3 } }),
      Case(
        format: "SUBQUERY(loans, $l, $l._id > $l.book.pages).@count > 0", condition: nil,
        isTrue: { model, book in
          model.loans(of: book).contains { $0.id.rawValue > UInt64(book.pages) }
        }),
      Case(
        format: "ANY shelves IN {3, 5}", condition: nil,
        isTrue: { $0.shelves(of: $1).contains { [3, 5].contains($0.id.rawValue) } }),
      Case(
        format: "NOT ANY shelves.books.loans.reader == 'R1'", condition: nil,
        isTrue: { model, book in
          !model.shelves(of: book).contains {
            model.books(on: $0).contains { model.loans(of: $0).contains { $0.reader == "R1" } }
          }
        }),
    ]
  }

  @Test func `conditions on related records agree with a loop over all records`() throws {
    try withLibrary { store in
      try store.read { snapshot throws in
        let model = try Model(snapshot)
        for one in Self.cases {
          let expected = Set(model.books.values.filter { one.isTrue(model, $0) }.map(\.id))
          var conditions = [try Condition<Book>(format: one.format)]
          if let condition = one.condition { conditions.append(condition) }
          for condition in conditions {
            let query = Book.where(condition)
            #expect(try Set(snapshot.ids(query)) == expected, "\(one.format)")
            let count = try snapshot.count(query)
            #expect(count == expected.count, "\(one.format)")
            // The printed format string has the same meaning.
            let again = try Condition<Book>(format: condition.description)
            let found = try snapshot.ids(Book.where(again))
            #expect(Set(found) == expected, "\(condition)")
            let negated = try snapshot.count(Book.where(not(condition)))
            #expect(negated == model.books.count - expected.count, "NOT \(one.format)")
            // The condition is combined with another condition and with an order.
            let both = Book.where(condition).where { $0.pages < 250 }.sorted(by: \.pages, \.title)
            let pages = try snapshot.fetch(both).map(\.pages)
            let all = expected.compactMap { model.books[$0]?.pages }.filter { $0 < 250 }
            #expect(pages == all.sorted(), "\(one.format)")
          }
        }
      }
    }
  }

  @Test func `conditions on related records begin on the cheaper side, and name that side`() throws
  {
    try withTemporaryStore(Library.entities) { store in
      try store.write { tx throws in
        let shelves = try tx.insert((0..<200).map { Shelf(name: "S\($0)") }).ids
        let books = try tx.insert((0..<5_000).map { Book(title: "B\($0)") }).ids
        try tx.link(
          books.enumerated().map { (shelves[$0.offset % 200], $0.element) }, by: Shelf.books)
      }
      try store.read { snapshot throws in
        let rare = Book.where { $0.shelves.any { $0.name == "S7" } }
        let plan = try snapshot.explain(rare, analyzing: true)
        let text = "\(plan)"
        #expect(text.contains("Shelf.name"), "\(text)")
        #expect(text.contains("links"), "\(text)")
        #expect(!text.contains("scan"), "\(text)")
        #expect(try snapshot.count(rare) == 25)
        #expect(try snapshot.fetch(rare.requiringIndex()).count == 25)
        // The condition leaves one book of the shelf, so the query starts from the book.
        let one = Book.where {
          $0.title == "B7"
          $0.shelves.any { $0.name == "S7" }
        }
        let near = "\(try snapshot.explain(one))"
        #expect(near.contains("Book.title"), "\(near)")
        #expect(near.contains("check"), "\(near)")
        #expect(try snapshot.count(one) == 1)
      }
    }
  }

  @Test(arguments: [
    ("shelves.name == 'S1'", "ANY, ALL or NONE"), ("ANY shelves.nam == 'S1'", "'nam'"),
    ("author.nam == 'x'", "'nam'"), ("shelves[0] > shelves.@count", "no positions"),
    ("SUBQUERY(shelves, $s, $s.name == title).@count > 0", "'title'"),
    ("SUBQUERY(loans, $l, $l.reader > title).@count > 0", "write $l.book.title"),
    ("ANY shelves.name > 5", "string"), ("ANY shelfs.name == 'S1'", "'shelfs'"),
  ])
  func `invalid conditions on related records are refused with the fault`(
    format: String, part: String
  ) throws {
    try withLibrary { store in
      let error = #expect(throws: StoreError.self) {
        try store.fetch(try Book.where(format: format))
      }
      #expect(error?.code == .invalidQuery)
      #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
    }
  }

  @Test func `conditions on related records serve updates and deletes too`() throws {
    try withLibrary { store in
      try store.write { tx throws in
        let lent = Book.where { !$0.loans.isEmpty }
        let count = try tx.count(lent)
        #expect(try tx.update(lent) { $0.pages = 1_000 } == count)
        #expect(try tx.count(Book.where { $0.pages == 1_000 }) == count)
        let free = Book.where { $0.loans.isEmpty }
        #expect(try tx.delete(free) == 200 - count)
        #expect(try tx.count(Book.all) == count)
      }
    }
  }
}

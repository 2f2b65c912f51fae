import Foundation
import LodestoreFormat
import Testing

@testable import EntityStore

@Suite struct `Orders by related records` {
  /// Makes 40 authors, 300 books, 20 shelves and 80 loans.
  ///
  /// Each author except the first ten has a teacher. The books are by 30 authors, and every tenth
  /// book has none. The last shelf has no book.
  private func withLibrary(_ body: (Store) throws -> Void) throws {
    try withTemporaryStore(Library.entities) { store in
      try store.write { tx throws in
        var numbers = SeededNumbers(seed: 11)
        var authors: [Author.ID] = []
        for number in 1...40 {
          let teacher = number > 10 ? authors[numbers.below(authors.count)] : nil
          let name = number == 5 ? "a5" : "A\(number)"
          authors.append(try tx.insert(Author(name: name, teacher: teacher)).id)
        }
        let books = try tx.insert(
          (1...300).map { number in
            Book(
              title: "B\(numbers.below(90))", pages: numbers.below(400),
              author: number % 10 == 0 ? nil : authors[numbers.below(30)])
          }
        ).ids
        let shelves = try tx.insert((1...20).map { Shelf(name: "S\($0)") }).ids
        for shelf in shelves.dropLast() {
          try tx.add(books.filter { _ in numbers.oneIn(8) }, to: Shelf.books, of: shelf)
        }
        try tx.insert(
          (0..<80).map { Loan(reader: "R\($0 % 7)", book: books[numbers.below(300)]) })
      }
      try body(store)
    }
  }

  /// All records in memory.
  private struct Model {
    var authors: [Author.ID: Author] = [:]
    var books: [Book] = []
    var shelvesOfBook: [Book.ID: [Shelf]] = [:]
    var loansOfBook: [Book.ID: [Loan]] = [:]

    init(_ snapshot: borrowing Snapshot) throws {
      for author in try snapshot.fetch(Author.all) { authors[author.id] = author }
      books = try snapshot.fetch(Book.all)
      for shelf in try snapshot.fetch(Shelf.all) {
        for book in try snapshot.related(Shelf.books, of: shelf.id) {
          shelvesOfBook[book.id, default: []].append(shelf)
        }
      }
      for loan in try snapshot.fetch(Loan.all) { loansOfBook[loan.book, default: []].append(loan) }
    }

    func author(_ book: Book) -> Author? { book.author.flatMap { authors[$0] } }
    func shelves(_ book: Book) -> [Shelf] { shelvesOfBook[book.id] ?? [] }
    func books(_ author: Author) -> [Book] { books.filter { $0.author == author.id } }

    /// The ids of the books ordered by `key`, with nulls first, and by id if keys are equal.
    func sorted(_ key: (Book) -> Key?) -> [Book.ID] {
      let keyed = books.map { (key($0), $0.id) }
      return keyed.sorted { a, b in
        switch (a.0, b.0) {
        case (nil, nil): a.1.rawValue < b.1.rawValue
        case (nil, _): true
        case (_, nil): false
        case (let x?, let y?): x == y ? a.1.rawValue < b.1.rawValue : x < y
        }
      }.map(\.1)
    }
  }

  private enum Key: Comparable {
    case number(Double)
    case text(String)
  }

  /// A key of an order of books: as a format string, as a key path, and calculated in memory.
  private struct Case {
    let format: String
    var key: ((Book.Attributes, _ isDescending: Bool) -> SortKey<Book>)?
    let value: (Model, Book) -> Key?
  }

  private static func key<V>(
    _ attribute: @escaping (Book.Attributes) -> Attribute<Book, V>
  ) -> (Book.Attributes, Bool) -> SortKey<Book> {
    { $1 ? attribute($0).descending : attribute($0).ascending }
  }

  private static var cases: [Case] {
    [
      Case(
        format: "author.name", key: key { $0.author[\.name] },
        value: { model, book in model.author(book).map { .text($0.name) } }),
      Case(
        format: "author.teacher.name", key: key { $0.author[\.teacher][\.name] },
        value: { model, book in
          model.author(book)?.teacher.flatMap { model.authors[$0] }.map { .text($0.name) }
        }),
      Case(
        format: "author.teacher.teacher.bookCount",
        key: key { $0.author[\.teacher][\.teacher][\.bookCount] },
        value: { model, book in
          model.author(book)?.teacher.flatMap { model.authors[$0]?.teacher }
            .flatMap { model.authors[$0] }.map { .number(Double($0.bookCount)) }
        }),
      Case(
        format: "shelves.@count", key: key { $0.shelves.count },
        value: { .number(Double($0.shelves($1).count)) }),
      Case(
        format: "shelves.@max.name", key: key { $0.shelves.maximum(\.name) },
        value: { model, book in model.shelves(book).map(\.name).max().map { .text($0) } }),
      Case(
        format: "shelves.@min.pageTotal", key: key { $0.shelves.minimum(\.pageTotal) },
        value: { model, book in
          model.shelves(book).map(\.pageTotal).min().map { .number(Double($0)) }
        }),
      Case(
        format: "shelves.@sum.pageTotal", key: key { $0.shelves.sum(\.pageTotal) },
        value: { model, book in
          .number(model.shelves(book).reduce(0) { $0 + Double($1.pageTotal) })
        }),
      Case(
        format: "shelves.@avg.averagePages", key: key { $0.shelves.average(\.averagePages) },
        value: { model, book in
          let values = model.shelves(book).compactMap(\.averagePages)
          return values.isEmpty ? nil : .number(values.reduce(0, +) / Double(values.count))
        }),
      Case(
        format: "SUBQUERY(loans, $l, $l.reader == 'R2').@count",
        key: key { $0.loans.count { $0.reader == "R2" } },
        value: { model, book in
          .number(Double((model.loansOfBook[book.id] ?? []).count { $0.reader == "R2" }))
        }),
      Case(
        format: "author.books.@max.pages", key: nil,
        value: { model, book in
          model.author(book).flatMap { model.books($0).map(\.pages).max() }
            .map { .number(Double($0)) }
        }),
      Case(
        format: "pages - author.longest", key: nil,
        value: { model, book in
          model.author(book)?.longest.map { .number(Double(book.pages - $0)) }
        }),
      Case(
        format: "lowercase:(author.name)", key: key { $0.author[\.name].lowercased() },
        value: { model, book in model.author(book).map { .text($0.name.lowercased()) } }),
      Case(
        format: "length:(title)", key: key { $0.title.length },
        value: { .number(Double($1.title.count)) }),
    ]
  }

  private static func ids(
    _ format: String, isDescending: Bool = false, limit: Int? = nil, offset: Int = 0,
    _ snapshot: borrowing Snapshot
  ) throws -> [Book.ID] {
    let core = snapshot.access.core
    let entity = try core.entity(Book.self)
    let expression = try #require(DynamicExpression(format, of: DynamicEntity(stored: entity)))
    var request = QueryRequest.all
    request.order = [SortTerm(expression, isDescending: isDescending, options: [])]
    request.limit = limit
    request.offset = offset
    return try core.run(request, for: entity).ids().map { Book.ID(rawValue: $0) }
  }

  @Test func `orders by related records agree with a loop over all records`() throws {
    try withLibrary { store in
      try store.read { snapshot throws in
        let model = try Model(snapshot)
        for one in Self.cases {
          let expected = model.sorted { one.value(model, $0) }
          #expect(try Self.ids(one.format, snapshot) == expected, "\(one.format)")
          // With a descending key, ids descend too, and null comes last.
          let backwards = Array(expected.reversed())
          #expect(
            try Self.ids(one.format, isDescending: true, snapshot) == backwards, "\(one.format)")
          let part = try Self.ids(one.format, limit: 40, offset: 25, snapshot)
          #expect(part == Array(expected[25..<65]), "\(one.format)")
          guard let key = one.key else { continue }
          let query = Book.all.sorted { [key($0, false)] }
          #expect(try snapshot.ids(query) == expected, "\(one.format)")
          #expect(try snapshot.fetch(query).map(\.id) == expected, "\(one.format)")
          #expect(
            try snapshot.fetch(Book.all.sorted { [key($0, true)] }).map(\.id) == backwards,
            "\(one.format)")
          #expect(
            try snapshot.fetch(query.limit(7)).map(\.id) == Array(expected.prefix(7)),
            "\(one.format)")
          // The order applies page by page, and with a condition.
          var paged: [Book.ID] = []
          var token: ContinuationToken?
          repeat {
            let page = try snapshot.page(query.limit(37).continuing(after: token))
            paged += page.items.map(\.id)
            token = page.next
          } while token != nil
          #expect(paged == expected, "\(one.format)")
          let few = query.where { $0.pages < 100 }
          let pages = Dictionary(uniqueKeysWithValues: model.books.map { ($0.id, $0.pages) })
          #expect(
            try snapshot.ids(few) == expected.filter { pages[$0, default: 0] < 100 },
            "\(one.format)")
        }
      }
    }
  }

  @Test func `orders by related records put null at the requested end, and take further keys`()
    throws
  {
    try withLibrary { store in
      try store.read { snapshot throws in
        let model = try Model(snapshot)
        let query = Book.all.sorted {
          [$0.author[\.name].ascending(nulls: .last), $0.pages.descending, $0.id.ascending]
        }
        let expected = model.books.sorted { a, b in
          let (x, y) = (model.author(a)?.name, model.author(b)?.name)
          if x != y {
            guard let x else { return false }
            guard let y else { return true }
            return x < y
          }
          return a.pages != b.pages ? a.pages > b.pages : a.id.rawValue < b.id.rawValue
        }
        #expect(try snapshot.ids(query) == expected.map(\.id))
        let folded = try snapshot.fetch(
          Book.all.sorted { [$0.author[\.name].ascending(ignoring: .caseInsensitive)] })
        let names = folded.compactMap { model.author($0)?.name }
        #expect(names == names.sorted { ($0.lowercased()) < ($1.lowercased()) })
        let plan = try snapshot.explain(query).description
        #expect(plan.contains("order   sorted by author.name, -pages, _id"), "\(plan)")
      }
    }
  }

  @Test func `orders by related records make sections and groups`() throws {
    try withLibrary { store in
      try store.read { snapshot throws in
        let model = try Model(snapshot)
        let query = Book.all.sorted(by: \.author[\.name].ascending, \.title.ascending)
        let sections = try snapshot.sections(query, by: \.author[\.name])
        #expect(sections.first?.key == nil && sections.first?.count == 30)
        let names = Set(model.books.compactMap { model.author($0)?.name })
        #expect(sections.dropFirst().compactMap(\.key) == names.sorted())
        for section in sections {
          #expect(section.items.allSatisfy { model.author($0)?.name == section.key })
          #expect(section.items.map(\.title) == section.items.map(\.title).sorted())
        }
        let ranges = try snapshot.sectionRanges(query, by: \.author[\.name])
        #expect(ranges.map(\.key) == sections.map(\.key))
        #expect(ranges.map(\.count) == sections.map(\.count))
        let groups = try snapshot.groups(
          Book.all, by: \.author[\.name], .maximum(\.pages), .sum(\.author[\.bookCount]))
        #expect(groups.map(\.key) == sections.map(\.key))
        for (group, section) in zip(groups, sections) {
          #expect(group.count == section.count)
          #expect(group.values.0 == section.items.map(\.pages).max())
          let count = section.items.reduce(0) { $0 + (model.author($1)?.bookCount ?? 0) }
          #expect(group.values.1 == count)
        }
        let last = try snapshot.aggregate(Book.all, .maximum(\.author[\.name]))
        #expect(last == names.max())
        let rows = try snapshot.dictionaries(
          query, attributes: ["title", "author.name", "author.teacher.name"])
        let books = sections.flatMap(\.items)
        #expect(rows.map { $0["author.name"] as? String } == books.map { model.author($0)?.name })
        #expect(throws: StoreError.self) {
          try snapshot.dictionaries(query, attributes: ["shelves.name"])
        }
      }
    }
  }

  @Test func `live results follow orders by related records`() async throws {
    let store = try Store.inMemory(entities: Library.entities)
    let (first, second) = try await store.write { tx throws in
      (try tx.insert(Author(name: "A")).id, try tx.insert(Author(name: "B")).id)
    }
    try await store.write { tx in
      _ = try tx.insert([Book(title: "1", author: second), Book(title: "2", author: first)])
    }
    var updates = store.updates(
      of: Book.all.sorted(by: \.author[\.name].ascending)
    ).makeAsyncIterator()
    var update = try await updates.next()
    #expect(update?.items.map(\.title) == ["2", "1"])
    // The write changes an author and no book.
    try await store.write { tx in
      _ = try tx.update(Author.where { $0.id == first }) { $0.name = "C" }
    }
    update = try await updates.next()
    #expect(update?.items.map(\.title) == ["1", "2"])
    #expect(update?.difference?.moved.count == 1 && update?.difference?.updated == [])
    var sectioned = store.updates(
      of: Book.all.sorted(by: \.author[\.name].ascending), sectionedBy: \.author[\.name]
    ).makeAsyncIterator()
    let sections = try await sectioned.next()
    #expect(sections?.sections.map(\.key) == ["B", "C"])
  }

  @Test(arguments: [
    ("shelves.name", "any number of values"), ("shelves", "any number of values"),
    ("author.nam", "'nam'"), ("author.name.x", "nothing inside"),
    ("abs:(pages - now())", "now()"), ("shelves[0]", "no positions"),
  ])
  func `invalid orders by related records are refused with the fault`(format: String, part: String)
    throws
  {
    try withLibrary { store in
      try store.read { snapshot throws in
        let error = #expect(throws: StoreError.self) { try Self.ids(format, snapshot) }
        #expect(error?.code == .invalidQuery)
        #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
      }
    }
  }
}

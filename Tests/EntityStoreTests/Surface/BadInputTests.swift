import Foundation
import Testing

@testable import EntityStore

/// Mistakes in a program's arguments throw a descriptive error, and never answer another question.
@Suite struct `Bad input` {
  @Test func `any of no conditions is true for no record, and its negation for all records`() throws
  {
    try withFilms { store in
      #expect(try store.count(Film.where(anyOf([]))) == 0)
      #expect(try store.count(Film.where { _ in anyOf([]) }) == 0)
      #expect(try store.count(Film.where { _ in not(anyOf([Condition<Film>]())) }) == 5)
      #expect(
        try store.count(Film.where { anyOf($0.episode == 1, anyOf([Condition<Film>]())) }) == 1)
      #expect(try store.count(Film.where(allOf([]))) == 5)
      #expect(try store.delete(Film.where(anyOf([]))) == 0)
      // An `if` without a result leaves no condition. The call is refused, so that it does not
      // delete all records.
      _ = try storeError(.invalidQuery) {
        try store.delete(Film.where { if store.path.isEmpty { $0.episode == 1 } })
      }
    }
  }

  @Test func `a negative limit or offset is refused everywhere`() throws {
    try withFilms { store in
      try store.read { snapshot throws in
        for query in [Film.all.limit(-1), Film.all.offset(.min)] {
          for distinct in [false, true] {
            _ = try storeError(.invalidQuery) {
              try snapshot.values(query, \.title, distinct: distinct)
            }
          }
          _ = try storeError(.invalidQuery) { try snapshot.page(query) }
        }
        _ = try storeError(.invalidQuery) { try snapshot.fetch(Film.byTitle, limit: -1) }
        _ = try storeError(.invalidQuery) { try snapshot.ids(Film.byTitle, limit: .min) }
        #expect(try snapshot.fetch(Film.byTitle, limit: 0) == [])
      }
    }
  }

  @Test func `a negative limit or offset of related records is refused`() throws {
    try withTemporaryStore(Library.entities) { store in
      try store.write { tx throws in
        let author = try tx.insert(Author(name: "a")).id
        let shelf = try tx.insert(Shelf(name: "s")).id
        let book = try tx.insert(Book(title: "b", author: author)).id
        try tx.add(book, to: Shelf.books, of: shelf)
        for query in [Book.all.limit(-1), Book.all.offset(-1), Book.all.limit(.min)] {
          // The error occurs whether the results have the relationship's order or the query's
          // order.
          for query in [query, query.sorted(by: \.title)] {
            _ = try storeError(.invalidQuery) { try tx.related(Author.books, of: author, query) }
            _ = try storeError(.invalidQuery) { try tx.related(Shelf.books, of: [shelf], query) }
            _ = try storeError(.invalidQuery) {
              try tx.fetch(Shelf.all, including: Shelf.books, query)
            }
          }
        }
        let shelves = Shelf.all.limit(-1)
        _ = try storeError(.invalidQuery) { try tx.related(Book.shelves, of: book, shelves) }
        _ = try storeError(.invalidQuery) { try tx.related(Book.shelves, of: [book], shelves) }
      }
    }
  }

  @Test func `an aggregate takes no token`() throws {
    try withTemporaryStore([Trial.self]) { store in
      try Trial.make(20, in: store)
      try store.read { snapshot throws in
        let token = try snapshot.page(Trial.all.limit(5)).next
        let rest = Trial.all.continuing(after: token)
        _ = try storeError(.invalidQuery) { try snapshot.aggregate(rest, .maximum(\.share)) }
        _ = try storeError(.invalidQuery) { try snapshot.aggregate(rest, .minimum(\.note)) }
        _ = try storeError(.invalidQuery) { try snapshot.aggregate(rest, .sum(\.share)) }
      }
    }
  }

  @Test(arguments: ["", ".", "title.", ".title", "a..b"])
  func `a column without a name is refused`(name: String) throws {
    try withFilms { store in
      _ = try storeError(.invalidQuery) {
        try store.read { try $0.dictionaries(Film.all, attributes: [name]) }
      }
    }
  }

  @Test func `texts of all types are arguments of format strings`() throws {
    try withFilms { (store) throws in
      let name = "film 3"
      let texts: [any Sendable] = [name, name[...], "a film 3".dropFirst(2)]
      for text in texts {
        #expect(try store.count(Film.where(format: "title == %@", text)) == 1)
        #expect(try store.count(Film.where(format: "title IN %@", [text])) == 1)
      }
      #expect(try store.count(Film.where(format: "title ENDSWITH %@", Character("3"))) == 1)
    }
  }

  @Test func `a range is refused as a list of a format string`() throws {
    try withFilms { (store) throws in
      let ranges: [any Sendable] = [0...Int.max, 0..<3, 1.0...2.0, 1...]
      for range in ranges {
        let error = try storeError(.invalidQuery) {
          try store.count(Film.where(format: "episode IN %@", range))
        }
        #expect(error.message.contains("argument 1 is a range; give its bounds"))
      }
      #expect(try store.count(Film.where(format: "episode BETWEEN { %@, %@ }", 2, 4)) == 3)
    }
  }

  @Test func `a record keeps its id when it is modified`() throws {
    try withFilms { store in
      let error = try storeError(.invalidID) {
        try store.modify(RecordID<Film>(rawValue: 2)) { $0.id = RecordID(rawValue: 3) }
      }
      #expect(error.message.contains("Film 2") && error.message.contains("id 3"))
      let new = try store.modify(RecordID<Film>(rawValue: 2)) { $0 = Film(title: "x", episode: 9) }
      #expect(new.id.rawValue == 2)
      #expect(try store.fetch(RecordID<Film>(rawValue: 2))?.episode == 9)
    }
  }

  @Test func `not-a-number is one key, and is omitted from sums`() throws {
    try withTemporaryStore([Trial.self]) { store in
      try Trial.make(4, in: store)
      try store.update(Trial.where { $0.number == 2 }) { $0.rating = .nan }
      try store.read { snapshot throws in
        #expect(try snapshot.count(Trial.where { $0.rating == .nan }) == 0)
        #expect(try snapshot.count(Trial.where { $0.rating != .nan }) == 4)
        #expect(try snapshot.count(Trial.where { $0.rating.isIn([.nan]) }) == 0)
        let (sum, most) = try snapshot.aggregate(Trial.all, .sum(\.rating), .maximum(\.rating))
        #expect(sum?.isNaN == false && most?.isNaN == false)
        let sections = try snapshot.sections(Trial.all.sorted(by: \.rating), by: \.rating)
        #expect(sections.reduce(0) { $0 + $1.count } == 4)
      }
    }
  }

  @Test func `an invalid map size becomes the smallest one`() throws {
    var options = StoreOptions()
    options.mapSizeInBytes = -5
    try withTemporaryStore([Film.self], options: options) { store in
      try store.insert((0..<2_000).map { Film(title: "film", episode: $0) })
      #expect(try store.count(Film.all) == 2_000)
    }
  }

  @Test func `a closed store names itself, also to calls that wait`() async throws {
    try await withTemporaryStore([Film.self]) { store in
      store.close()
      let path = store.path
      for attempt in [
        { _ = try await store.fetch(Film.all) },
        { try await store.insert(Film(title: "", episode: 1)) },
        { for try await _ in store.batches(of: 1, Film.all) {} },
      ] as [@Sendable () async throws -> Void] {
        let error = await #expect(throws: StoreError.self) { try await attempt() }
        #expect(error?.code == .closed && error?.message.contains(path) == true)
        #expect(error.map { "\($0.debugDescription)".components(separatedBy: path).count } == 2)
      }
    }
  }

  @Test func `an error states its position once`() throws {
    try withFilms { store in
      for format in ["titel == 'x'", "title MATCHES '('"] {
        let error = try storeError(.invalidQuery) { try store.count(Film.where(format: format)) }
        #expect(error.debugDescription == "invalidQuery: \(error.message)")
      }
    }
  }

  @Test(arguments: [
    (#"[{"a": 1}]"#, "results", "the page is an array itself"),
    (#"{"count": 1, "result": []}"#, "results", "did you mean 'result'?"),
    (#"{"count": 1, "items": []}"#, "", "found an object; did you mean 'items'?"),
    (
      #"{"count": 1}"#, "results",
      "'results' must be an array of records, found nothing; nothing of"
    ),
  ])
  func `a page without records states where records may be`(
    page: String, path: String, hint: String
  ) async throws {
    try await withTemporaryStore([Film.self]) { store in
      let importer = Importer(into: store, Film.self, matching: .unique(\.episode))
      let pages = AsyncStream { continuation in
        continuation.yield(Data(page.utf8))
        continuation.finish()
      }
      let error = await #expect(throws: StoreError.self) {
        try await importer.run(pages, records: path, renaming: [:])
      }
      #expect(
        error?.code == .importStopped && error?.message.contains(hint) == true,
        "\(error?.message ?? "")")
    }
  }

  private func withFilms(_ body: (Store) throws -> Void) throws {
    try withTemporaryStore([Film.self]) { store in
      try store.insert((1...5).map { Film(title: "film \($0)", episode: $0) })
      try body(store)
    }
  }
}

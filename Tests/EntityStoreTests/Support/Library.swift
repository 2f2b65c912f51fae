import EntityStore
import Foundation

/// Four entities with every kind of relationship: to one and back, optional and required, many to
/// many, to itself, with and without an order.
///
/// Every delete rule and every kind of derived attribute occurs.
///
/// Two values are equal if their attributes set by programs are equal. The verifier checks the
/// derived attributes.
enum Library {
  static let entities: [any Entity.Type] = [Author.self, Book.self, Shelf.self, Loan.self]
}

struct Author: Equatable {
  var id = RecordID<Author>()
  var name: String
  /// The author's teacher, which is of the same entity.
  var teacher: Author.ID?
  private(set) var bookCount = 0
  private(set) var pageTotal = 0
  private(set) var longest: Int?
  private(set) var pupilCount = 0

  static let books = ToMany<Author, Book>(inverse: \.author, ordered: true, onDelete: .cascade)
  static let pupils = ToMany<Author, Author>(inverse: \.teacher)
}

struct Book: Equatable {
  var id = RecordID<Book>()
  var title: String
  var pages = 100
  var author: Author.ID?
  private(set) var shelfCount = 0
  private(set) var authorName: String?
  private(set) var sortTitle = ""
  private(set) var size = ""

  static let shelves = ToMany<Book, Shelf>(inverse: Shelf.books)
  static let loans = ToMany<Book, Loan>(inverse: \.book, onDelete: .deny)
  static let sequels = ToMany<Book, Book>()
}

struct Shelf: Equatable {
  var id = RecordID<Shelf>()
  var name: String
  private(set) var pageTotal = 0
  private(set) var averagePages: Double?
  private(set) var fewestPages: Int?
  private(set) var changedAt = Date(timeIntervalSinceReferenceDate: 0)

  static let books = ToMany<Shelf, Book>(ordered: true)
}

struct Loan: Equatable {
  var id = RecordID<Loan>()
  var reader: String
  var book: Book.ID
  private(set) var bookPages: Int?
}

extension Author {
  static func == (a: Author, b: Author) -> Bool {
    (a.id, a.name, a.teacher) == (b.id, b.name, b.teacher)
  }
}

extension Book {
  static func == (a: Book, b: Book) -> Bool {
    (a.id, a.title, a.pages, a.author) == (b.id, b.title, b.pages, b.author)
  }
}

extension Shelf {
  static func == (a: Shelf, b: Shelf) -> Bool { (a.id, a.name) == (b.id, b.name) }
}

extension Loan {
  static func == (a: Loan, b: Loan) -> Bool { (a.id, a.reader, a.book) == (b.id, b.reader, b.book) }
}

extension Author: Entity {
  struct Attributes: Sendable {
    var id: Attribute<Author, Author.ID> { .recordID }
    var name: Attribute<Author, String> { .init(0) }
    var teacher: Attribute<Author, Author.ID?> { .init(1) }
    var bookCount: Attribute<Author, Int> {
      get { .init(2) }
      set {}
    }
    var pageTotal: Attribute<Author, Int> {
      get { .init(3) }
      set {}
    }
    var longest: Attribute<Author, Int?> {
      get { .init(4) }
      set {}
    }
    var pupilCount: Attribute<Author, Int> {
      get { .init(5) }
      set {}
    }
    var books: ToMany<Author, Book> { Author.books }
    var pupils: ToMany<Author, Author> { Author.pupils }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Author>(
    "Author",
    attributes: [
      .init("name", \.name), .toOne("teacher", \.teacher),
      .derived("bookCount", \.bookCount, .count(books)),
      .derived("pageTotal", \.pageTotal, .sum(books, \.pages)),
      .derived("longest", \.longest, .maximum(books, \.pages)),
      .derived("pupilCount", \.pupilCount, .count(pupils)),
    ],
    unique: [[\.name]], indexes: [[\.bookCount]],
    relationships: [.init("books", books), .init("pupils", pupils)])

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    teacher = try reader.read()
    bookCount = try reader.read()
    pageTotal = try reader.read()
    longest = try reader.read()
    pupilCount = try reader.read()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(teacher)
  }
}

extension Book: Entity {
  struct Attributes: Sendable {
    var id: Attribute<Book, Book.ID> { .recordID }
    var title: Attribute<Book, String> { .init(0) }
    var pages: Attribute<Book, Int> { .init(1) }
    var author: Attribute<Book, Author.ID?> { .init(2) }
    var shelfCount: Attribute<Book, Int> {
      get { .init(3) }
      set {}
    }
    var authorName: Attribute<Book, String?> {
      get { .init(4) }
      set {}
    }
    var sortTitle: Attribute<Book, String> {
      get { .init(5) }
      set {}
    }
    var size: Attribute<Book, String> {
      get { .init(6) }
      set {}
    }
    var shelves: ToMany<Book, Shelf> { Book.shelves }
    var loans: ToMany<Book, Loan> { Book.loans }
    var sequels: ToMany<Book, Book> { Book.sequels }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Book>(
    "Book",
    attributes: [
      .init("title", \.title), .init("pages", \.pages), .toOne("author", \.author),
      .derived("shelfCount", \.shelfCount, .count(shelves)),
      .derived("authorName", \.authorName, .copy(\.author, \.name)),
      .derived("sortTitle", \.sortTitle, .canonical(\.title)),
      .derived("size", \.size, .function(version: 1) { $0.pages < 150 ? "short" : "long" }),
    ],
    indexes: [[\.title], [\.authorName, \.shelfCount], [\.size]],
    relationships: [
      .init("shelves", shelves), .init("loans", loans), .init("sequels", sequels),
    ])

  init(from reader: inout RecordReader) throws(StoreError) {
    title = try reader.read()
    pages = try reader.read()
    author = try reader.read()
    shelfCount = try reader.read()
    authorName = try reader.read()
    sortTitle = try reader.read()
    size = try reader.read()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(title)
    writer.write(pages)
    writer.write(author)
  }
}

extension Shelf: Entity {
  struct Attributes: Sendable {
    var id: Attribute<Shelf, Shelf.ID> { .recordID }
    var name: Attribute<Shelf, String> { .init(0) }
    var pageTotal: Attribute<Shelf, Int> {
      get { .init(1) }
      set {}
    }
    var averagePages: Attribute<Shelf, Double?> {
      get { .init(2) }
      set {}
    }
    var fewestPages: Attribute<Shelf, Int?> {
      get { .init(3) }
      set {}
    }
    var changedAt: Attribute<Shelf, Date> {
      get { .init(4) }
      set {}
    }
    var books: ToMany<Shelf, Book> { Shelf.books }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Shelf>(
    "Shelf",
    attributes: [
      .init("name", \.name),
      .derived("pageTotal", \.pageTotal, .sum(books, \.pages)),
      .derived("averagePages", \.averagePages, .average(books, \.pages)),
      .derived("fewestPages", \.fewestPages, .minimum(books, \.pages)),
      .derived("changedAt", \.changedAt, .changedAt),
    ], unique: [[\.name]],
    relationships: [.init("books", books)])

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    pageTotal = try reader.read()
    averagePages = try reader.read()
    fewestPages = try reader.read()
    changedAt = try reader.read()
  }

  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

extension Loan: Entity {
  struct Attributes: Sendable {
    var id: Attribute<Loan, Loan.ID> { .recordID }
    var reader: Attribute<Loan, String> { .init(0) }
    var book: Attribute<Loan, Book.ID> { .init(1) }
    var bookPages: Attribute<Loan, Int?> {
      get { .init(2) }
      set {}
    }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Loan>(
    "Loan",
    attributes: [
      .init("reader", \.reader), .toOne("book", \.book),
      .derived("bookPages", \.bookPages, .copy(\.book, \.pages)),
    ])

  init(from reader: inout RecordReader) throws(StoreError) {
    self.reader = try reader.read()
    book = try reader.read()
    bookPages = try reader.read()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(reader)
    writer.write(book)
  }
}

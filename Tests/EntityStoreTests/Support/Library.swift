import EntityStore

/// Four entities with every kind of relationship: to one and back, optional and required, many to many,
/// and to itself; with every rule for deletes.
enum Library {
  static let entities: [any Entity.Type] = [Author.self, Book.self, Shelf.self, Loan.self]
}

struct Author: Equatable {
  var id = RecordID<Author>()
  var name: String
  /// Who taught the author: to the same entity.
  var teacher: Author.ID?

  static let books = ToMany<Author, Book>(inverse: \.author, onDelete: .cascade)
  static let pupils = ToMany<Author, Author>(inverse: \.teacher)
}

struct Book: Equatable {
  var id = RecordID<Book>()
  var title: String
  var pages = 100
  var author: Author.ID?

  static let shelves = ToMany<Book, Shelf>(inverse: Shelf.books)
  static let loans = ToMany<Book, Loan>(inverse: \.book, onDelete: .deny)
  static let sequels = ToMany<Book, Book>()
}

struct Shelf: Equatable {
  var id = RecordID<Shelf>()
  var name: String

  static let books = ToMany<Shelf, Book>()
}

struct Loan: Equatable {
  var id = RecordID<Loan>()
  var reader: String
  var book: Book.ID
}

extension Author: Entity {
  struct Attributes: Sendable {
    var id: Attribute<Author, Author.ID> { .recordID }
    var name: Attribute<Author, String> { .init(0) }
    var teacher: Attribute<Author, Author.ID?> { .init(1) }
    var books: ToMany<Author, Book> { Author.books }
    var pupils: ToMany<Author, Author> { Author.pupils }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Author>(
    "Author", attributes: [.init("name", \.name), .toOne("teacher", \.teacher)],
    unique: [[\.name]],
    relationships: [.init("books", books), .init("pupils", pupils)])

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    teacher = try reader.read()
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
    var shelves: ToMany<Book, Shelf> { Book.shelves }
    var loans: ToMany<Book, Loan> { Book.loans }
    var sequels: ToMany<Book, Book> { Book.sequels }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Book>(
    "Book",
    attributes: [.init("title", \.title), .init("pages", \.pages), .toOne("author", \.author)],
    indexes: [[\.title]],
    relationships: [
      .init("shelves", shelves), .init("loans", loans), .init("sequels", sequels),
    ])

  init(from reader: inout RecordReader) throws(StoreError) {
    title = try reader.read()
    pages = try reader.read()
    author = try reader.read()
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
    var books: ToMany<Shelf, Book> { Shelf.books }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Shelf>(
    "Shelf", attributes: [.init("name", \.name)], unique: [[\.name]],
    relationships: [.init("books", books)])

  init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }

  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

extension Loan: Entity {
  struct Attributes: Sendable {
    var id: Attribute<Loan, Loan.ID> { .recordID }
    var reader: Attribute<Loan, String> { .init(0) }
    var book: Attribute<Loan, Book.ID> { .init(1) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Loan>(
    "Loan", attributes: [.init("reader", \.reader), .toOne("book", \.book)])

  init(from reader: inout RecordReader) throws(StoreError) {
    self.reader = try reader.read()
    book = try reader.read()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(reader)
    writer.write(book)
  }
}

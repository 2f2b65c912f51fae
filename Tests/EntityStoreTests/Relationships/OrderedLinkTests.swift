import EntityStore
import Foundation
import Testing

/// Relationships whose records have an order that the program gives them.
@Suite struct `Relationships with an order` {
  /// A shelf with books `titles`, in this order.
  private func withShelf(
    _ titles: some Collection<String> & Sendable,
    _ body: (inout WriteTransaction, Shelf.ID, [Book.ID]) throws -> Void
  ) throws {
    try withTemporaryStore(Library.entities) { store in
      try store.write { tx throws in
        let shelf = try tx.insert(Shelf(name: "S")).id
        let books = try tx.insert(titles.map { Book(title: $0) }).ids
        try tx.add(books, to: Shelf.books, of: shelf)
        try body(&tx, shelf, Array(books))
      }
      try expectSound(store)
    }
  }

  private func titles(
    _ tx: inout WriteTransaction, _ shelf: Shelf.ID
  ) throws -> String {
    try tx.related(Shelf.books, of: shelf).map(\.title).joined()
  }

  @Test func `ordered links are read in their order, and records are put at any position`() throws {
    try withShelf(["a", "b", "c", "d"]) { tx, shelf, books in
      #expect(try titles(&tx, shelf) == "abcd")
      try tx.move(books[3], in: Shelf.books, of: shelf, to: .first)
      #expect(try titles(&tx, shelf) == "dabc")
      try tx.move(books[0], in: Shelf.books, of: shelf, to: .after(books[1]))
      #expect(try titles(&tx, shelf) == "dbac")
      try tx.move(books[2], in: Shelf.books, of: shelf, to: .before(books[1]))
      #expect(try titles(&tx, shelf) == "dcba")
      try tx.move(books[3], in: Shelf.books, of: shelf, to: .index(2))
      #expect(try titles(&tx, shelf) == "cbda")
      try tx.move(books[2], in: Shelf.books, of: shelf, to: .last)
      #expect(try titles(&tx, shelf) == "bdac")
      try tx.move(books[1], in: Shelf.books, of: shelf, to: .index(99))
      #expect(try titles(&tx, shelf) == "dacb")
      try tx.move(books[0], in: Shelf.books, of: shelf, to: .before(books[0]))
      #expect(try titles(&tx, shelf) == "dacb")
      let new = try tx.insert(Book(title: "e", pages: 7))
      #expect(try tx.add(new.id, to: Shelf.books, of: shelf, at: .index(1)))
      #expect(try !tx.add(new.id, to: Shelf.books, of: shelf, at: .index(2)))
      #expect(try titles(&tx, shelf) == "daecb")
      try tx.delete(books[0])
      #expect(try titles(&tx, shelf) == "decb")
    }
  }

  @Test func `ordered links in place are not moved, and an undo takes back the other moves`()
    throws
  {
    try withTemporaryStore(Library.entities, options: .history(.images)) { store in
      let (shelf, books) = try store.write { tx throws in
        let shelf = try tx.insert(Shelf(name: "S")).id
        let books = Array(try tx.insert(["a", "b", "c"].map { Book(title: $0) }).ids)
        try tx.add(books, to: Shelf.books, of: shelf)
        return (shelf, books)
      }
      let start = try store.historyToken()
      let places: [[LinkPosition<Book>]] = [
        [.first, .index(0), .before(books[0]), .before(books[1])],
        [.index(1), .before(books[2]), .after(books[0]), .after(books[1])],
        [.last, .index(2), .index(9), .after(books[1])],
      ]
      for (book, places) in zip(books, places) {
        for place in places {
          try store.move(book, in: Shelf.books, of: shelf, to: place)
          #expect(try !store.add(book, to: Shelf.books, of: shelf, at: place))
        }
      }
      #expect(try store.history(.after(start)).isEmpty)
      try store.write { tx in
        try tx.move(books[2], in: Shelf.books, of: shelf, to: .last)
        try tx.modify(books[0]) { $0.pages = 7 }
      }
      #expect(try store.undo(try store.historyToken()) == 1)
      // Each pair is a book and another position, to which the book is moved.
      for (book, place) in [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)] {
        try store.move(books[book], in: Shelf.books, of: shelf, to: .index(place))
        var expected = [0, 1, 2]
        expected.remove(at: book)
        expected.insert(book, at: place)
        #expect(try store.relatedIDs(Shelf.books, of: shelf) == expected.map { books[$0] })
        #expect(try store.history().last?.links.first?.kind == .moved)
        try store.set(Shelf.books, of: shelf, to: books)
      }
    }
  }

  @Test func `a link that a write removes and adds again is moved if its position changes`()
    throws
  {
    try withTemporaryStore(Library.entities, options: .history(.images)) { store in
      let (shelf, author, books) = try store.write { tx throws in
        let shelf = try tx.insert(Shelf(name: "S")).id
        let author = try tx.insert(Author(name: "A")).id
        let books = Array(
          try tx.insert(["a", "b", "c"].map { Book(title: $0, author: author) }).ids)
        try tx.add(books, to: Shelf.books, of: shelf)
        return (shelf, author, books)
      }
      /// Runs `body` in one write, and returns the links that the history reports for it.
      func report(_ body: @Sendable (inout WriteTransaction) throws -> Void) throws -> [String] {
        let start = try store.historyToken()
        try store.write { tx in try body(&tx) }
        return try store.history(.after(start)).flatMap(\.links).map { group in
          "\(group.kind) \(group.links.map { max($0.recordID, $0.targetID) })"
        }
      }
      func places() throws -> [[RecordID<Book>]] {
        [
          try store.relatedIDs(Shelf.books, of: shelf),
          try store.relatedIDs(Author.books, of: author),
        ]
      }
      // If the last books are removed and added again in order, no link has moved.
      for count in 0...3 {
        let last = Array(books.suffix(count))
        let told = try report { tx in
          try tx.remove(last, from: Shelf.books, of: shelf)
          for book in last { try tx.add(book, to: Shelf.books, of: shelf) }
          for book in last { try tx.modify(book) { $0.author = nil } }
          for book in last { try tx.modify(book) { $0.author = author } }
        }
        #expect(told.isEmpty)
        #expect(try places() == [books, books])
      }
      // These links are stored in a tree of the relationship.
      #expect(
        try report { tx in
          try tx.remove(books[0], from: Shelf.books, of: shelf)
          try tx.add(books[0], to: Shelf.books, of: shelf)
        } == ["moved [1]"])
      let error = try storeError(.cannotUndo) { try store.undo(try store.historyToken()) }
      #expect(error.message.contains("the write moved records in Shelf.books"), "\(error)")
      try store.set(Shelf.books, of: shelf, to: books)
      #expect(
        try report { tx in
          try tx.remove(books[1...], from: Shelf.books, of: shelf)
          try tx.link([(shelf, books[2]), (shelf, books[1])], by: Shelf.books)
        } == ["moved [2, 3]"])
      try store.set(Shelf.books, of: shelf, to: books)
      #expect(
        try report { tx in
          try tx.remove(books[2], from: Shelf.books, of: shelf)
          try tx.add(books[2], to: Shelf.books, of: shelf, at: .first)
        } == ["moved [3]"])
      #expect(try places()[0] == [books[2], books[0], books[1]])
      // These links are stored in an attribute of the book.
      #expect(
        try report { tx in
          try tx.modify(books[1]) { $0.author = nil }
          try tx.modify(books[1]) { $0.author = author }
        } == ["moved [2]"])
      #expect(try places()[1] == [books[0], books[2], books[1]])
      _ = try storeError(.cannotUndo) { try store.undo(try store.historyToken()) }
      // A write reports no move of a link that does not exist both before and after it.
      #expect(
        try report { tx in
          try tx.move(books[1], in: Author.books, of: author, to: .first)
          try tx.modify(books[1]) { $0.author = nil }
        } == [])
      #expect(try store.undo(try store.historyToken()) == 1)
      #expect(
        try report { tx in
          let new = try tx.insert(Book(title: "d", author: author)).id
          try tx.move(new, in: Author.books, of: author, to: .first)
        } == [])
      #expect(try store.undo(try store.historyToken()) == 1)
    }
  }

  @Test func `ordered links have the order in queries, conditions, limits and several owners`()
    throws
  {
    try withShelf(["c", "a", "d", "b"]) { tx, shelf, books in
      let sorted = try tx.related(Shelf.books, of: shelf, Book.all.sorted(by: \.title))
      #expect(sorted.map(\.title) == ["a", "b", "c", "d"])
      let some = Book.where { $0.title > "a" }
      #expect(try tx.related(Shelf.books, of: shelf, some).map(\.title) == ["c", "d", "b"])
      #expect(try tx.related(Shelf.books, of: shelf, some.offset(1).limit(1)).map(\.title) == ["d"])
      let part = Book.all.offset(1).limit(2)
      #expect(try tx.related(Shelf.books, of: shelf, part).map(\.title) == ["a", "d"])
      #expect(try tx.relatedIDs(Shelf.books, of: shelf) == books)
      let other = try tx.insert(Shelf(name: "T")).id
      try tx.add([books[3], books[0]], to: Shelf.books, of: other)
      let found = try tx.related(Shelf.books, of: [other, shelf], Book.all.limit(2))
      #expect(found[shelf].map(\.title) == ["c", "a"])
      #expect(found[other].map(\.title) == ["b", "c"])
      let fetched = try tx.fetch(Shelf.all, including: Shelf.books)
      #expect(fetched.map { $0.related.map(\.title).joined() } == ["cadb", "bc"])
    }
  }

  @Test func `an order has a repeated record once, at its first position`() throws {
    try withShelf(["a", "b", "c"]) { tx, shelf, books in
      let other = try tx.insert(Shelf(name: "T")).id
      #expect(try tx.add([books[1], books[0], books[1]], to: Shelf.books, of: other) == 2)
      #expect(try titles(&tx, other) == "ba")
      #expect(try tx.remove(books[1], from: Shelf.books, of: other))
      #expect(try titles(&tx, other) == "a")
      try tx.set(Shelf.books, of: other, to: [books[2], books[0], books[2]])
      #expect(try titles(&tx, other) == "ca")
      let pairs = [(other, books[1]), (shelf, books[2]), (other, books[1]), (shelf, books[2])]
      #expect(try tx.link(pairs, by: Shelf.books) == 1)
      #expect(try titles(&tx, other) == "cab")
      #expect(try titles(&tx, shelf) == "abc")
    }
  }

  @Test func `an order of an attribute's links has each record at the position of its last pair`()
    throws
  {
    try withTemporaryStore(Library.entities) { store in
      try store.write { tx throws in
        let a = try tx.insert(Author(name: "a")).id
        let b = try tx.insert(Author(name: "b")).id
        let books = try tx.insert(["x", "y", "z"].map { Book(title: $0) }).ids
        let pairs = [(b, books[1]), (b, books[0]), (a, books[1]), (a, books[0]), (a, books[1])]
        #expect(try tx.link(pairs, by: Author.books) == 2)
        #expect(try tx.relatedIDs(Author.books, of: a) == [books[1], books[0]])
        #expect(try tx.relatedIDs(Author.books, of: b) == [])
        let back = [(a, books[2]), (b, books[2]), (b, books[0])]
        #expect(try tx.link(back, by: Author.books) == 2)
        #expect(try tx.relatedIDs(Author.books, of: b) == [books[2], books[0]])
        #expect(try tx.relatedIDs(Author.books, of: a) == [books[1]])
      }
      try expectSound(store)
    }
  }

  @Test func `an order stays when records are added and set`() throws {
    try withShelf(["a", "b", "c", "d", "e"]) { tx, shelf, books in
      try tx.set(Shelf.books, of: shelf, to: [books[4], books[0], books[2]])
      #expect(try titles(&tx, shelf) == "eac")
      try tx.add([books[3], books[0], books[1]], to: Shelf.books, of: shelf)
      #expect(try titles(&tx, shelf) == "eacdb")
      // Links can also be changed from the other side, and through an attribute that holds a link.
      try tx.remove(shelf, from: Book.shelves, of: books[2])
      try tx.add(shelf, to: Book.shelves, of: books[2])
      #expect(try titles(&tx, shelf) == "eadbc")
      let author = try tx.insert(Author(name: "A")).id
      try tx.add(books.reversed(), to: Author.books, of: author)
      #expect(try tx.related(Author.books, of: author).map(\.title).joined() == "edcba")
      try tx.move(books[0], in: Author.books, of: author, to: .first)
      try tx.modify(books[1]) { $0.author = nil }
      try tx.modify(books[1]) { $0.author = author }
      #expect(try tx.related(Author.books, of: author).map(\.title).joined() == "aedcb")
      try tx.delete(author)
      #expect(try tx.count(Book.all) == 0)
    }
  }

  @Test func `an order refuses invalid positions, without a change`() throws {
    try withShelf(["a", "b"]) { tx, shelf, books in
      let stranger = try tx.insert(Book(title: "x")).id
      func refused(
        _ code: StoreError.Code, _ words: String,
        _ call: (inout WriteTransaction) throws -> Void
      ) throws {
        let error = #expect(throws: StoreError.self) { try call(&tx) }
        #expect(error?.code == code)
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
        #expect(try titles(&tx, shelf) == "ab")
      }
      try refused(
        .noSuchRecord, "does not lead to record \(stranger.rawValue) of Book by Shelf.books"
      ) {
        try $0.move(stranger, in: Shelf.books, of: shelf, to: .first)
      }
      try refused(.noSuchRecord, "does not lead to record \(stranger.rawValue)") {
        _ = try $0.add(books[0], to: Shelf.books, of: shelf, at: .after(stranger))
      }
      try refused(.noSuchRecord, "99") {
        _ = try $0.add(.init(rawValue: 99), to: Shelf.books, of: shelf, at: .first)
      }
      try refused(.invalidQuery, "indexes begin at 0") {
        try $0.move(books[0], in: Shelf.books, of: shelf, to: .index(-1))
      }
      try refused(.invalidQuery, "Book.sequels has no order; declare it with 'ordered: true'") {
        try $0.move(books[0], in: Book.sequels, of: books[1], to: .first)
      }
    }
  }

  @Test func `an order has room for any number of inserts at one position`() throws {
    let count = SeededNumbers.environmentNumber("LODESTORE_ORDER_INSERTS") ?? 1_500
    for place in 0..<3 {
      try withShelf(["first", "last"]) { tx, shelf, books in
        var expected = books
        let new = try tx.insert((0..<count).map { Book(title: "\($0)") }).ids
        for id in new {
          switch place {
          case 0:
            try tx.add(id, to: Shelf.books, of: shelf, at: .after(books[0]))
            expected.insert(id, at: 1)
          case 1:
            try tx.add(id, to: Shelf.books, of: shelf, at: .before(books[1]))
            expected.insert(id, at: expected.count - 1)
          default:
            try tx.add(id, to: Shelf.books, of: shelf, at: .first)
            expected.insert(id, at: 0)
          }
        }
        #expect(try tx.relatedIDs(Shelf.books, of: shelf) == expected)
      }
    }
  }

  @Test func `an order begins with existing links by id, and ends with the relationship`()
    throws
  {
    let folder = try TemporaryFolder()
    let plain = try Store(at: folder.storePath, entities: Plain.entities)
    let list = try plain.write { tx throws in
      let songs = try tx.insert((1...5).map { Plain.Song(name: "\($0)") }).ids
      let list = try tx.insert(Plain.List(name: "L"))
      try tx.add(songs.reversed(), to: Plain.List.songs, of: list.id)
      return list.id.rawValue
    }
    plain.close()
    let store = try Store(at: folder.storePath, entities: Ordered.entities)
    try store.write { tx throws in
      let id = Ordered.List.ID(rawValue: list)
      #expect(try tx.related(Ordered.List.songs, of: id).map(\.name).joined() == "12345")
      try tx.move(.init(rawValue: 4), in: Ordered.List.songs, of: id, to: .first)
    }
    try expectSound(store)
    store.close()
    // A program that does not ask for the order keeps it.
    let older = try Store(at: folder.storePath, entities: Plain.entities)
    try older.write { tx throws in
      let id = Plain.List.ID(rawValue: list)
      try tx.remove(.init(rawValue: 1), from: Plain.List.songs, of: id)
      try tx.add(.init(rawValue: 1), to: Plain.List.songs, of: id)
      #expect(try tx.related(Plain.List.songs, of: id).map(\.name).joined() == "42351")
    }
    older.close()
    try expectSound(folder.storePath)
  }
}

/// A list of songs without an order.
private enum Plain {
  static let entities: [any Entity.Type] = [List.self, Song.self]

  struct List: Entity {
    var id = RecordID<List>()
    var name: String
    static let songs = ToMany<List, Song>()

    struct Attributes: Sendable {
      var name: Attribute<List, String> { .init(0) }
    }
    static var attributes: Attributes { Attributes() }
    static let schema = EntitySchema<List>(
      "List", attributes: [.init("name", \.name)],
      relationships: [.init("songs", songs)])
    init(name: String) { self.name = name }
    init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }
    func encode(into writer: inout RecordWriter) { writer.write(name) }
  }

  struct Song: Entity {
    var id = RecordID<Song>()
    var name: String

    struct Attributes: Sendable {
      var name: Attribute<Song, String> { .init(0) }
    }
    static var attributes: Attributes { Attributes() }
    static let schema = EntitySchema<Song>("Song", attributes: [.init("name", \.name)])
    init(name: String) { self.name = name }
    init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }
    func encode(into writer: inout RecordWriter) { writer.write(name) }
  }
}

/// A list whose songs have an order.
private enum Ordered {
  static let entities: [any Entity.Type] = [List.self, Song.self]

  struct List: Entity {
    var id = RecordID<List>()
    var name: String
    static let songs = ToMany<List, Song>(ordered: true)

    struct Attributes: Sendable {
      var name: Attribute<List, String> { .init(0) }
    }
    static var attributes: Attributes { Attributes() }
    static let schema = EntitySchema<List>(
      "List", attributes: [.init("name", \.name)],
      relationships: [.init("songs", songs)])
    init(name: String) { self.name = name }
    init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }
    func encode(into writer: inout RecordWriter) { writer.write(name) }
  }

  struct Song: Entity {
    var id = RecordID<Song>()
    var name: String

    struct Attributes: Sendable {
      var name: Attribute<Song, String> { .init(0) }
    }
    static var attributes: Attributes { Attributes() }
    static let schema = EntitySchema<Song>("Song", attributes: [.init("name", \.name)])
    init(name: String) { self.name = name }
    init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }
    func encode(into writer: inout RecordWriter) { writer.write(name) }
  }
}

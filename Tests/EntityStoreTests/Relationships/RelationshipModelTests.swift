import EntityStore
import Foundation
import Testing

/// Random operations over four related entities, compared with a model in memory.
@Suite struct `Related records against a model` {
  private struct Model {
    var authors: [UInt64: Author] = [:]
    var books: [UInt64: Book] = [:]
    var shelves: [UInt64: Shelf] = [:]
    var loans: [UInt64: Loan] = [:]
    /// By shelf and by author, the books in their order.
    var shelved: [UInt64: [UInt64]] = [:]
    var written: [UInt64: [UInt64]] = [:]
    /// A book and its sequel.
    var sequels: Set<Pair> = []

    struct Pair: Hashable {
      var from: UInt64
      var to: UInt64
    }

    enum Denied: Error { case denied }

    /// Adds the second record to the list of the first; returns false if the list has it already.
    static func append(_ pair: Pair, to lists: inout [UInt64: [UInt64]]) -> Bool {
      if lists[pair.from]?.contains(pair.to) == true { return false }
      lists[pair.from, default: []].append(pair.to)
      return true
    }

    mutating func setAuthor(_ author: UInt64, of book: UInt64) {
      if books[book]?.author?.rawValue == author { return }
      if let before = books[book]?.author { written[before.rawValue]?.removeAll { $0 == book } }
      books[book]?.author = .init(rawValue: author)
      written[author, default: []].append(book)
    }

    /// Deletes `books` and the links to them.
    ///
    /// A loan of a deleted book denies the delete.
    mutating func delete(books gone: Set<UInt64>) throws(Denied) {
      guard !loans.values.contains(where: { gone.contains($0.book.rawValue) }) else {
        throw .denied
      }
      for id in gone { books[id] = nil }
      shelved = shelved.mapValues { $0.filter { !gone.contains($0) } }
      written = written.mapValues { $0.filter { !gone.contains($0) } }
      sequels = sequels.filter { !gone.contains($0.from) && !gone.contains($0.to) }
    }

    mutating func delete(authors gone: Set<UInt64>) throws(Denied) {
      let theirs = books.values.filter { $0.author.map { gone.contains($0.rawValue) } ?? false }
      try delete(books: Set(theirs.map(\.id.rawValue)))
      for id in gone {
        authors[id] = nil
        written[id] = nil
      }
      for (id, author) in authors where author.teacher.map({ gone.contains($0.rawValue) }) ?? false
      {
        authors[id]?.teacher = nil
      }
    }

    mutating func delete(shelves gone: Set<UInt64>) {
      for id in gone {
        shelves[id] = nil
        shelved[id] = nil
      }
    }
  }

  /// Makes one random change in the store and in the model; returns false if both refused it.
  private static func change(
    _ tx: inout WriteTransaction, _ model: inout Model, _ numbers: inout SeededNumbers,
    _ next: inout Int
  ) throws {
    func some<Value>(_ all: [UInt64: Value], atMost count: Int) -> [UInt64] {
      Array(all.keys.sorted().shuffled(using: &numbers).prefix(numbers.below(count) + 1))
    }
    func one<Value>(_ all: [UInt64: Value]) -> UInt64? {
      all.keys.sorted().randomElement(using: &numbers)
    }
    next += 1
    switch numbers.below(17) {
    case 0:
      let author = Author(name: "A\(next)", teacher: one(model.authors).map { .init(rawValue: $0) })
      let stored = try tx.insert(author)
      model.authors[stored.id.rawValue] = stored
    case 1, 2:
      let books = (0..<numbers.below(5) + 1).map { position in
        Book(
          title: "B\(next).\(position)", pages: numbers.below(300),
          author: numbers.oneIn(4) ? nil : one(model.authors).map { .init(rawValue: $0) })
      }
      let ids = try tx.insert(books).ids
      for (id, book) in zip(ids, books) {
        var book = book
        book.id = id
        model.books[id.rawValue] = book
        if let author = book.author?.rawValue {
          model.written[author, default: []].append(id.rawValue)
        }
      }
    case 3:
      let stored = try tx.insert(Shelf(name: "S\(next)"))
      model.shelves[stored.id.rawValue] = stored
    case 4:
      guard let book = one(model.books) else { return }
      let stored = try tx.insert(Loan(reader: "R\(next)", book: .init(rawValue: book)))
      model.loans[stored.id.rawValue] = stored
    case 5, 6:
      var pairs = some(model.shelves, atMost: 3).flatMap { shelf in
        some(model.books, atMost: 6).map { Model.Pair(from: shelf, to: $0) }
      }
      // Some pairs occur twice in the call.
      pairs += pairs.shuffled(using: &numbers).prefix(numbers.below(3))
      let added = pairs.count { Model.append($0, to: &model.shelved) }
      let count = try tx.link(
        pairs.map { (Shelf.ID(rawValue: $0.from), Book.ID(rawValue: $0.to)) }, by: Shelf.books)
      #expect(count == added)
    case 7:
      let pairs = some(model.books, atMost: 4).flatMap { book in
        some(model.books, atMost: 3).map { Model.Pair(from: book, to: $0) }
      }
      try tx.link(
        pairs.map { (Book.ID(rawValue: $0.from), Book.ID(rawValue: $0.to)) }, by: Book.sequels)
      model.sequels.formUnion(pairs)
    case 8:
      // The call sets the links from the other side, the book.
      guard let book = one(model.books) else { return }
      let shelves = some(model.shelves, atMost: 4)
      guard !model.shelves.isEmpty else { return }
      try tx.set(Book.shelves, of: .init(rawValue: book), to: shelves.map { .init(rawValue: $0) })
      for shelf in model.shelves.keys {
        if shelves.contains(shelf) {
          _ = Model.append(.init(from: shelf, to: book), to: &model.shelved)
        } else {
          model.shelved[shelf]?.removeAll { $0 == book }
        }
      }
    case 9:
      let gone = Set(some(model.books, atMost: 5))
      try denied(try tx.delete(gone.map { Book.ID(rawValue: $0) }), &model) {
        (model) throws(Model.Denied) in try model.delete(books: gone)
      }
    case 10:
      let gone = Set(some(model.authors, atMost: 2))
      let ids = gone.map { Author.ID(rawValue: $0) }
      try denied(
        numbers.oneIn(2)
          ? try tx.delete(ids) : try tx.delete(Author.where { $0.id.isIn(ids) }), &model
      ) { (model) throws(Model.Denied) in try model.delete(authors: gone) }
    case 11:
      let gone = Set(some(model.shelves, atMost: 2))
      for id in gone { try tx.delete(Shelf.ID(rawValue: id)) }
      model.delete(shelves: gone)
    case 12:
      let gone = some(model.loans, atMost: 8)
      try tx.delete(gone.map { Loan.ID(rawValue: $0) })
      for id in gone { model.loans[id] = nil }
    case 13:
      // The call gives the shelf old and new books in a new order.
      guard let shelf = one(model.shelves), !model.books.isEmpty else { return }
      let books = some(model.books, atMost: 9)
      let given = books + books.prefix(numbers.below(3))
      try tx.set(
        Shelf.books, of: .init(rawValue: shelf), to: given.map { Book.ID(rawValue: $0) })
      model.shelved[shelf] = books
    case 14:
      guard let shelf = one(model.shelves), let book = one(model.books) else { return }
      let place = Self.place(in: model.shelved[shelf] ?? [], &numbers)
      try tx.add(
        Book.ID(rawValue: book), to: Shelf.books, of: .init(rawValue: shelf), at: place)
      Self.move(book, to: place, in: &model.shelved[shelf, default: []])
    case 15:
      guard let author = one(model.authors),
        let book = model.written[author]?.randomElement(using: &numbers)
      else { return }
      for _ in 0..<numbers.below(40) {
        let place = Self.place(in: model.written[author] ?? [], &numbers)
        try tx.move(
          Book.ID(rawValue: book), in: Author.books, of: .init(rawValue: author), to: place)
        Self.move(book, to: place, in: &model.written[author, default: []])
      }
    default:
      // The call gives an author books of other authors, from the side that does not hold the id.
      guard let author = one(model.authors) else { return }
      let books = some(model.books, atMost: 4)
      guard !model.books.isEmpty else { return }
      let given = books + books.prefix(numbers.below(3))
      try tx.add(
        given.map { Book.ID(rawValue: $0) }, to: Author.books, of: .init(rawValue: author))
      for id in books { model.setAuthor(author, of: id) }
    }
  }

  private static func place(
    in list: [UInt64], _ numbers: inout SeededNumbers
  ) -> LinkPosition<Book> {
    let other = list.randomElement(using: &numbers).map { Book.ID(rawValue: $0) }
    switch numbers.below(5) {
    case 0: return .first
    case 1: return .last
    case 2: return .index(numbers.below(list.count + 3))
    case 3: return other.map { .before($0) } ?? .last
    default: return other.map { .after($0) } ?? .first
    }
  }

  private static func move(_ book: UInt64, to place: LinkPosition<Book>, in list: inout [UInt64]) {
    if case .before(let other) = place, other.rawValue == book { return }
    if case .after(let other) = place, other.rawValue == book { return }
    list.removeAll { $0 == book }
    func index(_ other: Book.ID) -> Int { list.firstIndex(of: other.rawValue) ?? 0 }
    switch place {
    case .first: list.insert(book, at: 0)
    case .index(let index): list.insert(book, at: min(index, list.count))
    case .before(let other): list.insert(book, at: index(other))
    case .after(let other): list.insert(book, at: index(other) + 1)
    default: list.append(book)
    }
  }

  private static func denied(
    _ delete: @autoclosure () throws -> Int, _ model: inout Model,
    _ change: (inout Model) throws(Model.Denied) -> Void
  ) throws {
    var changed = model
    do throws(Model.Denied) {
      try change(&changed)
    } catch {
      let error = #expect(throws: StoreError.self) { _ = try delete() }
      #expect(error?.code == .deleteDenied)
      return
    }
    _ = try delete()
    model = changed
  }

  private static func expectSame(
    _ snapshot: borrowing Snapshot, _ model: Model, _ numbers: inout SeededNumbers
  ) throws {
    let authors = try snapshot.fetch(Author.all)
    #expect(authors == model.authors.values.sorted { $0.id < $1.id })
    let books = try snapshot.fetch(Book.all)
    #expect(books == model.books.values.sorted { $0.id < $1.id })
    let shelves = try snapshot.fetch(Shelf.all)
    #expect(shelves == model.shelves.values.sorted { $0.id < $1.id })
    let loans = try snapshot.fetch(Loan.all)
    #expect(loans == model.loans.values.sorted { $0.id < $1.id })
    for shelf in shelves {
      let books = try snapshot.relatedIDs(Shelf.books, of: shelf.id).map(\.rawValue)
      #expect(books == model.shelved[shelf.id.rawValue] ?? [])
    }
    let first = try snapshot.related(Shelf.books, of: shelves.map(\.id), Book.all.limit(3))
    for shelf in shelves.shuffled(using: &numbers).prefix(5) {
      let books = (model.shelved[shelf.id.rawValue] ?? []).compactMap { model.books[$0] }
      #expect(first[shelf.id] == Array(books.prefix(3)))
      let long = Book.where { $0.pages >= 100 }.limit(4).offset(1)
      let found = try snapshot.related(Shelf.books, of: shelf.id, long)
      #expect(found == Array(books.filter { $0.pages >= 100 }.dropFirst().prefix(4)))
    }
    for book in books.shuffled(using: &numbers).prefix(20) {
      let found = try snapshot.relatedIDs(Book.shelves, of: book.id).map(\.rawValue)
      let expected = model.shelved.filter { $0.value.contains(book.id.rawValue) }.map(\.key)
      #expect(found == expected.sorted())
      let sequels = try snapshot.relatedIDs(Book.sequels, of: book.id).map(\.rawValue)
      let all = model.sequels.filter { $0.from == book.id.rawValue }.map(\.to)
      #expect(sequels == all.sorted())
    }
    for author in authors {
      let count = try snapshot.relatedCount(Author.books, of: author.id)
      #expect(count == model.books.values.count { $0.author == author.id })
      let books = try snapshot.related(Author.books, of: author.id).map(\.id.rawValue)
      #expect(books == model.written[author.id.rawValue] ?? [])
    }
  }

  @Test func `related records agree with the model through random changes`() throws {
    let operations = SeededNumbers.environmentNumber("LODESTORE_RELATED_OPERATIONS") ?? 1_500
    let folder = try TemporaryFolder()
    var numbers = SeededNumbers(salt: 1_907)
    var model = Model()
    var next = 0
    var store = try Store(at: folder.storePath, entities: Library.entities)
    var done = 0
    while done < operations {
      let count = numbers.below(12) + 1
      var changed = model
      let before = numbers
      let isKept = !numbers.oneIn(8)
      let seed = numbers
      do {
        try store.write { tx throws in
          // The closure may run again, so it starts from the saved numbers and the saved model.
          numbers = seed
          changed = model
          for _ in 0..<count { try Self.change(&tx, &changed, &numbers, &next) }
          if !isKept { throw CancellationError() }
        }
        model = changed
      } catch is CancellationError {}
      _ = before
      done += count
      if numbers.oneIn(10) {
        try expectSound(store)
        try store.read { snapshot throws in try Self.expectSame(snapshot, model, &numbers) }
      }
      if numbers.oneIn(60) {
        store.close()
        try expectSound(folder.storePath)
        store = try Store(at: folder.storePath, entities: Library.entities)
      }
    }
    try store.read { snapshot throws in try Self.expectSame(snapshot, model, &numbers) }
    store.close()
    try expectSound(folder.storePath)
  }
}

import Foundation
import Testing

@testable import EntityStore

/// A consumer that follows the history of a store that changes at random.
@Suite struct `A consumer of the history` {
  private struct Mirror: Equatable {
    var authors: [UInt64: Author] = [:]
    var books: [UInt64: Book] = [:]
    var shelves: [UInt64: Shelf] = [:]
    var links: Set<[UInt64]> = []
    /// The derived attributes, which the equality of values ignores.
    var derived: [String: [Int]] = [:]

    init() {}

    private mutating func note(_ author: Author?, _ id: Author.ID) {
      authors[id.rawValue] = author
      derived["author \(id)"] = author.map { [$0.bookCount, $0.pageTotal, $0.longest ?? -1] }
    }

    private mutating func note(_ book: Book?, _ id: Book.ID) {
      books[id.rawValue] = book
      derived["book \(id)"] = book.map { [$0.shelfCount, $0.authorName?.count ?? -1] }
    }

    init(_ snapshot: borrowing Snapshot) throws {
      for author in try snapshot.fetch(Author.all) { note(author, author.id) }
      for book in try snapshot.fetch(Book.all) { note(book, book.id) }
      for shelf in try snapshot.fetch(Shelf.all) {
        shelves[shelf.id.rawValue] = shelf
        for book in try snapshot.related(Shelf.books, of: shelf.id) {
          links.insert([shelf.id.rawValue, book.id.rawValue])
        }
      }
    }

    /// Reads again the records that the history names, and no others.
    mutating func apply(_ told: HistoryWrite, _ snapshot: borrowing Snapshot) throws {
      for change in told.changes {
        if let id = change.id(of: Author.self) { note(try snapshot.fetch(id), id) }
        if let id = change.id(of: Book.self) { note(try snapshot.fetch(id), id) }
        if let id = change.id(of: Shelf.self) { shelves[id.rawValue] = try snapshot.fetch(id) }
      }
      for group in told.links where group.relationship == "books" && group.entity == "Shelf" {
        for link in group.links {
          switch group.kind {
          case .added: links.insert([link.recordID, link.targetID])
          case .removed: links.remove([link.recordID, link.targetID])
          default: #expect(links.contains([link.recordID, link.targetID]), "a moved link stays")
          }
        }
      }
    }
  }

  private static func step(
    _ tx: inout WriteTransaction, _ numbers: inout SeededNumbers
  ) throws {
    let authors = try tx.ids(Author.all)
    let books = try tx.ids(Book.all)
    let shelves = try tx.ids(Shelf.all)
    switch Int.random(in: 0..<12, using: &numbers) {
    case 0: try tx.insert(Author(name: "a\(UInt32.random(in: 0 ... .max, using: &numbers))"))
    case 1, 2:
      try tx.insert(
        (0..<Int.random(in: 1...5, using: &numbers)).map {
          Book(title: "b\($0)", pages: $0, author: authors.randomElement(using: &numbers))
        })
    case 3: try tx.insert(Shelf(name: "s\(UInt32.random(in: 0 ... .max, using: &numbers))"))
    case 4, 5:
      if let shelf = shelves.randomElement(using: &numbers),
        let book = books.randomElement(using: &numbers)
      {
        try tx.add(book, to: Shelf.books, of: shelf)
      }
    case 6:
      if let shelf = shelves.randomElement(using: &numbers),
        let book = books.randomElement(using: &numbers)
      {
        try tx.remove(book, from: Shelf.books, of: shelf)
      }
    case 7:
      let pages = Int.random(in: 0..<5, using: &numbers)
      try tx.update(Book.where { $0.pages == pages }) { $0.pages.add(1) }
    case 8:
      if let book = books.randomElement(using: &numbers) {
        let author = authors.randomElement(using: &numbers)
        try tx.modify(book) { $0.author = author }
      }
    case 9: if let book = books.randomElement(using: &numbers) { try tx.delete(book) }
    case 10: if let shelf = shelves.randomElement(using: &numbers) { try tx.delete(shelf) }
    default:
      if Bool.random(using: &numbers), let author = authors.randomElement(using: &numbers) {
        try tx.delete(author)
      }
    }
  }

  @Test(arguments: 0..<4)
  func `a consumer has the content of the store, and each undo restores the former`(run: Int) throws
  {
    var numbers = SeededNumbers(salt: 2_000 + UInt64(run))
    try withTemporaryStore(Library.entities, options: .history(.images)) { store in
      var mirror = Mirror()
      var token: HistoryToken?
      for round in 0..<60 {
        let before = try store.read { try Mirror($0) }
        let start = try store.historyToken()
        let size = Int.random(in: 1...4, using: &numbers)
        try store.write { tx in
          for _ in 0..<size { try Self.step(&tx, &numbers) }
        }
        if round % 3 == 0, let last = try store.history(.after(start)).last {
          let after = try store.read { try Mirror($0) }
          try store.write { _ = try $0.undo(last.token) }
          let undone = try store.read { try Mirror($0) }
          #expect(undone == before)
          let undo = try store.historyToken()
          try store.write { _ = try $0.undo(undo) }
          #expect(try store.read { try Mirror($0) } == after)
        }
        guard round % 5 == 4 else { continue }
        try store.read { snapshot throws in
          for told in try snapshot.history(.after(token)) {
            try mirror.apply(told, snapshot)
            token = told.token
          }
          #expect(try Mirror(snapshot) == mirror)
        }
      }
      try expectSound(store)
    }
  }
}

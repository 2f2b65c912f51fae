import EntityStore
import Foundation
import Testing

@Suite struct `Delete rules` {
  @Test func `delete rules cascade to the linked records, and further`() throws {
    try withTemporaryStore(Library.entities) { store in
      try store.write { tx throws in
        let author = try tx.insert(Author(name: "A"))
        let other = try tx.insert(Author(name: "B", teacher: author.id))
        let books = try tx.insert((1...3).map { Book(title: "\($0)", author: author.id) }).ids
        let kept = try tx.insert(Book(title: "kept", author: other.id))
        let shelf = try tx.insert(Shelf(name: "S"))
        try tx.add(books + [kept.id], to: Shelf.books, of: shelf.id)
        #expect(try tx.delete(author))
        #expect(try tx.fetch(Book.all) == [kept])
        #expect(try tx.relatedIDs(Shelf.books, of: shelf.id) == [kept.id])
        #expect(try tx.fetch(other.id)?.teacher == nil)
      }
    }
  }

  @Test func `delete rules deny a delete before anything is written, naming both records`() throws {
    try withTemporaryStore(Library.entities) { store in
      try store.write { tx throws in
        let author = try tx.insert(Author(name: "A"))
        let books = try tx.insert((1...3).map { Book(title: "\($0)", author: author.id) }).ids
        let loan = try tx.insert(Loan(reader: "me", book: books[1]))
        for delete in Self.deletes(of: author, books[1]) {
          let error = #expect(throws: StoreError.self) { try delete(&tx) }
          #expect(error?.code == .deleteDenied)
          #expect(error?.message.contains("Book 2") == true, "\(error?.message ?? "")")
          #expect(error?.message.contains("Loan 1") == true, "\(error?.message ?? "")")
        }
        #expect(try tx.count(Book.all) == 3)
        #expect(try tx.count(Author.all) == 1)
        #expect(try tx.delete(loan))
        #expect(try tx.delete(author))
        #expect(try tx.count(Book.all) == 0)
      }
    }
  }

  private static func deletes(
    of author: Author, _ book: Book.ID
  ) -> [(inout WriteTransaction) throws -> Void] {
    [
      { try $0.delete(author) }, { try $0.delete(author.id) }, { try $0.delete([author.id]) },
      { try $0.delete(Author.all) }, { try $0.delete(Author.where { $0.name == "A" }) },
      { _ = try $0.deleteReturning(Author.all) }, { try $0.delete(book) },
      { try $0.delete(Book.all) }, { try $0.delete(Book.where { $0.title == "2" }) },
    ]
  }

  @Test func `delete rules that deny precede a cascade to one record, but not the call`() throws {
    try withTemporaryStore(Reader.entities) { store in
      try store.write { tx throws in
        let reader = try tx.insert(Reader(name: "r")).id
        let lent = try tx.insert([Lent(reader: reader), Lent(reader: reader)]).ids
        try tx.add(lent[0], to: Reader.open, of: reader)
        let error = #expect(throws: StoreError.self) { try tx.delete(reader) }
        #expect(error?.code == .deleteDenied)
        #expect(error?.message.contains("Lent 1") == true, "\(error?.message ?? "")")
        #expect(try tx.count(Lent.all) == 2)
        try tx.remove(lent[0], from: Reader.open, of: reader)
        #expect(try tx.delete(reader))
        #expect(try tx.count(Lent.all) == 0)
        // A record does not prevent the delete of another record if the same call deletes both.
        let chain = try tx.insert((0..<3).map { _ in Lent(reader: nil) }).ids
        try tx.link(zip(chain, chain.dropFirst()), by: Lent.before)
        #expect(throws: StoreError.self) { try tx.delete(chain[0]) }
        #expect(try tx.delete(Lent.all) == 3)
      }
    }
  }

  @Test func `delete rules follow circles`() throws {
    try withTemporaryStore(Ring.entities) { store in
      try store.write { tx throws in
        let rings = try tx.insert((0..<1_000).map { _ in Ring() }).ids
        for (position, ring) in rings.enumerated() {
          try tx.modify(ring) { $0.next = rings[(position + 1) % rings.count] }
        }
        let other = try tx.insert(Ring())
        #expect(try tx.delete(rings[500]))
        #expect(try tx.fetch(Ring.all) == [other])
      }
    }
  }

  @Test func `delete rules without an action leave dangling ids to the program`() throws {
    try withTemporaryStore(Part.entities) { store in
      let (whole, part) = try store.write { tx throws in
        let whole = try tx.insert(Whole(name: "w"))
        return (whole, try tx.insert(Part(whole: whole.id)))
      }
      let error = #expect(throws: StoreError.self) { try store.delete(whole) }
      #expect(error?.code == .missingTarget)
      #expect(error?.message.contains("Part 1") == true, "\(error?.message ?? "")")
      #expect(try store.count(Whole.all) == 1)
      try store.write { tx throws in
        try tx.delete(whole)
        try tx.modify(part.id) { $0.whole = nil }
      }
      #expect(try store.count(Whole.all) == 0)
    }
  }

  @Test func `delete rules refuse to make a required attribute null`() throws {
    let error = #expect(throws: StoreError.self) {
      _ = try Store.inMemory(entities: [Strict.self, StrictPart.self])
    }
    #expect(error?.code == .badSchema)
    #expect(error?.message.contains("StrictPart.whole") == true, "\(error?.message ?? "")")
    #expect(error?.message.contains("Strict.parts") == true)
  }

  @Test func `delete rules without an inverse make null, or deny if null is not allowed`() throws {
    try withTemporaryStore(Lone.entities) { store in
      try store.write { tx throws in
        let a = try tx.insert(Whole(name: "a"))
        let b = try tx.insert(Whole(name: "b"))
        let lone = try tx.insert(Lone(optional: a.id, required: b.id))
        #expect(try tx.delete(a))
        #expect(try tx.fetch(lone.id)?.optional == nil)
        let error = #expect(throws: StoreError.self) { try tx.delete(b) }
        #expect(error?.code == .deleteDenied)
        #expect(error?.message.contains("'required'") == true, "\(error?.message ?? "")")
        #expect(try tx.delete(lone))
        #expect(try tx.delete(b))
      }
    }
  }

  @Test func `a delete counts the requested records, not those that rules remove`() throws {
    try withTemporaryStore(Library.entities) { store in
      try store.write { tx throws in
        let authors = try tx.insert((0..<4).map { Author(name: "\($0)") }).ids
        try tx.insert((0..<40).map { Book(title: "\($0)", author: authors[$0 % 4]) })
        #expect(try tx.delete(Author.where { $0.name < "2" }) == 2)
        #expect(try tx.count(Book.all) == 20)
        let gone = try tx.deleteReturning(Author.all.sorted(by: \.name.descending))
        #expect(gone.map(\.name) == ["3", "2"])
        #expect(try tx.count(Book.all) == 0)
      }
    }
  }
}

import EntityStore
import Testing

/// Undo of writes whose changes the history records only in part.
@Suite struct `Undoing a part of a write` {
  @Test func `a partial undo is refused unless requested, and reports the remaining changes`()
    throws
  {
    try withTemporaryStore([Clause.self, Player.self]) { store in
      let clause = try store.insert(Clause(name: "c", text: "old")).id
      let player = try store.insert(Player(name: "p")).id
      try store.write { tx in
        try tx.modify(clause) { $0.text = "new" }
        try tx.modify(player) { $0.score = 5 }
      }
      let told = try #require(try store.history().last)
      #expect(told.unrecordedEntities == ["Player"])
      let error = try storeError(.cannotUndo) { try store.write { try $0.undo(told.token) } }
      #expect(error.message.contains("the write also changed Player"), "\(error)")
      #expect(try store.fetch(clause)?.text == "new")
      let (undone, token) = try store.write { tx in
        (try tx.undoPartly(told.token), try #require(try tx.ownHistoryToken()))
      }
      #expect(undone.recordCount == 1 && undone.stayingEntities == ["Player"])
      #expect(try store.fetch(clause)?.text == "old")
      #expect(try store.fetch(player)?.score == 5)
      // An undo of the partial undo restores the text, because the partial undo changed only
      // recorded entities.
      #expect(try store.write { try $0.undo(token) } == 1)
      #expect(try store.fetch(clause)?.text == "new")
      // A write without unrecorded changes is undone as a whole.
      try store.modify(clause) { $0.weight = 1 }
      let whole = try #require(try store.history().last)
      #expect(whole.unrecordedEntities.isEmpty)
      let part = try store.write { try $0.undoPartly(whole.token) }
      #expect(part.recordCount == 1 && part.stayingEntities.isEmpty)
    }
  }

  @Test func `a partial undo counts links, and does not count derived attributes`() throws {
    try withTemporaryStore([Squad.self, SquadPlayer.self]) { store in
      let squad = try store.insert(Squad(name: "A")).id
      let player = try store.insert(SquadPlayer(name: "p")).id
      try store.modify(player) { $0.squad = squad }
      let joined = try #require(try store.history().last)
      #expect(try store.fetch(squad)?.size == 1)
      #expect(joined.unrecordedEntities.isEmpty)
      #expect(try store.write { try $0.undo(joined.token) } == 1)
      #expect(try store.fetch(squad)?.size == 0)
    }
    // Links between two entities without a history.
    try withTemporaryStore(Library.entities + [Clause.self]) { store in
      let shelf = try store.insert(Shelf(name: "S")).id
      let book = try store.insert(Book(title: "b")).id
      try store.write { tx in
        try tx.insert(Clause(name: "c"))
        try tx.add(book, to: Shelf.books, of: shelf)
      }
      #expect(try store.history().last?.unrecordedEntities == ["Book", "Shelf"])
    }
  }

  @Test func `a partial undo omits a link to a missing record, and a whole undo is refused`() throws
  {
    try withTemporaryStore(Library.entities, options: .history(.images)) { store in
      let shelf = try store.insert(Shelf(name: "S")).id
      let books = Array(try store.insert(["a", "b", "c"].map { Book(title: $0) }).ids)
      try store.add(books, to: Shelf.books, of: shelf)
      try store.write { tx in
        try tx.remove(books[0...1], from: Shelf.books, of: shelf)
        try tx.modify(books[2]) { $0.title = "d" }
      }
      let token = try store.historyToken()
      try store.delete(books[0])
      let error = try storeError(.cannotUndo) { try store.undo(token) }
      #expect(error.message.contains("the write removed a link of this record"), "\(error)")
      let undone = try store.undoPartly(token)
      #expect(undone.recordCount == 1 && undone.stayingEntities == ["Book", "Shelf"])
      #expect(try store.relatedIDs(Shelf.books, of: shelf) == [books[2], books[1]])
      #expect(try store.fetch(books[2])?.title == "c")
      // A part of the write remains, so the history does not mark the partial undo as an undo of
      // it.
      #expect(try store.history().last?.undoes == nil)
    }
  }

  @Test func `a partial undo keeps entities without images whole, and does not count as an undo`()
    throws
  {
    try withTemporaryStore([Clause.self, Player.self], options: .history(.changes)) { store in
      let clause = try store.insert(Clause(name: "c", text: "old")).id
      let player = try store.insert(Player(name: "p")).id
      try store.write { tx in
        try tx.modify(clause) { $0.text = "new" }
        try tx.modify(player) { $0.score = 5 }
        try tx.insert(Player(name: "q"))
      }
      let token = try store.historyToken()
      let error = try storeError(.cannotUndo) { try store.write { try $0.undo(token) } }
      #expect(error.message.contains("the history has no image of Player"))
      let undone = try store.write { try $0.undoPartly(token) }
      #expect(undone.recordCount == 1 && undone.stayingEntities == ["Player"])
      #expect(try store.fetch(clause)?.text == "old")
      #expect(try store.fetch(Player.all).map(\.score) == [5, 0])
      #expect(try store.history().last?.undoes == nil)
    }
  }

  @Test func `a refused batch is no change of the write`() throws {
    try withTemporaryStore([Clause.self, SquadPlayer.self, Squad.self]) { store in
      let twins = [Squad(name: "A"), Squad(name: "A")]
      let clause = try store.insert(Clause(name: "c", text: "old")).id
      try store.write { tx in
        _ = try storeError(.uniqueViolation) { try tx.insert(twins) }
        try tx.modify(clause) { $0.text = "new" }
      }
      let told = try #require(try store.history().last)
      #expect(told.unrecordedEntities.isEmpty)
      try store.write { tx in
        _ = try storeError(.uniqueViolation) { try tx.insert(twins) }
        #expect(try tx.undo(told.token) == 1)
      }
      #expect(try store.fetch(clause)?.text == "old")
      // A change before the refused batch counts.
      try store.write { tx in
        try tx.insert(Squad(name: "B"))
        _ = try storeError(.uniqueViolation) { try tx.insert(twins) }
        let error = try storeError(.cannotUndo) { try tx.undo(told.token) }
        #expect(error.message.contains("has changed records already"), "\(error)")
        try tx.modify(clause) { $0.text = "newer" }
      }
      #expect(try store.history().last?.unrecordedEntities == ["Squad"])
    }
  }
}

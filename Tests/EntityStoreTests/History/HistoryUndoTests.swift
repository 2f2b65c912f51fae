import Foundation
import Testing

@testable import EntityStore

private struct Remark: Entity {
  var id = RecordID<Remark>()
  var text: String?

  static let schema = EntitySchema<Remark>(
    "Remark", attributes: [.init("text", \.text)], history: .kept(images: true))

  func encode(into writer: inout RecordWriter) { writer.write(text) }
}

extension Remark {
  init(from reader: inout RecordReader) throws(StoreError) { text = try reader.read() }
}

private struct WholeRemark: Entity {
  var id = RecordID<WholeRemark>()
  var text: String

  static let schema = EntitySchema<WholeRemark>(
    "Remark", attributes: [.init("text", \.text)], history: .kept(images: true))

  func encode(into writer: inout RecordWriter) { writer.write(text) }
}

extension WholeRemark {
  init(from reader: inout RecordReader) throws(StoreError) { text = try reader.read() }
}

/// An undo takes back an earlier write, and is itself a write.
@Suite struct `Undoing a write` {
  @Test func `an undo is refused if an image lacks a value that is required since then`() throws {
    try withTemporaryPath { path throws in
      let old = try Store(at: path, entities: [Remark.self])
      let ids = try old.insert([Remark(), Remark(), Remark(text: "c")]).ids
      try old.modify(ids[0]) { $0.text = "a" }
      let change = try old.historyToken()
      try old.delete(ids[1])
      let removal = try old.historyToken()
      try old.modify(ids[2]) { $0.text = "d" }
      let sound = try old.historyToken()
      old.close()
      let store = try Store(at: path, entities: [WholeRemark.self])
      defer { store.close() }
      for (token, id) in [(change, 1), (removal, 2)] as [(HistoryToken, UInt64)] {
        let error = try storeError(.cannotUndo) { try store.write { _ = try $0.undo(token) } }
        #expect(error.message.contains("'text'") && error.recordID == id, "\(error.message)")
        let history = try store.history(.write(token))
        let changes = history.flatMap { Array($0.changes) }
        let unread = try storeError(.undecodableValue) {
          try store.read { snapshot in
            for change in changes { _ = try snapshot.value(before: change, as: WholeRemark.self) }
          }
        }
        #expect(unread.attribute == "text")
      }
      #expect(try store.write { try $0.undo(sound) } == 1)
      #expect(try store.fetch(WholeRemark.all).map(\.text) == ["a", "c"])
    }
  }

  @Test func `an undo takes back inserts, updates and deletes`() throws {
    try withTemporaryStore([Clause.self]) { store in
      let ids = try store.insert([Clause(name: "a"), Clause(name: "b", text: "old", weight: 2)]).ids
      let before = try store.fetch(Clause.all)
      try store.write { tx in
        try tx.modify(ids[1]) {
          $0.text = "new"
          $0.name = "a2"
        }
        try tx.delete(ids[0])
        try tx.insert(Clause(name: "a"))
      }
      let write = try store.historyToken()
      try store.modify(ids[1]) { $0.weight = 5 }
      #expect(try store.write { try $0.undo(write) } == 3)
      var expected = before
      expected[1].weight = 5
      #expect(try store.fetch(Clause.all) == expected)
      // An undo is an ordinary write, so it can be undone too.
      let undo = try store.historyToken()
      #expect(try store.write { try $0.undo(undo) } == 3)
      let names = Set(try store.fetch(Clause.all).map(\.name))
      #expect(names == ["a2", "a"])
    }
  }

  /// Several writes of one record are undone from the last to the first, as in an editor, and then
  /// redone.
  @Test func `an undo does not block the undo of an earlier write, nor does its own write`() throws
  {
    try withTemporaryStore([Clause.self]) { store in
      let id = try store.insert(Clause(name: "a", text: "0")).id
      func text() throws -> String? { try store.fetch(id)?.text }
      let writes = try (1...3).map { number in
        try store.write { tx in
          try tx.modify(id) { $0.text = "\(number)" }
          return try #require(try tx.ownHistoryToken())
        }
      }
      func undo(_ token: HistoryToken) throws -> HistoryToken {
        try store.write { tx in
          let count = try tx.undo(token)
          #expect(count == 1)
          return try #require(try tx.ownHistoryToken())
        }
      }
      var undos: [HistoryToken] = []
      for (write, left) in zip(writes.reversed(), ["2", "1", "0"]) {
        undos.append(try undo(write))
        #expect(try text() == left)
      }
      #expect(try store.history(.all).map(\.undoes) == [nil, nil, nil, nil] + writes.reversed())
      var redos: [HistoryToken] = []
      for (undone, left) in zip(undos.reversed(), ["1", "2", "3"]) {
        redos.append(try undo(undone))
        #expect(try text() == left)
      }
      // The last redo can be undone and redone once more.
      #expect(try undo(redos[2]).number > redos[2].number)
      #expect(try text() == "2")
      _ = try storeError(.cannotUndo) { try store.write { try $0.undo(writes[2]) } }
    }
  }

  @Test func `an undo with more in its write counts as an ordinary later change`() throws {
    try withTemporaryStore([Clause.self]) { store in
      let id = try store.insert(Clause(name: "a", text: "0")).id
      try store.modify(id) { $0.text = "1" }
      let first = try store.historyToken()
      try store.modify(id) { $0.text = "2" }
      let second = try store.historyToken()
      try store.write { tx in
        try tx.undo(second)
        try tx.modify(id) { $0.text = "3" }
      }
      #expect(try store.history(.after(second)).first?.undoes == nil)
      let error = try storeError(.cannotUndo) { try store.write { try $0.undo(first) } }
      #expect(error.message.contains("was changed again by write 3"), "\(error)")
    }
  }

  @Test func `an undo swaps unique keys back`() throws {
    try withTemporaryStore([Clause.self]) { store in
      let ids = try store.insert([Clause(name: "a"), Clause(name: "b")]).ids
      try store.write { tx in
        try tx.modify(ids[0]) { $0.name = "c" }
        try tx.modify(ids[1]) { $0.name = "a" }
        try tx.modify(ids[0]) { $0.name = "b" }
      }
      let write = try store.historyToken()
      try store.write { _ = try $0.undo(write) }
      #expect(try store.fetch(Clause.all).map(\.name) == ["a", "b"])
    }
  }

  @Test func `an undo takes back a unique key that a new record has taken`() throws {
    try withTemporaryStore([Clause.self]) { store in
      let id = try store.insert(Clause(name: "a")).id
      try store.write { tx in
        try tx.modify(id) { $0.name = "b" }
        try tx.insert(Clause(name: "a"))
      }
      let write = try store.historyToken()
      #expect(try store.write { try $0.undo(write) } == 2)
      #expect(try store.fetch(Clause.all).map(\.name) == ["a"])
    }
  }

  /// The write also changed another attribute of one of the records, so the two records need
  /// different changes.
  @Test func `an undo swaps unique keys back of records with different changes`() throws {
    try withTemporaryStore([Clause.self]) { store in
      let ids = try store.insert([Clause(name: "a"), Clause(name: "b")]).ids
      try store.write { tx in
        try tx.modify(ids[0]) { $0.name = "c" }
        try tx.modify(ids[1]) {
          $0.name = "a"
          $0.text = "other"
        }
        try tx.modify(ids[0]) { $0.name = "b" }
      }
      let write = try store.historyToken()
      #expect(try store.write { try $0.undo(write) } == 2)
      #expect(try store.fetch(Clause.all).map(\.name) == ["a", "b"])
    }
  }

  @Test func `an undo is refused, with the reason, if later changes block it`() throws {
    try withTemporaryStore([Clause.self]) { store in
      let clause = try store.insert(Clause(name: "a"))
      let insert = try store.historyToken()
      try store.modify(clause.id) { $0.text = "x" }
      let update = try store.historyToken()
      let first = try storeError(.cannotUndo) { try store.write { try $0.undo(insert) } }
      #expect(first.message.contains("Clause \(clause.id) was changed again by write 2"))
      #expect(first.recordID == clause.id.rawValue)
      try store.modify(clause.id) { $0.text = "y" }
      _ = try storeError(.cannotUndo) { try store.write { try $0.undo(update) } }
      try store.delete(clause.id)
      let delete = try store.historyToken()
      try store.insert(Clause(name: "a"))
      _ = try storeError(.uniqueViolation) { try store.write { try $0.undo(delete) } }
      #expect(try store.count(Clause.all) == 1)
      let late = try storeError(.cannotUndo) {
        try store.write { tx in
          try tx.insert(Clause(name: "z"))
          try tx.undo(delete)
        }
      }
      #expect(late.message.contains("in one of its own"))
    }
  }

  @Test func `an undo is refused without images, and if a record was linked since then`() throws {
    try withTemporaryStore([Player.self], options: .history(.changes)) { store in
      let player = try store.insert(Player(name: "p", score: 1))
      try store.modify(player.id) { $0.score = 2 }
      let token = try store.historyToken()
      let error = try storeError(.cannotUndo) { try store.write { try $0.undo(token) } }
      #expect(error.message.contains("the history has no image of Player \(player.id)"))
    }
    try withTemporaryStore(Library.entities, options: .history(.images)) { store in
      let author = try store.insert(Author(name: "a"))
      let token = try store.historyToken()
      let book = try store.insert(Book(title: "b", author: author.id))
      let error = try storeError(.cannotUndo) { try store.write { try $0.undo(token) } }
      #expect(
        error.message.contains("was changed again") || error.message.contains("is now linked"))
      try store.delete(book.id)
    }
  }

  @Test func `an undo is refused if the history lacks later changes`() throws {
    let folder = try TemporaryFolder()
    func withStore<R>(_ history: StoreOptions.History, _ body: (Store) throws -> R) throws -> R {
      let store = try Store(
        at: folder.storePath, entities: [Player.self], options: .history(history))
      defer { store.close() }
      return try body(store)
    }
    let (updated, deleted) = try withStore(.images) { store in
      let (a, b) = try store.write { tx in
        (try tx.insert(Player(name: "a")).id, try tx.insert(Player(name: "b")).id)
      }
      try store.write { try $0.modify(a) { $0.score = 1 } }
      try store.write { try $0.delete(b) }
      let told = try store.history()
      return (told[1].token, told[2].token)
    }
    try withStore(.off) { store in
      for token in [updated, deleted] {
        let error = try storeError(.cannotUndo) { try store.write { try $0.undo(token) } }
        #expect(error.message.contains("no longer keeps a history"))
      }
      try store.write { tx in _ = try tx.update(Player.all) { $0.score = 7 } }
    }
    try withStore(.images) { store in
      for token in [updated, deleted] {
        let error = try storeError(.cannotUndo) { try store.write { try $0.undo(token) } }
        #expect(error.message.contains("began again"))
      }
      #expect(try store.fetch(Player.all).map(\.score) == [7])
    }
    try expectSound(folder.storePath)
  }
}

import Foundation
import Testing

@testable import EntityStore

extension StoreOptions {
  /// Options with this history.
  static func history(_ history: History) -> StoreOptions {
    var options = StoreOptions()
    options.history = history
    return options
  }
}

/// The writes that the history reports, and those that it leaves out.
@Suite struct `The history` {
  @Test func `the history lists the records of each write, their changes and the author`() throws {
    try withTemporaryStore([Clause.self]) { store in
      let start = Date()
      let begin = try store.historyToken()
      #expect(begin.number == 0)
      let ids = try store.write(author: "app", contextName: "editor") { tx in
        try tx.insert([Clause(name: "a"), Clause(name: "b"), Clause(name: "c")]).ids
      }
      try store.write { tx in
        try tx.modify(ids[1]) { $0.text = "B" }
        try tx.update(Clause.where { $0.name == "c" }) { $0.weight = 3 }
        try tx.delete(ids[0])
        try tx.insert(Clause(name: "gone"))
        try tx.delete(Clause.where { $0.name == "gone" })
      }
      let told = try store.history()
      #expect(told.map(\.id) == [1, 2])
      #expect(told[0].author == "app" && told[0].contextName == "editor")
      #expect(told[0].process == Int(ProcessInfo.processInfo.processIdentifier))
      #expect(told[0].time >= start.addingTimeInterval(-1) && told[0].time <= Date())
      #expect(Array(told[0].changes).map(\.kind) == [.inserted, .inserted, .inserted])
      #expect(Array(told[0].changes).map { $0.id(of: Clause.self) } == Array(ids))
      let second = Array(told[1].changes)
      #expect(told[1].author == nil)
      #expect(second.map(\.kind) == [.updated, .updated, .deleted])
      #expect(second.map(\.recordID) == [ids[1], ids[2], ids[0]].map(\.rawValue))
      #expect(second.map(\.attributes) == [["text"], ["weight"], []])
      #expect(told[1].changes.count(of: .updated) == 2 && told[1].changes.count == 3)
      #expect(try store.history(.after(told[0].token)).map(\.id) == [2])
      #expect(try store.history(.after(begin)).count == 2)
      #expect(try store.historyToken() == told[1].token)
    }
  }

  @Test func `the history omits writes that failed, changed nothing or were undone`() throws {
    try withTemporaryStore([Clause.self]) { store in
      try store.insert(Clause(name: "a"))
      struct Stop: Error {}
      #expect(throws: Stop.self) {
        try store.write { tx throws in
          try tx.insert(Clause(name: "b"))
          throw Stop()
        }
      }
      _ = try storeError(.uniqueViolation) { try store.insert(Clause(name: "a")) }
      try store.write { tx in
        try tx.insert(Clause(name: "c"))
        try tx.delete(Clause.where { $0.name == "c" })
      }
      #expect(try store.update(Clause.where { $0.name == "a" }) { $0.text = "" } == 0)
      _ = try? store.write { tx throws in
        try tx.savepoint { inner throws in
          try inner.insert(Clause(name: "d"))
          throw Stop()
        }
      }
      #expect(try store.history().map(\.id) == [1])
    }
  }

  @Test func `the history stores preserved values of deleted records, and earlier records`() throws
  {
    try withTemporaryStore([Clause.self]) { store in
      let clause = try store.insert(Clause(name: "a", text: "one", weight: 7))
      try store.modify(clause.id) { $0.text = "two" }
      try store.modify(clause.id) {
        $0.text = "three"
        $0.weight = nil
      }
      try store.delete(clause.id)
      try store.read { snapshot throws in
        let changes = try snapshot.history(.all).flatMap { Array($0.changes) }
        #expect(changes.map(\.kind) == [.inserted, .updated, .updated, .deleted])
        func text(_ value: Clause?) -> String? { value?.text }
        var before: [String?] = []
        var after: [String?] = []
        for change in changes {
          before.append(try snapshot.value(before: change, as: Clause.self)?.text)
          after.append(try snapshot.value(after: change, as: Clause.self)?.text)
        }
        #expect(before == [nil, "one", "two", "three"])
        #expect(after == ["one", "two", "three", nil])
        #expect(try snapshot.preserved(\Clause.Attributes.name, of: changes[3]) == "a")
        #expect(try snapshot.preserved(\Clause.Attributes.weight, of: changes[3]) == .some(nil))
        #expect(try snapshot.preserved(\Clause.Attributes.text, of: changes[3]) == nil)
        #expect(try snapshot.preserved(\Clause.Attributes.name, of: changes[1]) == nil)
      }
    }
  }

  @Test func `the history stores preserved values of records that a rule deletes`()
    throws
  {
    try withTemporaryStore([Chapter.self, Clause.self]) { store in
      let (chapters, ids) = try store.write { tx throws in
        let chapters = try tx.insert([Chapter(), Chapter()]).ids
        let clauses = (0..<5).map { (number: Int) in Clause(name: "c\(number)", weight: number) }
        let ids = Array(try tx.insert(clauses).ids)
        try tx.add(Array(ids[..<2]), to: Chapter.clauses, of: chapters[0])
        try tx.add(Array(ids[2...]), to: Chapter.clauses, of: chapters[1])
        return (Array(chapters), ids)
      }
      for (chapter, gone) in zip(chapters, [0..<2, 2..<5]) {
        let token = try store.historyToken()
        #expect(try store.delete(chapter))
        try store.read { snapshot throws in
          let changes = try snapshot.history(.after(token)).flatMap { Array($0.changes) }
          #expect(changes.map(\.kind) == gone.map { _ in .deleted })
          #expect(changes.map(\.recordID) == ids[gone].map(\.rawValue))
          for (change, number) in zip(changes, gone) {
            let name = try snapshot.preserved(\Clause.Attributes.name, of: change)
            #expect(name == "c\(number)")
            #expect(try snapshot.value(before: change, as: Clause.self)?.weight == number)
          }
        }
      }
      #expect(try store.count(Clause.all) == 0)
    }
  }

  @Test func `the history is filtered by author, entity, kind, attribute, time and condition`()
    throws
  {
    try withTemporaryStore([Clause.self, Player.self], options: .history(.changes)) { store in
      let ids = try store.write(author: "a") { tx in
        try tx.insert([Player(name: "p", score: 1)])
        return try tx.insert([Clause(name: "x", weight: 1), Clause(name: "y", weight: 9)]).ids
      }
      try store.write(author: "b") { tx in
        try tx.update(Clause.all) { $0.weight.add(1) }
      }
      let middle = Date()
      try store.write { tx in
        try tx.modify(ids[0]) { $0.text = "t" }
        try tx.delete(ids[1])
      }
      func numbers(_ query: HistoryQuery) throws -> [UInt64] { try store.history(query).map(\.id) }
      #expect(try numbers(.all.by(authors: "a", "b")) == [1, 2])
      #expect(try numbers(.all.excluding(authors: "a")) == [2, 3])
      #expect(try numbers(.all.of(Player.self)) == [1])
      #expect(try numbers(.all.of(entitiesNamed: "Clause").only(.updated)) == [2, 3])
      #expect(try numbers(.all.changing(\Clause.Attributes.text).only(.updated)) == [3])
      #expect(
        try numbers(.all.changing(\Clause.Attributes.weight, \Clause.Attributes.text)) == [1, 2, 3])
      #expect(try numbers(.since(middle)) == [3])
      #expect(try numbers(.all.limit(2)) == [1, 2])
      let one = try store.history(.all.limit(1))[0]
      #expect(try numbers(.write(one.token)) == [1])
      let light = try store.history(.all.of(Clause.self).matching(Clause.where { $0.weight < 5 }))
      #expect(
        light.map { $0.changes.map(\.recordID) }
          == [[ids[0]], [ids[0]], [ids[0]]].map { $0.map(\.rawValue) })
      let heavy = try store.history(.all.of(Clause.self).matching(Clause.where { $0.weight > 5 }))
      #expect(heavy.map { $0.changes.map(\.kind) } == [[.inserted], [.updated], [.deleted]])
      #expect(try store.history(.all.withoutChanges()).allSatisfy { $0.changes.isEmpty })
      #expect(try store.history(.all.of(Player.self).withoutChanges()).map(\.id) == [1])
      #expect(try storeError(.invalidQuery) { try numbers(.all.limit(-1)) }.message.contains("-1"))
    }
  }

  @Test func `the history is read backwards from the last write as well`() throws {
    try withTemporaryStore([Clause.self]) { store in
      for number in 1...5 {
        try store.write(author: number % 2 == 0 ? "even" : "odd") { tx in
          try tx.insert(Clause(name: "\(number)"))
        }
      }
      // The history stores a large write in parts. Reading backwards meets the last part first.
      try store.insert((0..<60_000).map { Clause(name: "n\($0)") })
      try store.delete(Clause.where { $0.name.hasSuffix("7") })
      let all = try store.history(.all)
      #expect(all.count == 7)
      let backwards = try store.history(.all.newestFirst())
      #expect(backwards.map(\.token) == all.reversed().map(\.token))
      for (a, b) in zip(all.reversed(), backwards) {
        #expect(a.changes.map(\.recordID) == b.changes.map(\.recordID), "\(a.token)")
      }
      let last = try store.history(.all.by(authors: "even").newestFirst().limit(1))
      #expect(last.map(\.token.number) == [4])
      let some = try store.history(.after(all[1].token).excluding(authors: "odd").newestFirst())
      #expect(some.map(\.token.number) == [7, 6, 4])
      let one = try store.history(.write(all[2].token).newestFirst())
      #expect(one.map(\.token) == [all[2].token])
    }
  }

  @Test func `the history gives a write its own token`() async throws {
    try await withTemporaryStore([Clause.self, Player.self]) { store in
      let tokens = await withThrowingTaskGroup(of: (String, HistoryToken?).self) { group in
        for number in 0..<20 {
          group.addTask {
            try await store.write(author: "\(number)") { tx in
              if number == 7 { throw CancellationError() }
              try tx.insert(Clause(name: "\(number)"))
              return ("\(number)", try tx.ownHistoryToken())
            }
          }
        }
        var tokens: [String: HistoryToken] = [:]
        while let result = await group.nextResult() {
          guard case .success(let (author, token)) = result else { continue }
          tokens[author] = token
        }
        return tokens
      }
      #expect(tokens.count == 19)
      for told in try await store.history(.all) {
        #expect(tokens[try #require(told.author)] == told.token)
      }
      try await store.write { tx in
        var tokens = [try tx.ownHistoryToken()]
        // The entity `Player` has no history, so the write has no token yet.
        try tx.insert(Player(name: "p", score: 1))
        tokens.append(try tx.ownHistoryToken())
        let clause = try tx.insert(Clause(name: "new"))
        try tx.delete(clause.id)
        tokens.append(try tx.ownHistoryToken())
        #expect(tokens == [nil, nil, nil])
      }
      // A token can be used although nothing of its write is left in the history.
      let token = try await store.write { tx in
        let clause = try tx.insert(Clause(name: "new"))
        let token = try tx.ownHistoryToken()
        try tx.delete(clause.id)
        return token
      }
      let last = try #require(try await store.history(.all.newestFirst().limit(1)).first)
      #expect(last.token == token && last.changes.isEmpty)
      #expect(try await store.write { try $0.undo(last.token) } == 0)
    }
  }

  @Test func `the history counts a batch of many records as one range`() throws {
    try withTemporaryStore([Player.self], options: .history(.changes)) { store in
      try store.insert((0..<20_000).map { Player(name: "p\($0)", score: $0) })
      try store.update(Player.all) { $0.score.add(1) }
      try store.delete(Player.where { $0.score > 100 })
      try store.delete(Player.all)
      let told = try store.history()
      #expect(told.map(\.changes.count) == [20_000, 20_000, 19_900, 100])
      #expect(told.map { $0.changes.groups.map(\.ids.ranges.count) } == [[1], [1], [1], [1]])
      #expect(told[1].changes.groups[0].attributes == ["score"])
    }
  }

  @Test func `the history is complete for a write so large that it is stored in parts`() throws {
    try withTemporaryStore([Player.self], options: .history(.changes)) { store in
      let ids = try store.insert((0..<60_000).map { Player(name: "p\($0)", score: $0) }).ids
      let odd = ids.filter { $0.rawValue % 2 == 1 }
      try store.write { tx in for id in odd { try tx.delete(id) } }
      let told = try store.history()
      #expect(told[1].changes.map(\.recordID) == odd.map(\.rawValue))
      #expect(told[1].changes.groups.count > 1)
      try store.purgeHistory(through: told[1].token)
      #expect(try store.history().isEmpty)
    }
  }

  @Test func `the history distinguishes pages of an import, by the name of the import`()
    async throws
  {
    try await withTemporaryStore([Pod.self], options: .history(.changes)) { store in
      _ = try await GeneratedPages.run(GeneratedPages(last: 5), into: store)
      let told = try await store.history()
      #expect(told.count == 5)
      #expect(Set(told.map(\.author)).count == 1 && told[0].author != nil)
      #expect(told.map(\.contextName) == (1...5).map { "page \($0)" })
      let total = try await store.count(Pod.all)
      #expect(told.reduce(0) { $0 + $1.changes.count(of: .inserted) } == total)
      // The record "newest" is on every page. Pages that share a commit write it only once.
      #expect(
        Set(told.flatMap { $0.changes.filter { $0.kind == .updated }.map(\.recordID) }).count <= 1)
    }
  }

  @Test func `the history gives each write of a shared commit its own entry, in order`()
    async throws
  {
    try await withTemporaryStore([Clause.self]) { store in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<64 {
          group.addTask {
            do {
              try await store.write(author: "\(number)") { tx throws in
                try tx.insert(Clause(name: "n\(number)"))
                if number % 8 == 3 { throw CancellationError() }
              }
            } catch is CancellationError {}
          }
        }
        try await group.waitForAll()
      }
      let told = try await store.history()
      #expect(told.count == 56)
      #expect(told.map(\.id) == Array(1...56))
      let names = try await store.read { snapshot throws in
        try told.map { write in
          let change = try #require(Array(write.changes).first)
          return try snapshot.fetch(try #require(change.id(of: Clause.self)))?.name
        }
      }
      #expect(names == told.map { "n" + ($0.author ?? "") })
    }
  }

  @Test func `the history begins with a mark if the records existed before`() throws {
    let folder = try TemporaryFolder()
    var store = try Store(at: folder.storePath, entities: [Player.self])
    try store.insert(Player(name: "old", score: 1))
    #expect(try store.history().isEmpty)
    store.close()
    store = try Store(at: folder.storePath, entities: [Player.self], options: .history(.changes))
    #expect(try store.history().map(\.restartedEntities) == [["Player"]])
    try store.insert(Player(name: "new", score: 1))
    store.close()
    // A program that does not mention the history continues to record it.
    store = try Store(at: folder.storePath, entities: [Player.self])
    try store.insert(Player(name: "newer", score: 1))
    #expect(try store.history().map(\.changes.count) == [0, 1, 1])
    store.close()
    store = try Store(at: folder.storePath, entities: [Player.self], options: .history(.off))
    try store.insert(Player(name: "untold", score: 1))
    #expect(try store.history().count == 3)
    store.close()
    store = try Store(at: folder.storePath, entities: [Player.self], options: .history(.changes))
    #expect(try store.history().last?.restartedEntities == ["Player"])
    store.close()
    try expectSound(folder.storePath)
  }

  @Test func `the history lists moves in an order, and observers hear of them`() async throws {
    try await withTemporaryStore(Library.entities, options: .history(.images)) { store in
      let (shelf, books) = try await store.write { tx in
        let shelf = try tx.insert(Shelf(name: "s")).id
        let books = Array(try tx.insert((0..<3).map { Book(title: "b\($0)") }).ids)
        try tx.add(books, to: Shelf.books, of: shelf)
        return (shelf, books)
      }
      let titles = Turner(
        store.updates { snapshot in try snapshot.related(Shelf.books, of: shelf).map(\.title) })
      #expect(try await within { try await titles.next() } == ["b0", "b1", "b2"])
      try await store.write { tx in
        try tx.move(books[2], in: Shelf.books, of: shelf, to: .first)
        let new = try tx.insert(Book(title: "b3")).id
        try tx.add(new, to: Shelf.books, of: shelf, at: .first)
      }
      #expect(try await within { try await titles.next() } == ["b3", "b2", "b0", "b1"])
      try await store.write { tx in
        try tx.set(Shelf.books, of: shelf, to: [books[0], books[1]])
        try tx.add(books[1], to: Shelf.books, of: shelf, at: .first)
      }
      #expect(try await within { try await titles.next() } == ["b1", "b0"])
      let told = try await store.history()
      let moves = told.map { write in
        write.links.map { "\($0.kind) \($0.links.map(\.targetID))" }
      }
      #expect(
        moves == [
          ["added [1, 2, 3]"], ["added [4]", "moved [3]"], ["removed [3, 4]", "moved [2]"],
        ])
      do {
        try await store.write { _ = try $0.undo(told[1].token) }
        Issue.record("what was moved cannot be taken back")
      } catch let error as StoreError {
        #expect(error.code == .cannotUndo && error.message.contains("Shelf.books"))
      }
    }
  }

  @Test func `the history lists links, and an undo restores them`() throws {
    try withTemporaryStore(Library.entities, options: .history(.images)) { store in
      let (shelf, books) = try store.write { tx in
        let shelf = try tx.insert(Shelf(name: "s")).id
        return (shelf, Array(try tx.insert((0..<4).map { Book(title: "b\($0)") }).ids))
      }
      try store.write { tx in try tx.add(books, to: Shelf.books, of: shelf) }
      let linked = try #require(try store.history().last)
      #expect(linked.links.map(\.relationship) == ["books"])
      #expect(linked.links[0].entity == "Shelf" && linked.links[0].target == "Book")
      #expect(linked.links[0].links.map(\.targetID) == books.map(\.rawValue))
      try store.write { tx in try tx.delete(books[1]) }
      let deleted = try #require(try store.history().last)
      #expect(deleted.links.map(\.kind) == [.removed])
      let error = try storeError(.cannotUndo) { try store.write { try $0.undo(linked.token) } }
      #expect(error.message.contains("changed again by write 3"))
      try store.write { _ = try $0.undo(deleted.token) }
      #expect(try store.fetch(books[1])?.title == "b1")
      let related = try store.read { try $0.related(Shelf.books, of: shelf) }
      #expect(Set(related.map(\.title)) == ["b0", "b1", "b2", "b3"])
      try expectSound(store)
    }
  }
}

/// A chapter without a history, which deletes its clauses with it.
private struct Chapter: Entity {
  var id = RecordID<Chapter>()

  static let clauses = ToMany<Chapter, Clause>(onDelete: .cascade)
  static let schema = EntitySchema<Chapter>(
    "Chapter", attributes: [], relationships: [.init("clauses", clauses)])

  init() {}
  init(from reader: inout RecordReader) throws(StoreError) {}

  func encode(into writer: inout RecordWriter) {}
}

import Foundation
import Observation
import Synchronization
import Testing

@testable import EntityStore

/// Records, counts and whatever a closure reads, as they follow the store.
@Suite struct `Live values` {
  @Test func `a live record is reported when it changes, goes and comes`() async throws {
    try await withTemporaryStore([Clause.self]) { store in
      let clause = try await store.insert(Clause(name: "a"))
      let other = try await store.insert(Clause(name: "b"))
      let values = Turner(store.updates(of: clause.id))
      #expect(try await within { try await values.next() }??.name == "a")
      let waiting = Task { try await values.next() }
      try await store.modify(other.id) { $0.text = "x" }
      try await store.modify(clause.id) { $0.text = "y" }
      #expect(try await waiting.value??.text == "y")
      try await store.delete(clause.id)
      #expect(try await within { try await values.next() } == .some(nil))
      let token = try await store.read { try $0.historyToken() }
      try await store.write { _ = try $0.undo(token) }
      #expect(try await within { try await values.next() }??.text == "y")
    }
  }

  @Test func `a live count is reported when it changes`() async throws {
    try await withTemporaryStore([Player.self]) { store in
      let counts = Turner(store.updates(ofCount: Player.where { $0.score > 3 }))
      #expect(try await within { try await counts.next() } == 0)
      let waiting = Task { try await counts.next() }
      try await store.insert(Player(name: "a", score: 1))
      let b = try await store.insert(Player(name: "b", score: 4))
      #expect(try await waiting.value == 1)
      let next = Task { try await counts.next() }
      try await store.modify(b.id) { $0.score = 9 }
      try await store.update(Player.all) { $0.score = 5 }
      #expect(try await next.value == 2)
    }
  }

  @Test func `a live closure runs again when its records change, links included`() async throws {
    try await withTemporaryStore(Library.entities) { store in
      let (shelf, book) = try await store.write { tx in
        (try tx.insert(Shelf(name: "s")).id, try tx.insert(Book(title: "b")).id)
      }
      let titles = Turner(
        store.updates { snapshot in try snapshot.related(Shelf.books, of: shelf).map(\.title) })
      #expect(try await within { try await titles.next() } == [])
      let waiting = Task { try await titles.next() }
      try await store.insert(Author(name: "nobody reads"))
      try await store.write { tx in _ = try tx.add(book, to: Shelf.books, of: shelf) }
      #expect(try await waiting.value == ["b"])
      try await store.modify(book) { $0.title = "c" }
      #expect(try await within { try await titles.next() } == ["c"])
    }
  }

  @Test func `a write that changes nothing does not run a closure again`() async throws {
    try await withTemporaryStore(Library.entities) { store in
      let runCount = Mutex(0)
      let titles = Turner(
        store.updates { snapshot in
          runCount.withLock { $0 += 1 }
          return try snapshot.fetch(Book.all).map(\.title)
        })
      #expect(try await within { try await titles.next() } == [])
      let waiting = Task { try await titles.next() }
      for round in 0..<5 {
        try await store.write { _ in }
        try await store.insert(Author(name: "\(round)"))
      }
      try await store.insert(Book(title: "b"))
      #expect(try await waiting.value == ["b"])
      // The closure runs first and after the book, and once more if the task began to wait late.
      #expect(runCount.withLock { $0 } <= 3)
    }
  }

  @Test func `a query over relationships and derived attributes is right after each commit`()
    async throws
  {
    try await withTemporaryStore(Library.entities) { store in
      let query = Book.where {
        $0.shelves.any { $0.name == "s" }; $0.shelfCount < 3
      }
      .sorted(by: \.authorName, \.title)
      let updates = Turner(store.updates(of: query))
      #expect(try await within { try await updates.next() }?.items.isEmpty == true)
      var numbers = SeededNumbers(salt: 4_400)
      let shelves = try await store.write { tx in
        Array(try tx.insert(["s", "t", "u", "v"].map { Shelf(name: $0) }).ids)
      }
      let authors = try await store.write { tx in
        Array(try tx.insert(["x", "y"].map { Author(name: $0) }).ids)
      }
      var books: [Book.ID] = []
      var known: [Book] = []
      for round in 0..<120 {
        let shelf = shelves[numbers.below(4)]
        let author = authors[numbers.below(2)]
        let book = books.randomElement(using: &numbers)
        switch numbers.below(books.count < 5 ? 1 : 7) {
        case 0:
          books.append(
            try await store.write { tx in
              let id = try tx.insert(Book(title: "b\(round)", author: author)).id
              try tx.add(id, to: Shelf.books, of: shelf)
              return id
            })
        case 1, 2:
          if let book { try await store.write { _ = try $0.add(book, to: Shelf.books, of: shelf) } }
        case 3:
          if let book {
            try await store.write { _ = try $0.remove(book, from: Shelf.books, of: shelf) }
          }
        case 4: if let book { try await store.modify(book) { $0.author = author } }
        case 5:
          try await store.modify(author) { $0.name = "n\(round)" }
        default:
          let name = ["s", "q"][numbers.below(2)]
          try await store.modify(shelves[0]) { $0.name = name }
        }
        let fresh = try await store.fetch(query)
        while known != fresh || known.map(\.authorName) != fresh.map(\.authorName) {
          let update = try await within { try await updates.next() }
          known = update.map { Array($0.items) } ?? []
        }
      }
    }
  }

  @Test func `a hook sees each write after its commit and before the next write`() async throws {
    try await withTemporaryStore([Player.self]) { store in
      let seen = Mutex<[(CommitNumber, [String], Int)]>([])
      let hook = store.onCommit { write in
        let count = (try? store.count(Player.all)) ?? -1
        seen.withLock {
          $0.append(
            (write.commitNumber, write.changes.map { "\($0.kind) \($0.attributes)" }, count))
        }
      }
      let a = try await store.insert(Player(name: "a"))
      try await store.modify(a.id) { $0.score = 2 }
      _ = try? await store.insert(Player(name: "a"))
      try await store.delete(a.id)
      hook.cancel()
      try await store.insert(Player(name: "b"))
      let told = seen.withLock { $0 }
      #expect(told.map(\.1) == [["inserted []"], ["updated [\"score\"]"], ["deleted []"]])
      #expect(told.map(\.2) == [1, 1, 0])
      #expect(told.map(\.0) == told.map(\.0).sorted())
    }
  }

  @MainActor
  @Test func `a holder for user interfaces has the items and reports its readers`() async throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: [Player.self])
    let live = LiveResults(of: Player.all.sorted(by: \.name), in: store)
    while !live.isLoaded { try await Task.sleep(for: .milliseconds(5)) }
    let isTold = Mutex(false)
    withObservationTracking {
      _ = live.items.count
    } onChange: {
      isTold.withLock { $0 = true }
    }
    try await store.insert(Player(name: "a"))
    while live.items.count == 0 { try await Task.sleep(for: .milliseconds(5)) }
    #expect(isTold.withLock { $0 } && live.difference?.inserted.count == 1)
    live.stop()
    store.close()
    try expectSound(folder.storePath)
  }
}

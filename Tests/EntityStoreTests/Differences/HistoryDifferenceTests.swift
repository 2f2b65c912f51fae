import Foundation
import Testing

@testable import EntityStore

/// The differences in a store since a place of its history.
@Suite struct `Differences since a token` {
  private func all<E: Entity>(_ differences: RecordDifferences<E>) throws -> [RecordDifference<E>] {
    var found: [RecordDifference<E>] = []
    try differences.forEach {
      found.append($0)
      return true
    }
    return found
  }

  private func token(_ store: Store) throws -> HistoryToken {
    try store.read { try $0.historyToken() }
  }

  @Test func `differences since a token report each record once, whatever happened to it`() throws {
    try withTemporaryStore([Film.self], options: .history(.images)) { store in
      let ids = try store.write { tx throws in
        Array(try tx.insert((1...6).map { Film(title: "Film \($0)", episode: $0) }).ids)
      }
      let token = try token(store)
      #expect(try all(store.differences(since: token, of: Film.self)).isEmpty)
      for title in ["x", "y", "Film 1"] { try store.modify(ids[0]) { $0.title = title } }
      for title in ["x", "y"] { try store.modify(ids[1]) { $0.title = title } }
      try store.modify(ids[2]) { $0.code = "c" }
      try store.delete(ids[2])
      let passing = try store.insert(Film(title: "passing", episode: 7)).id
      try store.delete(passing)
      let new = try store.insert(Film(title: "new", episode: 8)).id
      try store.modify(new) { $0.title = "newer" }

      let found = try all(store.differences(since: token, of: Film.self))
      #expect(found.map(\.kind) == [.updated, .deleted, .inserted])
      #expect(found.map(\.id) == [ids[1], ids[2], new])
      #expect(found[0].attributes == ["title"])
      #expect(found[0].old?.title == "Film 2" && found[0].new?.title == "y")
      #expect(found[1].old?.code == nil && found[1].old?.title == "Film 3")
      #expect(found[2].new?.title == "newer" && found[2].old == nil)
    }
  }

  @Test func `differences name attributes without images, and preserved values`() throws {
    try withTemporaryStore([Film.self], options: .history(.changes)) { store in
      let ids = try store.write { tx throws in
        Array(try tx.insert((1...3).map { Film(title: "Film \($0)", episode: $0) }).ids)
      }
      let token = try token(store)
      try store.modify(ids[0]) { $0.title = "x" }
      try store.modify(ids[0]) { $0.code = "x" }
      try store.delete(ids[1])
      let found = try all(store.differences(since: token, of: Film.self))
      #expect(found.map(\.kind) == [.updated, .deleted])
      #expect(found[0].attributes == ["title", "code"] && found[0].old == nil)
      #expect(found[1].old == nil)
      let differences = try store.differences(since: token)
      #expect(differences.uncompared == ["buckets"])
    }
  }

  @Test func `differences are refused for entities without a history, and expired tokens`() throws {
    try withTemporaryStore([Film.self]) { store in
      try store.insert(Film(title: "a", episode: 1))
      let token = try token(store)
      #expect(try store.differences(since: token).uncompared == ["Film", "buckets"])
      _ = try storeError(.invalidQuery) { try store.differences(since: token, of: Film.self) }
    }
    try withTemporaryStore([Film.self], options: .history(.images)) { store in
      let token = try token(store)
      try store.insert(Film(title: "a", episode: 1))
      try store.insert(Film(title: "b", episode: 2))
      let end = try self.token(store)
      _ = try store.write { tx in try tx.purgeHistory(through: end) }
      _ = try storeError(.expiredHistory) { try store.differences(since: token) }
    }
  }

  @Test func `differences have the old values at the token, also within a shared commit`()
    async throws
  {
    try await withTemporaryStore([Film.self], options: .history(.images)) { store in
      let id = try await store.insert(Film(title: "0", episode: 1)).id
      let start = try token(store)
      // The writes are requested together, so they share commits. The history keeps one image of
      // the record for each commit.
      let writes = (1...20).map { number in
        Task { try await store.write { tx in try tx.modify(id) { $0.title = "\(number)" } } }
      }
      for write in writes { _ = try await write.value }
      let last = try #require(try await store.fetch(id)).title
      let tokens = try await store.read { try $0.history(.after(start)) }.map(\.token)
      for token in [start] + tokens {
        let found = try all(store.differences(since: token, of: Film.self))
        guard token != tokens.last else {
          #expect(found.isEmpty)
          continue
        }
        // The old value may be unknown, but it must not be wrong.
        #expect(found.count == 1 && found.first?.new?.title == last)
        if token == start { #expect(found.first?.old?.title == "0") }
        if let old = found.first?.old { #expect(old.title != last) }
      }
    }
  }

  @Test func `differences since a token contain links that came, went and moved`() throws {
    try withTemporaryStore(Library.entities, options: .history(.images)) { store in
      let (shelf, books) = try store.write { tx throws in
        let shelf = try tx.insert(Shelf(name: "S")).id
        let books = try tx.insert((1...4).map { Book(title: "\($0)") }).ids
        try tx.add(Array(books.dropLast()), to: Shelf.books, of: shelf)
        return (shelf, Array(books))
      }
      let token = try token(store)
      try store.write { tx throws in
        try tx.remove([books[0]], from: Shelf.books, of: shelf)
        try tx.add([books[3]], to: Shelf.books, of: shelf)
      }
      try store.write { tx throws in
        try tx.move(books[2], in: Shelf.books, of: shelf, to: .first)
      }
      var links: [String] = []
      try store.differences(since: token).forEach {
        if case .link(let link) = $0 { links.append("\(link.kind) \(link.targetID)") }
        return true
      }
      #expect(links == ["removed 1", "moved 3", "added 4"])
    }
  }

  // MARK: Runs of ids

  @Test func `differences know the first change of each id, as a walk of the writes does`() {
    var numbers = SeededNumbers(salt: 0xd1ff)
    for _ in 0..<300 {
      var firsts: [UInt64: UInt64] = [:]
      var entries: [(ids: Range<UInt64>, image: UInt64)] = []
      for image in 1...UInt64(1 + numbers.below(12)) {
        let start = UInt64(1 + numbers.below(40))
        let ids = start..<start + UInt64(1 + numbers.below(15))
        entries.append((ids, image))
        for id in ids where firsts[id] == nil { firsts[id] = image }
      }
      var found: [UInt64: UInt64] = [:]
      let merged = RecordsOfHistory.firsts(of: entries)
      for (ids, image) in merged {
        for id in ids {
          #expect(found[id] == nil, "\(SeededNumbers.replay)")
          found[id] = image
        }
      }
      #expect(found == firsts, "\(SeededNumbers.replay)")
      #expect(merged.map(\.ids.lowerBound) == merged.map(\.ids.lowerBound).sorted())
    }
  }
}

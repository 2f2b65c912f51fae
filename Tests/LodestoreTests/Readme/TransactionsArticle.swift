#if Macros
  import Foundation
  import Lodestore
  import Testing

  // The Swift of the articles on reading and writing, concurrency, and files and processes, over `Memo` of
  // the article on changes.

  @Suite struct `The article on reading and writing` {
    @Test func `does what it says`() throws {
      let store = try Store.inMemory(entities: [Memo.self])
      let milk = try store.write { tx in
        let milk = try tx.insert(Memo(title: "milk"))
        try tx.modify(milk.id) { $0.folder = "shopping" }
        try tx.update(Memo.where { $0.folder == "inbox" }) { $0.folder = "later" }
        return milk
      }

      let found = try store.read { snapshot in
        let newest = try snapshot.fetch(Memo.all.sorted(by: \.title).limit(10))
        let total = try snapshot.count(Memo.all)
        return (newest, total)
      }

      #expect(found.0.map(\.id) == [milk.id] && found.1 == 1)
      let pages = [[Memo(title: "bread")], [Memo(title: "tea"), Memo(title: "milk")]]
      try store.write { tx in
        for page in pages { _ = try? tx.savepoint { try $0.insert(page) } }
      }
      #expect(try store.count(Memo.all) == 2)

      var length = 0
      try store.read { snapshot in
        try snapshot.forEachView(Memo.where { $0.title.hasPrefix("m") }) { memo in
          if memo.folder != "inbox" { length += memo.title.utf8Count }
        }
      }

      #expect(length == 4)
      try store.write { tx in
        try tx.put(Date.now, for: "lastImport", in: "settings")
      }
      let last = try store.read { try $0.value(Date.self, for: "lastImport", in: "settings") }

      #expect(last != nil)
      let preview = try Store.inMemory(entities: [Memo.self])

      #expect(try preview.count(Memo.all) == 0)
    }
  }

  struct ConcurrencyArticle {
    @MainActor func refresh(_ store: Store) async throws -> [Memo] {
      try await store.write { tx in  // on the store's writer thread
        try tx.update(Memo.where { $0.folder == "inbox" }) { $0.folder = "later" }
      }
      return try await store.fetch(Memo.all.sorted(by: \.title))  // on a reader thread
    }

    static func insert(_ titles: [String], into store: Store) async throws {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for title in titles {
          group.addTask { try await store.insert(Memo(title: title)) }
        }
        try await group.waitForAll()
      }
    }

    static func deleteOld(_ store: Store) {
      let task = Task {
        try await store.delete(Memo.where { $0.folder == "later" }, inChunksOf: 10_000) {
          progress in
          print(progress.fraction ?? 0)
        }
      }
      task.cancel()
    }
  }

  enum FilesArticle {
    static func open(_ path: String) throws -> Store {
      var options = StoreOptions()
      options.access = .existing
      options.durability = .mayLoseLastCommit
      options.author = "editor"
      let store = try Store(at: path, entities: [Memo.self], options: options)

      return store
    }

    static func openWithProgress(_ path: String) async throws -> Store {
      let store = try await Store.open(at: path, entities: [Memo.self]) { progress in
        print(progress.fraction ?? 0)
      }

      return store
    }
  }
#endif

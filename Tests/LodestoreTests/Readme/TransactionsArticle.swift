#if Macros
  import Foundation
  import Lodestore
  import LodestoreMaintenance
  import Testing

  // The Swift of the articles on reading and writing, concurrency, and files and processes, over
  // `Memo` of the article on changes.

  @Suite struct `The article on reading and writing` {
    @Test func `the programs of the article on reading and writing run as described`() throws {
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
      var unreadable: [UnreadableRecord<Memo>] = []
      let readable = try store.fetch(Memo.all, onUnreadable: { unreadable.append($0) })
      for record in unreadable { print(record) }  // cannot read Memo 1: …

      #expect(readable.count == 2 && unreadable.isEmpty)
    }

    @Test func `the programs of the article catch the described errors`() throws {
      let store = try Store.inMemory(entities: [Memo.self])
      for _ in 0..<2 {
        do {
          try store.insert(Memo(title: "milk"))
        } catch let error as StoreError where error.code == .uniqueViolation {
          print("record \(error.recordID ?? 0) has it: \(error)")
        }
      }
      #expect(try store.count(Memo.all) == 1)
      func run() throws {
        throw StoreError(.readOnly, message: "cannot write: the store is read-only")
      }

      func main() -> Int32 {
        do {
          try run()
          return 0
        } catch {
          FileHandle.standardError.write(Data("\(error)\n".utf8))
          return 1
        }
      }

      #expect(main() == 1)
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

  @Suite struct `The article on files` {
    @Test func `the program of the article on files backs up, checks and exports`() async throws {
      let folder = FileManager.default.temporaryDirectory.appending(
        path: "files-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let store = try Store.inMemory(entities: [Memo.self])
      try await store.insert(Memo(title: "milk"))
      let path = folder.appending(path: "backup.lodestore").path
      try await backUp(store, to: path)
      let copied = try await FilesArticle.open(path).count(Memo.all)
      #expect(copied == 1)
      let lines = try String(contentsOfFile: path + ".jsonl", encoding: .utf8)
      #expect(lines.contains("milk"))
    }
  }

  func backUp(_ store: Store, to path: String) async throws {
    try await store.backup(to: path) { progress in print(progress.fraction ?? 0) }
    let verification = try Store.verify(at: path)
    if !verification.isSound { print(verification) }
    try await store.export(Memo.all, to: path + ".jsonl")
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

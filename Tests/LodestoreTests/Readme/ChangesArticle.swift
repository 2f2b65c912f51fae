#if Macros
  import Foundation
  import Lodestore
  import Testing

  // The Swift of the article Changes.

  @Entity struct Memo {
    #Unique<Memo>([\.title])
    #Index<Memo>([\.folder, \.title])
    var title: String
    var folder: String = "inbox"
    static let history = HistoryPolicy<Memo>.kept(preserving: \.title, images: true)
  }

  @Suite struct `The article on changes` {
    private func withStore(_ body: (Store) throws -> Void) throws {
      let store = try Store.inMemory(entities: [Memo.self])
      defer { store.close() }
      try body(store)
    }

    @Test func `the programs on history, consumers and undo run as described`() throws {
      try withStore { store in
        try store.write(author: "editor") { tx in try tx.insert(Memo(title: "milk")) }
        let token = try store.historyToken()
        try store.delete(Memo.all)
        for told in try store.history(.after(token).excluding(authors: "sync")) {
          for change in told.changes { print(told.author ?? "", change.kind, change.recordID) }
        }

        try store.write { tx in
          let known = try tx.historyToken(ofConsumer: "search")
          let news = try tx.history(.after(known).of(Memo.self))
          if let last = news.last { try tx.setHistoryToken(last.token, ofConsumer: "search") }
        }
        try store.purgeConsumedHistory(andAllBefore: Date.now.addingTimeInterval(-30 * 86_400))

        try store.insert(Memo(title: "bread"))

        let done = try store.write(author: "editor") { tx in
          try tx.update(Memo.where { $0.folder == "inbox" }) { $0.folder = "done" }
          return try tx.ownHistoryToken()
        }

        if let done {
          let undo = try store.write(author: "editor") { tx in
            try tx.undo(done)
            return try tx.ownHistoryToken()
          }
          if let undo { try store.write { tx in _ = try tx.undo(undo) } }
        }

        for told in try store.history(.all.by(authors: "editor").newestFirst().limit(20)) {
          print(told.token.number, told.undoes.map { "takes back \($0.number)" } ?? "")
        }

        #expect(try store.count(Memo.where { $0.folder == "done" }) == 1)
        #expect(try store.history().map(\.id) == [3, 4, 5, 6])
        #expect(try store.history().map(\.undoes?.number) == [nil, nil, 4, 5])
      }
    }

    @Test func `the programs on a partial undo and the history of a query run as described`() throws
    {
      try withStore { store in
        try store.insert(Memo(title: "bread", folder: "done"))
        let done = try store.write { tx in
          try tx.update(Memo.where { $0.folder == "done" }) { $0.folder = "archive" }
          return try tx.ownHistoryToken()
        }
        if let done {
          let undone = try store.write { tx in try tx.undoPartly(done) }
          print(undone.recordCount, "records; unchanged:", undone.stayingEntities)
        }
        #expect(try store.count(Memo.where { $0.folder == "done" }) == 1)

        for told in try store.history(.all.matching(Memo.where { $0.folder == "inbox" })) {
          print(told.changes.count, told.undecidedCount)
        }
        #expect(
          try store.history(.all.matching(Memo.where { $0.folder == "done" })).count == 3)
      }
    }

    @Test func `the programs on snapshots and edits run as described`() throws {
      try withStore { store in
        let id = try store.insert(Memo(title: "milk")).id
        var edit = try store.edit(id)
        edit.title = "oat milk"
        try store.update(edit, onConflict: .keepEdited)

        let snapshot = try store.snapshot()
        try store.delete(Memo.all)
        print(try snapshot.count(Memo.all), try snapshot.bytesHeldBack())
        try snapshot.advance()

        #expect(try snapshot.count(Memo.all) == 0)
      }
    }

    @Test func `the programs on live results run as described`() async throws {
      let store = try Store.inMemory(entities: [Memo.self])
      let id = try await store.insert(Memo(title: "milk")).id
      let list = Task { try await Self.follow(store) }
      let others = Task { try await Self.follow(store, id) }
      try await Task.sleep(for: .milliseconds(100))
      list.cancel()
      others.cancel()
      _ = await (list.result, others.result)
      store.close()
    }

    @Test func `the programs on differences and on replaced stores run as described`() async throws
    {
      let older = try Store.inMemory(entities: [Memo.self])
      let newer = try Store.inMemory(entities: [Memo.self])
      try await older.insert(Memo(title: "milk"))
      try await newer.insert([Memo(title: "oat milk"), Memo(title: "rent", folder: "done")])
      try await Self.compare(newer, older)
      #expect(try await newer.count(Memo.all) == 1)

      let (generations, arrivals) = AsyncStream<Store>.makeStream()
      for store in [older, newer] { arrivals.yield(store) }
      arrivals.finish()
      try await Self.follow(generations)
      for store in [older, newer] { store.close() }
    }

    private static func compare(_ newer: Store, _ older: Store) async throws {
      for try await memo in try newer.differences(from: older, of: Memo.self) {
        print(memo.kind, memo.old?.title ?? "", memo.new?.title ?? "", memo.attributes)
      }
      for try await difference in try newer.differences(from: older) {
        if case .record(let record) = difference {
          print(record.entity, record.attributes.map(\.name))
        }
      }

      let token = try newer.historyToken()
      try await newer.delete(Memo.where { $0.folder == "done" })
      for try await memo in try newer.differences(since: token, of: Memo.self) {
        print(memo.kind, memo.old?.title ?? "")
      }
    }

    private static func follow(_ generations: AsyncStream<Store>) async throws {
      for try await update in generations.updates(of: Memo.all.sorted(by: \.title)) {
        show(update.items)
      }
    }

    private static func show(_ items: ResultItems<Memo>) { print(items.map(\.title)) }

    private static func follow(_ store: Store) async throws {
      let notes = Memo.all.sorted(by: \.title)
      for try await update in store.updates(of: notes) {
        show(update.items)
        if let difference = update.difference {
          print(difference.inserted.count, difference.moved.count)
        }
      }
    }

    private static func follow(_ store: Store, _ id: Memo.ID) async throws {
      for try await update in store.updates(
        of: Memo.all.sorted(by: \.folder, \.title), sectionedBy: \.folder)
      {
        for section in update.sections { print(section.key, section.count) }
      }
      for try await memo in store.updates(of: id) { print(memo?.title ?? "deleted") }
      for try await count in store.updates(ofCount: Memo.where { $0.folder == "inbox" }) {
        print(count)
      }
      for try await titles in store.updates({ try $0.fetch(Memo.all).map(\.title) }) {
        print(titles)
      }
    }
  }
#endif

import Foundation
import LodestoreSystem
import Testing

@testable import EntityStore
@testable import LMDB

/// A store that nobody refers to any more closes itself.
@Suite struct `A store that is let go of` {
  /// The entities have derived attributes, ordered links, element indexes and a history with
  /// images.
  private static let entities = Library.entities + [Parcel.self, Player.self]

  private func options() -> StoreOptions {
    var options = StoreOptions()
    options.history = .images
    return options
  }

  /// Returns whether the store and its environment are released after `use`.
  private func isGone(
    _ path: String, after use: (Store) throws -> Void
  ) throws -> Bool {
    weak var core: StoreCore?
    weak var environment: Environment?
    do {
      let store = try Store(at: path, entities: Self.entities, options: options())
      core = store.core
      environment = store.core.environment
      try use(store)
    }
    return core == nil && environment == nil
  }

  @Test func `a released store is closed, whatever was written`() throws {
    let folder = try TemporaryFolder()
    let path = folder.storePath
    #expect(try isGone(path) { _ in })
    #expect(try isGone(path) { try $0.insert(Player(name: "a")) })
    let links = try isGone(path) { store in
      try store.write { tx in
        let author = try tx.insert(Author(name: "A")).id
        let books = try tx.insert((0..<3).map { Book(title: "\($0)", author: author) }).ids
        let shelf = try tx.insert(Shelf(name: "S"))
        try tx.add(books, to: Shelf.books, of: shelf.id)
        try tx.insert(Parcel(name: "P", keywords: ["k"], authors: [.init(name: "A", age: 3)]))
      }
      try store.delete(Player.all)
      let hook = store.onCommit { _ in }
      try store.insert(Player(name: "b"))
      hook.cancel()
      #expect(try store.fetch(Player.where { $0.score > 5 }).isEmpty)
      let snapshot = try store.snapshot()
      #expect(try snapshot.count(Player.all) == 1)
    }
    #expect(links)
    try expectSound(path)
  }

  /// A regression test: each opening left some 4 KB of its environment in memory.
  @Test func `a released store leaves nothing in memory after its close or its last read`() throws {
    let folder = try TemporaryFolder()
    let path = folder.storePath
    let isGoneWhenClosed = try isGone(path) { store in
      try store.insert(Player(name: "a"))
      store.close()
    }
    #expect(isGoneWhenClosed)
    let isGoneInRead = try isGone(path) { store in
      try store.read { snapshot throws in
        #expect(try snapshot.count(Player.all) == 1)
        store.close()
      }
    }
    #expect(isGoneInRead)
    let isGoneInWrite = try isGone(path) { store in
      try store.write { tx in
        try tx.insert(Player(name: "b"))
        store.close()
      }
    }
    #expect(isGoneInWrite)
    try expectSound(path)
  }

  @Test func `a released store is closed after a write that was undone or refused`() throws {
    struct Stop: Error {}
    let folder = try TemporaryFolder()
    let path = folder.storePath
    let isStopped = try isGone(path) { store in
      #expect(throws: Stop.self) {
        try store.write { tx in
          try tx.insert(Player(name: "a"))
          throw Stop()
        }
      }
    }
    #expect(isStopped)
    // The prepared notification of a commit must not hold the store when there is no commit.
    let isRefused = try isGone(path) { store in
      let error = try storeError(.mismatchedFiles) {
        try store.write { tx in
          try tx.insert(Player(name: "a"))
          unlink(path + "-lock")
        }
      }
      #expect(error.message.contains("-lock"))
    }
    #expect(isRefused)
    #expect(try isGone(path) { try $0.insert(Player(name: "b")) })
    try expectSound(path)
  }
}

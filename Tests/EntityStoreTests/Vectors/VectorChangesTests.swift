import Foundation
import Synchronization
import Testing

@testable import EntityStore

/// Each test has an index without lists, or one with lists of few vectors.
@Suite struct `Vector indexes follow every change` {
  private func options(_ hasLists: Bool, history: StoreOptions.History? = nil) -> StoreOptions {
    var options = StoreOptions()
    options.history = history
    if hasLists { options.mostVectorsWithoutLists = 40 }
    return options
  }

  /// Makes a store with vectors at angles of 1° each, from records before the index.
  private func makePlain(_ path: String, _ count: Int, history: Bool = false) throws {
    var options = StoreOptions()
    if history { options.history = .images }
    let store = try Store(at: path, entities: [PlainThought.self], options: options)
    try store.insert((0..<count).map { PlainThought(Self.vector(degrees: Double($0))) })
    store.close()
  }

  private static func vector(degrees: Double) -> Vector {
    var values = [Float](repeating: 0, count: Thought.dimensions)
    values[0] = Float(cos(degrees * .pi / 180))
    values[1] = Float(sin(degrees * .pi / 180))
    return Vector(values)
  }

  /// The nearest records, of all candidates.
  private func near(_ degrees: Double, _ count: Int = 2) -> Query<Thought> {
    let vector = Self.vector(degrees: degrees)
    return Thought.where { $0.embedding.isNear(vector, by: .cosine, candidates: 16_000) }
      .sortedByDistance().limit(count)
  }

  @Test(arguments: [false, true])
  func `an undo takes back the vectors of its write`(hasLists: Bool) throws {
    try withTemporaryPath { path in
      try makePlain(path, 90, history: true)
      let store = try Store(
        at: path, entities: [Thought.self], options: options(hasLists, history: .images))
      defer { store.close() }
      try store.write { tx in
        try tx.modify(Thought.ID(rawValue: 11)) { $0.embedding = Self.vector(degrees: 200) }
        try tx.insert(Thought(Self.vector(degrees: 201)))
        try tx.delete(Thought.where { $0.id.isIn([12, 13].map(Thought.ID.init)) })
      }
      #expect(try store.fetch(near(200.2)).map(\.id.rawValue) == [11, 91])
      #expect(try store.fetch(near(11.9)).map(\.id.rawValue) == [14, 15])
      try expectSound(store)
      _ = try store.undo(try #require(try store.history().last).token)
      #expect(try store.fetch(near(200.2, 1)).map(\.id.rawValue) == [90])
      #expect(try store.fetch(near(11.1, 3)).map(\.id.rawValue) == [12, 13, 11])
      try expectSound(store)
    }
  }

  @Test(arguments: [false, true])
  func `a write sees its own vectors, and a savepoint takes vectors back`(hasLists: Bool) throws {
    try withTemporaryPath { path in
      try makePlain(path, 60)
      let store = try Store(at: path, entities: [Thought.self], options: options(hasLists))
      defer { store.close() }
      // The closure runs again after the savepoint has failed, so that its last run counts.
      let found = try store.write { tx in
        try tx.insert(Thought(Self.vector(degrees: 100)))
        #expect(try tx.fetch(near(100, 1)).map(\.id.rawValue) == [61])
        struct Abandoned: Error {}
        do {
          try tx.savepoint { tx in
            try tx.insert(Thought(Self.vector(degrees: 101)))
            #expect(try tx.fetch(near(102)).map(\.id.rawValue) == [62, 61])
            throw Abandoned()
          }
        } catch is Abandoned {}
        return try tx.fetch(near(102)).map(\.id.rawValue)
      }
      #expect(found == [61, 60])
      try expectSound(store)
    }
  }

  @Test(arguments: [false, true])
  func `opening builds an index with its progress, and drops it`(hasLists: Bool) async throws {
    let folder = try TemporaryFolder()
    try makePlain(folder.storePath, 360)
    let seen = Mutex<[WorkProgress]>([])
    let store = try await Store.open(
      at: folder.storePath, entities: [Thought.self], options: options(hasLists)
    ) { progress in seen.withLock { $0.append(progress) } }
    #expect(try await store.fetch(near(270.1)).map(\.id.rawValue) == [271, 272])
    store.close()
    let steps = seen.withLock { $0 }
    #expect(steps.last?.completed == steps.last?.total)
    // The indexes on embeddings and on colors.
    #expect(steps.last?.total == 720)
    try expectSound(folder.storePath)
    try Store(at: folder.storePath, entities: [PlainThought.self]).close()
    try expectSound(folder.storePath)
  }

  @Test func `an opening that makes lists reports its progress`() async throws {
    let folder = try TemporaryFolder()
    let before = try Store(at: folder.storePath, entities: [Thought.self])
    try await before.insert((0..<90).map { Thought(Self.vector(degrees: Double($0))) })
    before.close()
    let seen = Mutex<[WorkProgress]>([])
    let store = try await Store.open(
      at: folder.storePath, entities: [Thought.self], options: options(true)
    ) { progress in seen.withLock { $0.append(progress) } }
    #expect(try await store.fetch(near(45.1)).map(\.id.rawValue) == [46, 47])
    store.close()
    #expect(seen.withLock { $0.last?.total } == 90)
    #expect(seen.withLock { $0.last?.completed } == 90)
    try expectSound(folder.storePath)
  }

  @Test func `an opening that is killed leaves the file as it was, or with the whole index`()
    async throws
  {
    let kills = max(2, (SeededNumbers.environmentNumber("LODESTORE_KILLS") ?? 0) / 20)
    var numbers = SeededNumbers(salt: 7_150)
    let origin = try TemporaryFolder()
    try makePlain(origin.storePath, 300)
    for _ in 0..<kills {
      let folder = try TemporaryFolder()
      let path = folder.storePath
      try FileManager.default.copyItem(atPath: origin.storePath, toPath: path)
      let delay = numbers.below(400_000)
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = path as String, delay = delay as Int] in
        Thread.detachNewThread {
          usleep(UInt32(delay))
          kill(getpid(), SIGKILL)
        }
        var options = StoreOptions()
        options.mostVectorsWithoutLists = 40
        // Each round drops the index and builds it again.
        while true {
          let store = try Store(at: path, entities: [Thought.self], options: options)
          try store.insert(Thought(nil))
          store.close()
          try Store(at: path, entities: [PlainThought.self]).close()
        }
      }
      try expectSound(path)
      let store = try Store(at: path, entities: [Thought.self], options: options(true))
      #expect(try await store.fetch(near(99.9)).map(\.id.rawValue) == [101, 100])
      store.close()
      try expectSound(path)
    }
  }

  @Test(arguments: [nil, 2])
  func `live results by distance follow changes`(limit: Int?) async throws {
    try await withTemporaryStore([Thought.self]) { store in
      try await store.insert([10, 30, 20].map { Thought(Self.vector(degrees: $0)) })
      let vector = Self.vector(degrees: 12)
      var query = Thought.where { $0.embedding.isNear(vector, by: .cosine) }.sortedByDistance()
      if let limit { query = query.limit(limit) }
      let updates = Turner(store.updates(of: query))
      func expectNext(_ ids: [UInt64]) async throws {
        let update = try await within { try await updates.next() }
        #expect(update?.items.map(\.id.rawValue) == ids)
      }
      let most = limit ?? .max
      try await expectNext(Array([1, 3, 2].prefix(most)))
      try await store.modify(Thought.ID(rawValue: 2)) { $0.embedding = vector }
      try await expectNext(Array([2, 1, 3].prefix(most)))
      try await store.modify(Thought.ID(rawValue: 1)) { $0.embedding = nil }
      try await expectNext([2, 3])
    }
  }
}

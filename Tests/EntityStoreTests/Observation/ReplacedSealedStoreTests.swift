import Foundation
import Synchronization
import Testing

@testable import EntityStore

/// Live results read only the changed records of a new sealed generation.
@Suite struct `Live results of sealed generations` {
  private static let entities: [any Entity.Type] = [Player.self, Film.self]

  /// Seals the newest commit as generation `number`, and opens the file.
  private static func seal(
    _ store: Store, _ folder: borrowing TemporaryFolder, _ number: Int,
    entities: [any Entity.Type] = entities
  ) throws -> Store {
    let path = folder.path + "/generation-\(number).lodestore"
    try store.seal(
      to: path, name: "games", generation: UInt64(number),
      dataAsOf: Date(timeIntervalSinceReferenceDate: Double(number)))
    return try Store(at: path, entities: entities)
  }

  /// Waits until nobody refers to a store any more.
  private static func waitForRelease(_ isReleased: @Sendable () -> Bool) async throws {
    for _ in 0..<24_000 where !isReleased() { try await Task.sleep(for: .milliseconds(10)) }
    #expect(isReleased())
  }

  @Test func `live results of sealed generations agree with a fetch, whatever has changed`()
    async throws
  {
    let folder = try TemporaryFolder()
    let work = try Store(at: folder.storePath, entities: Self.entities)
    var numbers = SeededNumbers(salt: 4_407)
    try await work.insert((0..<300).map { Player(name: "p\($0)", score: $0 % 40) })
    let queries = [
      Player.all.sorted(by: \.name), Player.all, Player.where { $0.score >= 10 },
      Player.all.sorted(by: \.score.descending).limit(20), Player.where { $0.name == "p7" },
    ]
    let (first, arrivals) = (
      try Self.seal(work, folder, 1), queries.map { _ in AsyncStream<Store>.makeStream() }
    )
    let loops = zip(queries, arrivals).map { Turner($1.stream.updates(of: $0)) }
    var before: [[Player]] = []
    for (index, query) in queries.enumerated() {
      arrivals[index].continuation.yield(first)
      let update = try await within { try await loops[index].next() }
      let items = Array(try #require(update).items)
      #expect(try await items == first.fetch(query))
      before.append(items)
    }
    var name = 300
    for number in 2...14 {
      // The number of changed records: one, a few, or more than are replaced one by one.
      let count = [1, 5, 40, 290][numbers.below(4)]
      var changed: [Player] = []
      for player in try await work.fetch(Player.all).shuffled(using: &numbers).prefix(count) {
        var player = player
        player.score = numbers.below(60)
        if numbers.oneIn(5) { player.name = "q\(name)" }
        name += 1
        changed.append(player)
      }
      let (updates, more) = (changed, name)
      let removed = Array(try await work.fetch(Player.all).prefix(numbers.below(3)).map(\.id))
      try await work.write { tx in
        for player in updates { try tx.update(player) }
        for id in removed { try tx.delete(id) }
        try tx.insert(Player(name: "r\(more)", score: more % 60))
      }
      name += 1
      let next = try Self.seal(work, folder, number)
      for (index, query) in queries.enumerated() {
        let expected = try await next.fetch(query)
        arrivals[index].continuation.yield(next)
        guard expected != before[index] else { continue }
        let arrived = try await within { try await loops[index].next() }
        let update = try #require(arrived)
        let items = Array(update.items)
        #expect(items == expected, "query \(index), generation \(number)")
        let ids = before[index].map(\.id)
        let difference = try #require(update.collectionDifference)
        #expect(ids.applying(difference) == expected.map(\.id))
        let old = Dictionary(uniqueKeysWithValues: before[index].map { ($0.id, $0) })
        for change in try #require(update.difference).updated {
          let item = items[change.to.index]
          #expect(old[item.id] != nil && old[item.id] != item)
        }
        let told = Set(
          (update.difference?.updated ?? []).map(\.to.index)
            + (update.difference?.moved ?? []).map(\.to.index)
            + (update.difference?.inserted ?? []).map(\.index))
        for (position, item) in items.enumerated() where old[item.id] != item {
          #expect(told.contains(position), "an untold change of query \(index)")
        }
        before[index] = expected
      }
    }
    for arrival in arrivals { arrival.continuation.finish() }
    work.close()
    try expectSound(folder.storePath)
  }

  @Test func `live results of unchanged entities are not read again`() async throws {
    let folder = try TemporaryFolder()
    let work = try Store(at: folder.storePath, entities: Self.entities)
    try await work.insert((0..<50).map { Player(name: "p\($0)") })
    try await work.insert((0..<50).map { Film(title: "f\($0)", episode: $0) })
    let (stores, arrivals) = AsyncStream<Store>.makeStream()
    let reads = Mutex(0)
    let values = Turner(
      stores.updates { snapshot in
        reads.withLock { $0 += 1 }
        return try snapshot.count(Film.where { $0.episode < 10 })
      })
    let (lists, listed) = AsyncStream<Store>.makeStream()
    let list = Turner(lists.updates(of: Film.all.sorted(by: \.title).limit(5)))
    var first: Store? = try Self.seal(work, folder, 1)
    weak let old = first
    if let first {
      arrivals.yield(first)
      listed.yield(first)
    }
    #expect(try await within { try await values.next() } == 10)
    // Only the first read shows which records a value depends on, so the value is read again.
    let readCount = reads.withLock { $0 }
    #expect(try await within { try await list.next() }?.items.count == 5)
    first = nil
    let (value, update) = (Task { try await values.next() }, Task { try await list.next() })
    try await work.update(Player.all) { $0.score = 9 }
    let second = try Self.seal(work, folder, 2)
    arrivals.yield(second)
    listed.yield(second)
    try await Self.waitForRelease { old == nil }
    #expect(reads.withLock { $0 } == readCount)
    try await work.insert(Film(title: "a", episode: -1))
    let third = try Self.seal(work, folder, 3)
    arrivals.yield(third)
    listed.yield(third)
    #expect(try await value.value == 11 && reads.withLock { $0 } > readCount)
    let rows = try await update.value
    #expect(rows?.items.first?.title == "a" && rows?.difference?.inserted.map(\.index) == [0])
    arrivals.finish()
    listed.finish()
    work.close()
    try expectSound(folder.storePath)
  }

  @Test func `live results of a generation with another schema are read again`() async throws {
    let folder = try TemporaryFolder()
    let (stores, arrivals) = AsyncStream<Store>.makeStream()
    // The type `Names` is not comparable, so the results cannot show that they are equal. The
    // update is therefore delivered.
    struct Names: Sendable { let list: [String] }
    let names = Turner(stores.updates { Names(list: try $0.fetch(Player.all).map(\.name)) })
    for number in 1...2 {
      let entities = number == 1 ? [Player.self] : Self.entities
      let work = try Store(at: folder.path + "/\(number)", entities: entities)
      try await work.insert(Player(name: "same"))
      arrivals.yield(try Self.seal(work, folder, number, entities: entities))
      // The digests of different schemas cannot be compared, so both stores are read.
      #expect(try await within { try await names.next() }?.list == ["same"])
    }
    arrivals.finish()
  }

  @Test func `live results next to a program's own store are read again if the dataset changed`()
    async throws
  {
    let folder = try TemporaryFolder()
    let own = try Store(at: folder.path + "/own.lodestore", entities: [PodNote.self])
    let work = try Store(at: folder.storePath, entities: [Pod.self, Film.self])
    func generation(_ number: Int) throws -> Store {
      let path = folder.path + "/pods-\(number).lodestore"
      try work.seal(
        to: path, name: "pods", generation: UInt64(number),
        dataAsOf: Date(timeIntervalSinceReferenceDate: 0))
      return try Store(at: path, entities: [Pod.self, Film.self])
    }
    try await work.insert((0..<5).map { pod($0) })
    try await own.insert(PodNote(pod: try Reference(pod(3))))
    let generations = Generations(try generation(1))
    let attached = own.attach(generations)
    let reads = Mutex(0)
    let values = Turner(
      attached.updates { snapshot in
        reads.withLock { $0 += 1 }
        return try snapshot.fetch(PodNote.all, resolving: \.pod).map { $0.target?.stars ?? -1 }
      })
    #expect(try await within { try await values.next() } == [3])
    let waiting = Task { try await values.next() }
    // The first read and the first replacement are read. After that, the dependencies are known and
    // reads are spared.
    var isSpared = false
    for number in 20..<25 where !isSpared {
      weak let before = generations.currentStore
      let count = reads.withLock { $0 }
      try await work.insert(Film(title: "f", episode: number))
      generations.replace(with: try generation(number))
      try await Self.waitForRelease { before == nil }
      isSpared = reads.withLock { $0 } == count
    }
    #expect(isSpared)
    let second = generations.currentStore
    try await work.update(Pod.all) { $0.stars = 7 }
    let third = try generation(3)
    generations.replace(with: third)
    #expect(try await waiting.value == [7])
    try await own.insert(PodNote(pod: try Reference(pod(4))))
    #expect(try await within { try await values.next() } == [7, 7])

    // Pod 9 never existed. Pods 3 and 4 are deleted in two different generations.
    func dangling(since older: Store) async throws -> [String] {
      var keys: [String] = []
      for try await reference in attached.danglingReferences(since: older) {
        keys.append(reference.key)
      }
      return keys
    }
    try await own.insert(PodNote(pod: try Reference(pod(9))))
    #expect(try await dangling(since: second).isEmpty)
    try await work.delete(Pod.where { $0.name == "pod3" })
    let fourth = try generation(4)
    generations.replace(with: fourth)
    let afterThird = try await dangling(since: third)
    #expect(afterThird.count == 1 && afterThird.first?.contains("pod3") == true, "\(afterThird)")
    try await work.delete(Pod.where { $0.name == "pod4" })
    generations.replace(with: try generation(5))
    #expect(try await dangling(since: third).count == 2)
    #expect(try await dangling(since: fourth).count == 1)
    try await work.insert(Film(title: "g", episode: 2))
    let fifth = generations.currentStore
    generations.replace(with: try generation(6))
    #expect(try await dangling(since: fifth).isEmpty)
    own.close()
    work.close()
    try expectSound(folder.storePath)
  }

  /// Prints times for the manual.
  ///
  /// `LODESTORE_FIGURES=1` runs the test, which needs a release build.
  @Test(.enabled(if: ProcessInfo.processInfo.environment["LODESTORE_FIGURES"] != nil))
  func `live results of 100,000 records follow a replacement in the time of the changes`()
    async throws
  {
    let folder = try TemporaryFolder()
    let work = try Store(at: folder.storePath, entities: Self.entities)
    try await work.insert((0..<100_000).map { Player(name: "player \($0)", score: $0 % 1_000) })
    let query = Player.all.sorted(by: \.name)
    var stores = [try Self.seal(work, folder, 1)]
    try await work.insert(Film(title: "f", episode: 1))
    stores.append(try Self.seal(work, folder, 2))
    try await work.update(Player.where { $0.score == 7 }) { $0.note = "n" }
    stores.append(try Self.seal(work, folder, 3))
    let core = stores.map(\.core)
    let decode: @Sendable (inout RecordReader) throws -> Player = { try Player.read(from: &$0) }
    func observer(
      _ index: Int, after last: ResultObserver<Player, Never>? = nil
    ) throws -> ResultObserver<Player, Never> {
      try core[index].read { try ResultObserver(query, decode, nil, $0, after: last) }
    }
    let clock = ContinuousClock()
    let first = try observer(0)
    let running = try clock.measure { try core[0].read { try first.fetch($0) } }
    _ = first.takeUpdate()
    func followed(
      _ from: Int, _ to: Int, _ last: ResultObserver<Player, Never>
    ) throws -> Duration {
      let next = try observer(to, after: last)
      var follows = false
      let time = try clock.measure {
        try core[to].read { follows = try next.follow(last, of: core[from], $0) }
      }
      #expect(follows)
      try core[to].read { try next.fetch($0) }
      #expect(next.difference.isEmpty)
      return time
    }
    let nothing = try followed(0, 1, first)
    let hundred = try followed(1, 2, first)
    let again = try observer(2)
    let comparing = try clock.measure {
      try core[2].read { try again.fetch($0) }
      _ = again.state.difference(from: first.state)
    }
    print(
      "100,000 results: query \(running), query and comparison \(comparing); nothing changed "
        + "\(nothing), 100 changed \(hundred)")
  }
}

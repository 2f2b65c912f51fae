import Foundation
import LMDB
import Synchronization
import Testing

@testable import EntityStore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Commits that are kept readable.
@Suite struct `Pinned snapshots` {
  @Test func `pinned snapshots see past and deleted records, and move forward`() async throws {
    try await withTemporaryStore([Player.self]) { store in
      try await store.insert((0..<100).map { Player(name: "\($0)", score: $0) })
      let snapshot = try store.snapshot()
      let before = try snapshot.fetch(Player.all)
      let commit = try snapshot.commitNumber
      try await store.delete(Player.where { $0.score > 10 })
      #expect(try snapshot.fetch(Player.all) == before)
      #expect(try snapshot.count(Player.where { $0.score > 10 }) == 89)
      #expect(try snapshot.fetch(before[50].id)?.score == 50)
      #expect(try await snapshot.read { try $0.exists(Player.where { $0.name == "99" }) })
      let top = Player.all.sorted(by: \.score.descending).limit(1)
      #expect(try await snapshot.read { try $0.first(top) }?.score == 99)
      try snapshot.advance()
      #expect(try snapshot.count(Player.all) == 11)
      #expect(try snapshot.commitNumber > commit)
      snapshot.end()
      _ = try storeError(.closed) { try snapshot.count(Player.all) }
      _ = try storeError(.closed) { try snapshot.advance() }
    }
  }

  @Test func `pinned snapshots are used by many tasks at once, while others write`() async throws {
    try await withTemporaryStore([Player.self]) { store in
      try await store.insert((0..<500).map { Player(name: "\($0)", score: 1) })
      let snapshot = try store.snapshot()
      try await withThrowingTaskGroup(of: Int.self) { group in
        for number in 0..<16 {
          group.addTask {
            try await store.update(Player.all) { $0.score.add(1) }
            return try await snapshot.read { try $0.count(Player.where { $0.score == 1 }) } + number
              - number
          }
        }
        for try await count in group { #expect(count == 500) }
      }
    }
  }

  @Test func `pinned snapshots report their pages and the growth of the file`() throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: [Player.self])
    try store.insert((0..<20_000).map { Player(name: "\($0)", score: $0) })
    // Without a snapshot, freed pages are used again.
    for round in 0..<50 { try change(store, round) }
    let size = try fileSize(store)
    let snapshot = try store.snapshot()
    for round in 0..<400 { try change(store, round) }
    let growth = try fileSize(store) - size
    let told = try snapshot.bytesHeldBack()
    #expect(abs(growth - told) < growth / 10, "the file grew by \(growth), told were \(told)")
    let readers = try store.readers()
    #expect(readers.first?.commitNumber == (try snapshot.commitNumber))
    #expect(readers.first?.commitsBehind == 400)
    #expect(readers.first?.process == Int(ProcessInfo.processInfo.processIdentifier))
    snapshot.end()
    for round in 0..<100 { try change(store, round) }
    #expect(try fileSize(store) - size < growth + growth / 10)
    #expect(try store.snapshot().bytesHeldBack() < growth / 10)
    store.close()
    try expectSound(folder.storePath)
  }

  @Test func `pinned snapshots release the old commit when they move forward`() throws {
    try withTemporaryStore([Player.self]) { store in
      let snapshot = try store.snapshot()
      for number in 0..<20 {
        try store.insert(Player(name: "\(number)", score: number))
        try snapshot.advance()
        let commit = try snapshot.commitNumber
        #expect(try store.readers().map(\.commitNumber) == [commit])
      }
      snapshot.end()
      #expect(try store.readers().isEmpty)
    }
  }

  @Test(.timeLimit(.minutes(15)))
  func `pinned snapshots can be ended and moved within a read, which continues`() throws {
    for round in 0..<3 {
      try withTemporaryStore([Player.self]) { store in
        try store.insert((0..<100).map { Player(name: "\($0)") })
        let snapshot = try store.snapshot()
        try store.delete(Player.where { $0.name > "5" })
        let count = try snapshot.read { old in
          switch round {
          case 0: snapshot.end()
          case 1: try snapshot.advance()
          default: store.close()
          }
          if round != 1 { _ = try storeError(.closed) { try snapshot.commitNumber } }
          return try old.count(Player.all)
        }
        #expect(count == 100)
        if round == 1 { #expect(try snapshot.count(Player.all) < 100) }
        if round < 2 {
          snapshot.end()
          #expect(try store.readers().isEmpty)
        }
      }
    }
  }

  @Test(.timeLimit(.minutes(15)))
  func `pinned snapshots do not block the close of a store within a write`()
    async throws
  {
    try await withTemporaryStore([Player.self]) { store in
      let snapshot = try store.snapshot()
      let (isWriting, isReading) = (Latch(), Latch())
      let writing = Task {
        try await store.write { tx in
          try tx.insert(Player(name: "a"))
          isWriting.set()
          while !isReading.isSet { usleep(200) }
          // The other write waits for its turn while the store is closed.
          usleep(50_000)
          store.close()
        }
      }
      let error = try await snapshot.read { _ in
        while !isWriting.isSet { usleep(200) }
        isReading.set()
        return try storeError(.closed) { try store.insert(Player(name: "b")) }
      }
      #expect(error.code == .closed)
      try await writing.value
    }
  }

  private func change(_ store: Store, _ round: Int) throws {
    let low = round * 37 % 19_000
    try store.update(
      Player.where {
        $0.score >= low; $0.score < low + 100
      }
    ) {
      $0.note = "round \(round)"
    }
  }

  private func fileSize(_ store: Store) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: store.path)
    return try #require(attributes[.size] as? Int)
  }

  @Test func `pinned snapshots cause one warning, and end with an error at a limit`()
    async throws
  {
    let warnings = Mutex<[SnapshotWarning]>([])
    var options = StoreOptions()
    options.snapshotAgeLimit = .milliseconds(300)
    options.snapshotWarningAge = .milliseconds(50)
    options.onSnapshotWarning = { warning in warnings.withLock { $0.append(warning) } }
    try await withTemporaryStore([Player.self], options: options) { store in
      let snapshot = try store.snapshot()
      let commit = try snapshot.commitNumber
      // Later commits end the snapshot. When the ending task runs depends on the machine, so the
      // loop makes commits until then.
      for _ in 0..<5_000 where (try? snapshot.count(Player.all)) != nil {
        try await store.insert(Player(name: UUID().uuidString))
        try await Task.sleep(for: .milliseconds(10))
      }
      let error = try storeError(.snapshotExpired) { try snapshot.count(Player.all) }
      #expect(error.message.contains("snapshotAgeLimit"))
      #expect(warnings.withLock { $0.map(\.commitNumber) } == [commit])
      #expect(try store.readers().allSatisfy { $0.commitNumber > commit })
      try snapshot.advance()
      #expect(try snapshot.count(Player.all) > 0)
    }
  }

  /// The process may have the store open only for reading, and the store object may be released.
  @Test func `commits of another process end pinned snapshots, also without their store`()
    async throws
  {
    let folder = try TemporaryFolder()
    let path = folder.storePath
    try Store(at: path, entities: [Player.self]).close()
    var options = StoreOptions()
    options.access = .readOnly
    options.snapshotAgeLimit = .milliseconds(100)
    let snapshot = try Store(at: path, entities: [Player.self], options: options).snapshot()
    // Without a commit, the snapshot is kept beyond the age limit.
    try await Task.sleep(for: .milliseconds(800))
    #expect(try snapshot.count(Player.all) == 0)
    await #expect(processExitsWith: .success) { [path = path as String] in
      let other = try Store(at: path, entities: [Player.self])
      try await other.insert(Player(name: "theirs"))
      other.close()
    }
    for _ in 0..<12_000 where (try? snapshot.count(Player.all)) != nil {
      try await Task.sleep(for: .milliseconds(10))
    }
    _ = try storeError(.snapshotExpired) { try snapshot.count(Player.all) }
    try snapshot.advance()
    #expect(try snapshot.count(Player.all) == 1)
    snapshot.end()
    try expectSound(path)
  }

  /// If such a snapshot stayed, the file would stay open, and the next opening would fail.
  @Test func `pinned snapshots made while their store is closed are ended`() throws {
    try withTemporaryStore([Player.self]) { store in
      let registry = SnapshotRegistry()
      let snapshot = try PinnedSnapshot(store.core, registry)
      store.close()
      store.companions.companion { registry }.add(snapshot, store.core)
      _ = try storeError(.closed) { try snapshot.count(Player.all) }
    }
  }

  @Test func `pinned snapshots can be read within a read, also when they are moved or ended there`()
    throws
  {
    try withTemporaryStore([Player.self]) { store in
      let snapshot = try store.snapshot()
      try store.insert(Player(name: "a"))
      let counts = try snapshot.read { outer in
        let before = try snapshot.count(Player.all)
        try snapshot.advance()
        let after = try snapshot.count(Player.all)
        snapshot.end()
        _ = try storeError(.closed) { try snapshot.count(Player.all) }
        return [try outer.count(Player.all), before, after]
      }
      #expect(counts == [0, 0, 1])
    }
  }

  #if os(Linux)
    @Test func `pinned snapshots and lazy results are not read in a forked child`() async {
      await #expect(processExitsWith: .success) {
        let folder = try TemporaryFolder()
        let store = try Store(at: folder.storePath, entities: [Player.self])
        try store.insert(Player(name: "a"))
        let snapshot = try store.snapshot()
        let results = try store.results(Player.all)
        typealias Fork = @convention(c) () -> pid_t
        let fork = unsafeBitCast(dlsym(dlopen(nil, RTLD_NOW), "fork"), to: Fork.self)
        let child = fork()
        if child == 0 {
          let codes = [
            #expect(throws: StoreError.self) { try snapshot.count(Player.all) }?.code,
            #expect(throws: StoreError.self) { try results.values() }?.code,
          ]
          _exit(codes == [.closed, .closed] ? 0 : 1)
        }
        var status: Int32 = -1
        waitpid(child, &status, 0)
        #expect(status == 0)
        #expect(try snapshot.count(Player.all) == 1)
        #expect(try results.values().count == 1)
        store.close()
      }
    }
  #endif
}

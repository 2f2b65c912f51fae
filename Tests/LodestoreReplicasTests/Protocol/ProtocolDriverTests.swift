import Foundation
import LodestoreDatasets
import LodestoreFormat
import Synchronization
import Testing

@testable import LodestoreReplicas

/// The machines of the protocol on storages that exist.
@Suite struct ProtocolDriverTests {
  private static let rounds =
    ProcessInfo.processInfo.environment["LODESTORE_RACES"].flatMap { Int($0) } ?? 10

  private func head(
    _ kind: EntryHead.Kind, after place: ChainPosition, session: UInt64
  ) -> EntryHead {
    EntryHead(
      kind, epoch: max(place.epoch, 1), slot: place.slot + 1,
      previous: place.slot == 0 ? nil : place.hash, store: Entries.store,
      session: UUIDBytes(high: 0, low: session),
      firstWrite: kind == .pack ? place.lastWrite + 1 : nil,
      lastWrite: place.lastWrite + (kind == .pack ? 1 : 0), time: 0, schema: Entries.hash)
  }

  /// Writes packs without a body, and returns the position after them.
  private func write(
    _ count: Int, after start: ChainPosition, _ driver: ProtocolDriver
  ) async throws -> ChainPosition {
    var writer = SlotWriter(position: start, floor: .none)
    for _ in 0..<count {
      try writer.offer(LogEntry(head(.pack, after: writer.position, session: 1)))
      guard case .committed = try await driver.run(&writer) else {
        Issue.record("a writer without another one is not refused")
        return writer.position
      }
    }
    return writer.position
  }

  private func chain(
    after start: ChainPosition, _ driver: ProtocolDriver
  ) async throws -> [LogEntry] {
    var reader = ChainReader(position: start, floor: .none, limit: (entries: 7, bytes: 1 << 20))
    var entries: [LogEntry] = []
    while true {
      let result = try await driver.run(&reader)
      guard case .read(let batch, let isEnd) = result else {
        Issue.record("the chain ends with \(result)")
        return entries
      }
      entries += batch
      if isEnd { return entries }
      reader.readOn()
    }
  }

  // MARK: Races

  @Test func `eight writers that take over from each other leave one chain`() async throws {
    let folder = try StorageFolder()
    let driver = ProtocolDriver(try FolderStorage(path: folder.path))
    let written = try await withThrowingTaskGroup(of: [[UInt8]].self) { group in
      for session in 1...UInt64(8) {
        group.addTask { try await self.race(session, driver) }
      }
      return try await group.reduce(into: [[UInt8]]()) { $0 += $1 }
    }
    let entries = try await chain(after: .start(of: Entries.store), driver)
    let packs = entries.filter { $0.head.kind == .pack }.map(\.hash)
    // A pack counts as written only if it is in the chain, and each pack in the chain was
    // reported.
    #expect(Set(packs) == Set(written) && packs.count == written.count)
    #expect(entries.filter { $0.head.kind == .fence }.count == 8 * Self.rounds)
  }

  /// Takes over and writes one pack, again and again; returns the hashes of the written packs.
  private func race(_ session: UInt64, _ driver: ProtocolDriver) async throws -> [[UInt8]] {
    var written: [[UInt8]] = []
    var place = ChainPosition.start(of: Entries.store)
    for _ in 0..<Self.rounds {
      let fence = head(.fence, after: place, session: session)
      var takeover = Takeover(position: place, floor: .none, fence: fence)
      guard case .fenced(let end) = try await driver.run(&takeover) else {
        Issue.record("a takeover fails")
        return written
      }
      place = end
      let pack = try LogEntry(head(.pack, after: place, session: session))
      var writer = SlotWriter(position: place, floor: .none)
      try writer.offer(pack)
      switch try await driver.run(&writer) {
      case .committed(let end):
        place = end
        written.append(pack.hash)
      case .taken(let other): #expect(other.head.epoch > place.epoch)
      case .collected, .refused: Issue.record("a writer fails")
      }
    }
    return written
  }

  // MARK: Collections

  private func putBase(after end: ChainPosition, _ storage: FolderStorage) async throws {
    let digest = try #require(FileDigest(bytes: Entries.hash))
    let base = BaseHead(
      slot: end.slot, entry: try #require(FileDigest(bytes: end.hash)), epoch: end.epoch,
      store: end.store, lastWrite: end.lastWrite, time: 0, schema: digest, digests: [:], length: 1,
      verity: digest, packed: .init(length: 1, sha256: digest),
      frames: .init(length: 1, sha256: digest))
    _ = try await storage.put(.bytes([1]), at: base.name(of: .file).key, if: .absent)
    _ = try await storage.put(.bytes([2]), at: base.name(of: .frames).key, if: .absent)
    _ = try await storage.put(.bytes(base.bytes), at: base.name(of: .head).key, if: .absent)
  }

  @Test func `a collection deletes the objects below a base, and followers swap to it`()
    async throws
  {
    let folder = try StorageFolder()
    let storage = try FolderStorage(path: folder.path)
    var driver = ProtocolDriver(storage)
    driver.pageLimit = 2
    let start = ChainPosition.start(of: Entries.store)
    let first = try await write(3, after: start, driver)
    try await putBase(after: first, storage)
    let second = try await write(20, after: first, driver)
    try await putBase(after: second, storage)
    let end = try await write(2, after: second, driver)
    let merged = ReplicaName.merged(level: 1, slots: 1...16)
    let later = ReplicaName.merged(level: 1, slots: 17...32)
    for name in [merged, later] {
      _ = try await storage.put(.bytes([3]), at: name.key, if: .absent)
    }
    _ = try await storage.put(.bytes([4]), at: key("log/notes.txt"), if: .absent)

    var collector = Collector(store: Entries.store, limit: 100, floor: .none, time: 0)
    let collected = try await driver.run(&collector)
    // 22 entries, three objects of the first base, and one entry of merged slots.
    #expect(collected == .collected(Floor(number: 1, slot: 23), deleted: 26))
    var names: [String] = []
    for folder in ["log/", "merged/1/", "base/", "floor/"] {
      let page = try await storage.list(prefix: folder, after: nil, limit: 1000)
      names += page.entries.map(\.key)
    }
    #expect(
      names.prefix(4) == [
        "log/00000000000000000023.lsc", "log/00000000000000000024.lsc",
        "log/00000000000000000025.lsc", "log/notes.txt",
      ])
    #expect(names.dropFirst(4).first == later.text && names.count == 9)

    var follower = FollowerCursor(store: Entries.store, position: first, floor: .none)
    guard case .swap(let base) = try await driver.run(&follower) else {
      Issue.record("a follower before the floor does not swap")
      return
    }
    #expect(base.position == second)
    follower.goOn()
    guard case .apply(let entries, isEnd: true) = try await driver.run(&follower) else {
      Issue.record("a follower does not continue after a base")
      return
    }
    #expect(entries.count == 2 && follower.resumePosition == end)

    // A writer that was stopped before the collection finds its slot free, and is refused.
    var stopped = SlotWriter(position: first, floor: .none)
    try stopped.offer(LogEntry(head(.pack, after: first, session: 2)))
    let refusal = try await driver.run(&stopped)
    #expect(refusal == .collected(Floor(number: 1, slot: 23)))
    let garbage = try await failure { () async throws(StorageError) in
      try await storage.head(ReplicaName.entry(slot: 4).key)
    }
    #expect(garbage.kind == .notFound)
  }

  // MARK: Failures

  @Test func `calls that fail in passing are repeated, and a lost answer is found`() async throws {
    for seed in 0..<UInt64(50) {
      let storage = LyingStorage(.none)
      storage.random.withLock { $0 = SeededRandom(seed: seed) }
      var driver = ProtocolDriver(storage)
      let waits = Mutex<[Int]>([])
      driver.wait = { failures, _ in waits.withLock { $0.append(failures) } }
      let end = try await write(10, after: .start(of: Entries.store), driver)
      #expect(end.lastWrite == 10)
      #expect(try await chain(after: .start(of: Entries.store), driver).count == 10)
      #expect(waits.withLock { !$0.isEmpty }, "seed \(seed)")
    }
  }

  @Test func `other failures end a call, and the machine goes on when it is driven again`()
    async throws
  {
    let folder = try StorageFolder()
    let driver = ProtocolDriver(try FolderStorage(path: folder.path))
    let start = ChainPosition.start(of: Entries.store)
    var writer = SlotWriter(position: start, floor: .none)
    try writer.offer(LogEntry(head(.pack, after: start, session: 1)))
    try FileManager.default.moveItem(atPath: folder.path, toPath: folder.path + "-away")
    let error = await #expect(throws: StorageError.self) { try await driver.run(&writer) }
    #expect(error?.kind == .noBucket)
    try FileManager.default.moveItem(atPath: folder.path + "-away", toPath: folder.path)
    guard case .committed = try await driver.run(&writer) else {
      Issue.record("the writer does not go on")
      return
    }
  }

  @Test func `a limit of failures ends a call with its last error`() async throws {
    let storage = LyingStorage(.none)
    storage.random.withLock { $0 = SeededRandom(seed: 1) }
    var driver = ProtocolDriver(storage)
    driver.wait = { _, _ in }
    driver.failureLimit = 1
    var errors = 0
    for _ in 0..<100 {
      do throws(StorageError) {
        _ = try await driver.get(.info)
      } catch {
        #expect(error.isWorthRepeating)
        errors += 1
      }
    }
    #expect(errors > 0 && errors < 100)
  }
}

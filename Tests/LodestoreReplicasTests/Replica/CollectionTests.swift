#if Datasets
  import EntityStore
  import Foundation
  import LodestoreDatasets
  import Synchronization
  import Testing

  @testable import LodestoreReplicas

  /// The states that a collection must keep.
  @Suite("Collections of replicas")
  struct CollectionTests {
    @Test func `A base of a fenced writer does not shorten the time that states are kept`()
      async throws
    {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      try ReplicaFixture.write(1...3, to: store)
      let writer = try await fixture.writer(store) { $0.retention = .seconds(500) }
      try await writer.flush()
      var states: [UInt64: [Note]] = [:]
      for number in 4...9 {
        try ReplicaFixture.write(number...number, to: store)
        try await writer.flush()
        states[UInt64(number)] = try ReplicaFixture.notes(of: store)
      }
      try await writer.writeBase()
      // The first base gets old, and a base without an entry of the chain is a little newer.
      let names = try FileManager.default.contentsOfDirectory(atPath: fixture.bucketPath + "/base")
      let first = try #require(names.sorted().first { $0.hasSuffix(".json") })
      let path = fixture.bucketPath + "/base/" + first
      let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
      var base = try BaseHead(reading: bytes, named: "base/" + first)
      base.time = Date().timeIntervalSinceReferenceDate - 1_000
      try Data(base.bytes).write(to: URL(fileURLWithPath: path))
      base.time += 100
      base.slot += 4
      base.lastWrite += 4
      let stray = fixture.bucketPath + "/" + base.name(of: .head).text
      try Data(base.bytes).write(to: URL(fileURLWithPath: stray))
      try await writer.collect()
      for (number, notes) in states.sorted(by: { $0.key < $1.key }) {
        #expect(try await fixture.restored(.write(number)) == notes, "write \(number)")
      }
      try await writer.stop()
    }

    @Test(arguments: [ReplicaRestoreTarget.write(5), .latest])
    func `A collection during a restore keeps the base and the log that it reads`(
      target: ReplicaRestoreTarget
    ) async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      try ReplicaFixture.write(1...3, to: store)
      let writer = try await fixture.writer(store) { $0.retention = .zero }
      for number in 4...6 {
        try await writer.flush()
        try ReplicaFixture.write(number...number, to: store)
      }
      try await writer.flush()
      let notes = try ReplicaFixture.notes(of: store)
      let storage = InterruptedStorage(fixture.bucket.storage) {
        try await writer.writeBase()
        try await writer.collect()
      }
      let path = fixture.path("restored.lodestore")
      let report = try await Replica.restore(ReplicaStorage(storage), to: target, at: path)
      #expect(storage.failure == nil)
      #expect(report.baseSlot == 1)
      let restored = try fixture.store("restored.lodestore")
      let last = target == .latest ? 6 : 5
      if last == 6 { #expect(try ReplicaFixture.notes(of: restored) == notes) }
      #expect(try ReplicaFixture.notes(of: restored).map(\.number).max() == last)
      // The next collection needs no regard for the restore.
      #expect(try await Replica.summary(of: fixture.bucket).followers.isEmpty)
      try await writer.collect()
      let summary = try await Replica.summary(of: fixture.bucket)
      #expect(summary.bases.count == 1 && summary.slots?.lowerBound ?? 0 > 1)
      try await writer.stop()
    }

    @Test func `A restore needs no right to write`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      try ReplicaFixture.write(1...3, to: store)
      try await fixture.writer(store).stop()
      let storage = InterruptedStorage(fixture.bucket.storage, isReadOnly: true)
      try await Replica.restore(ReplicaStorage(storage), at: fixture.path("restored.lodestore"))
      let restored = try fixture.store("restored.lodestore")
      #expect(try ReplicaFixture.notes(of: restored) == ReplicaFixture.notes(of: store))
    }

    @Test func `The registration of a killed restore ends by itself`() {
      for ahead in [0, 1e8] {
        let (begin, end) = (100 + ahead, 3_700 + ahead)
        let mark = FollowerMark(id: "restore-1", slot: 3, lastWrite: 9, time: begin, until: end)
        #expect(mark.counts(at: 3_699, seen: 100, patience: 10))
        #expect(!mark.counts(at: 3_701, seen: 100, patience: .infinity))
        let follower = FollowerMark(id: "laptop", slot: 3, lastWrite: 9, time: begin)
        #expect(follower.counts(at: 109, seen: 100, patience: 10))
        #expect(!follower.counts(at: 111, seen: 100, patience: 10))
      }
    }

    @Test func `A follower whose clock is years ahead keeps the log until its timeout`()
      async throws
    {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store) {
        $0.retention = .zero
        $0.followerTimeout = .milliseconds(200)
      }
      for number in 1...4 {
        try ReplicaFixture.write(number...number, to: store)
        try await writer.flush()
      }
      let time = Date().timeIntervalSinceReferenceDate + 1e8
      let mark = FollowerMark(id: "laptop", slot: 1, lastWrite: 1, time: time)
      _ = try await fixture.bucket.storage.put(
        .bytes(mark.bytes), at: ReplicaName.follower(id: mark.id).key, if: .none)
      // The collection after the base is the first that reads the mark.
      try await writer.writeBase()
      #expect(try await Replica.summary(of: fixture.bucket).slots?.lowerBound == 2)
      try await Task.sleep(for: .milliseconds(300))
      try await writer.collect()
      #expect(try await Replica.summary(of: fixture.bucket).slots?.lowerBound ?? 0 > 2)
      try await writer.stop()
      #expect(try await fixture.restored() == ReplicaFixture.notes(of: store))
    }
  }

  /// A storage that runs a closure before the first download of a base, or that denies writes.
  private final class InterruptedStorage: ObjectStorage {
    private let storage: any ObjectStorage
    private let body: Mutex<(@Sendable () async throws -> Void)?>
    private let error = Mutex<(any Error)?>(nil)
    private let isReadOnly: Bool

    init(
      _ storage: any ObjectStorage, isReadOnly: Bool = false,
      _ body: (@Sendable () async throws -> Void)? = nil
    ) {
      self.storage = storage
      self.isReadOnly = isReadOnly
      self.body = Mutex(body)
    }

    var failure: (any Error)? { error.withLock { $0 } }
    var place: String { storage.place }

    func get(
      _ key: ObjectKey, range: Range<UInt64>?, byteLimit: Int
    ) async throws(StorageError) -> StoredObject {
      try await storage.get(key, range: range, byteLimit: byteLimit)
    }

    func download(
      _ key: ObjectKey, range: Range<UInt64>?, byteLimit: UInt64,
      take: @escaping @Sendable ([UInt8]) throws(StorageError) -> Void
    ) async throws(StorageError) -> ObjectHead {
      let body = body.withLock { body in
        defer { body = nil }
        return body
      }
      do { try await body?() } catch { self.error.withLock { $0 = error } }
      return try await storage.download(key, range: range, byteLimit: byteLimit, take: take)
    }

    func put(
      _ content: ObjectContent, at key: ObjectKey, if condition: PutCondition
    ) async throws(StorageError) -> ObjectTag {
      try checkWritable(.put, key)
      return try await storage.put(content, at: key, if: condition)
    }

    func head(_ key: ObjectKey) async throws(StorageError) -> ObjectHead {
      try await storage.head(key)
    }

    func list(
      prefix: String, after: String?, limit: Int
    ) async throws(StorageError) -> ObjectPage {
      try await storage.list(prefix: prefix, after: after, limit: limit)
    }

    func delete(_ key: ObjectKey) async throws(StorageError) {
      try checkWritable(.delete, key)
      try await storage.delete(key)
    }

    private func checkWritable(
      _ operation: StorageError.Operation, _ key: ObjectKey
    ) throws(StorageError) {
      guard isReadOnly else { return }
      throw StorageError(
        .denied, operation, key: key.text, place: place, reason: "the keys only read")
    }
  }
#endif

import Foundation
import Synchronization
import Testing

@testable import EntityStore

@Suite(.serialized) struct `Eviction of expired records` {
  @Test func `eviction removes a bounded number of records in each transaction`() throws {
    try withOffers { store, clock in
      let count = StoreCore.evictionBatchCount * 2 + 10
      try store.write { tx in
        _ = try tx.insert((0..<count).map { Offer("c\($0)", until: 1_010) })
        _ = try tx.insert(Offer("stays"))
      }
      clock.now = 1_010
      let before = try store.read { try $0.historyToken() }
      let report = try store.evict()
      #expect(report.batchCount == 3 && report.evictedCounts == ["Offer": count])
      let writes = try store.history(.after(before))
      #expect(writes.count == 3)
      #expect(writes.allSatisfy { $0.changes.count <= StoreCore.evictionBatchCount })
      #expect(writes.reduce(0) { $0 + $1.changes.expiredCount(in: "Offer") } == count)
      #expect(try store.fetch(Offer.all).map(\.code) == ["stays"])
    }
  }

  @Test func `eviction in several parts of one write reports every record as expired`() throws {
    try withOffers { store, clock in
      let ids = try store.write { tx in
        try tx.insert((0..<3).map { Offer("c\($0)", until: 1_010) }).ids.map(\.rawValue)
      }
      clock.now = 1_010
      let before = try store.read { try $0.historyToken() }
      try store.core.write(WriteOrigin(), .eviction, EntityStore.Savepoints()) { core in
        let entity = try core.entity(Offer.self)
        for part in [[ids[2]], [ids[0], ids[1]]] {
          #expect(try core.evict(part, of: entity, .expiry).isEmpty)
        }
      }
      let writes = try store.history(.after(before))
      #expect(writes.map { $0.changes.expiredCount(in: "Offer") } == [3])
    }
  }

  @Test func `eviction happens without a write, and at the opening`() async throws {
    let folder = try TemporaryFolder()
    let clock = TestClock()
    var options = clock.options
    options.evictionInterval = .milliseconds(20)
    let store = try Store(
      at: folder.storePath, entities: [Offer.self, Shop.self], options: options)
    try await store.insert(Offer("a", until: 1_010))
    clock.now = 1_020
    try await eventually { try store.storedCount(of: Offer.self) == 0 }
    try await store.insert(Offer("b", until: 1_030))
    store.close()
    clock.now = 1_040
    let again = try Store(
      at: folder.storePath, entities: [Offer.self, Shop.self], options: options)
    try await eventually { try again.storedCount(of: Offer.self) == 0 }
    again.close()
    try expectSound(folder.storePath)
  }

  /// The keeper, the background task that evicts, asks the clock for its pass and for each of its
  /// reads.
  @Test(arguments: 1...4)
  func `eviction happens whenever the date passes during a pass of the keeper`(call: Int)
    async throws
  {
    let calls = Mutex<Int?>(nil)
    var options = StoreOptions()
    options.evictionInterval = .milliseconds(20)
    options.now = {
      let isPast = calls.withLock { calls in
        calls? += 1
        return calls.map { $0 >= call } ?? false
      }
      return Date(timeIntervalSinceReferenceDate: isPast ? 1_020 : 1_000)
    }
    try await withTemporaryStore([Offer.self, Shop.self], options: options) { store in
      try await store.insert(Offer("a", until: 1_000.05))
      calls.withLock { $0 = 0 }
      try await eventually { calls.withLock { $0 ?? 0 } >= call }
      try await eventually { try store.storedCount(of: Offer.self) == 0 }
    }
  }

  @Test func `eviction leaves a record that cannot be removed, and no read returns it`() throws {
    try withTemporaryStore(
      [Coupon.self, Seat.self], options: TestClock().options
    ) { store in
      // The clock of these options shows 1,000, so both coupons have expired.
      let coupon = try store.write { tx in
        let kept = try tx.insert(Coupon(name: "kept", until: 999)).id
        _ = try tx.insert(Coupon(name: "goes", until: 999))
        _ = try tx.insert(Seat(coupon: kept))
        return kept
      }
      let report = try store.evict()
      #expect(report.evictedCount == 1 && report.heldCounts == ["Coupon": 1])
      #expect(try store.count(Coupon.all) == 0)
      #expect(try store.fetch(coupon) == nil)
      try store.write { tx in _ = try tx.delete(Seat.all) }
      let second = try store.evict()
      #expect(second.evictedCount == 1 && second.heldCount == 0)
    }
  }

  @Test func `eviction makes live results drop a record at its date`() async throws {
    let clock = TestClock()
    try await withTemporaryStore([Offer.self, Shop.self], options: clock.options) { store in
      // A store that waits for an expiry asks the clock again at least every fifth of a second.
      try await store.write { tx in
        _ = try tx.insert(Offer("short", until: 1_000.2))
        _ = try tx.insert(Offer("other", until: 1_001.2))
        _ = try tx.insert(Offer("long"))
      }
      var sizes: [[String]] = []
      for try await update in store.updates(of: Offer.all) {
        sizes.append(update.items.map(\.code))
        if sizes.count == 2 { break }
        clock.now = 1_001
      }
      #expect(sizes == [["short", "other", "long"], ["other", "long"]])
      #expect(try store.storedCount(of: Offer.self) == 3)
      var counts: [Int] = []
      for try await count in store.updates(ofCount: Offer.all) {
        counts.append(count)
        if counts.count == 2 { break }
        clock.now = 1_002
      }
      #expect(counts == [2, 1])
    }
  }

  /// The variable `LODESTORE_EXPIRY_KILLS` sets the number of killed processes.
  @Test func `eviction leaves the file whole when its process is killed`() async throws {
    let folder = try TemporaryFolder(isOnDisk: true)
    let path = folder.storePath
    let kills = SeededNumbers.environmentNumber("LODESTORE_EXPIRY_KILLS") ?? 4
    var numbers = SeededNumbers(salt: 7_801)
    for round in 0..<kills {
      let life = 20 + numbers.below(150)
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = path as String, life = life as Int, round = round as Int] in
        let clock = TestClock(Double(round) * 10)
        let store = try Store(
          at: path, entities: [Offer.self, Shop.self], options: clock.options)
        try await store.write { tx in
          _ = try tx.insert(
            (0..<6_000).map { Offer("c\(round)-\($0)", until: Double(round) * 10 + 5) })
        }
        Thread.detachNewThread {
          usleep(UInt32(life * 1_000))
          kill(getpid(), SIGKILL)
        }
        clock.now += 5
        _ = try await store.evict()
        while true { sleep(1) }
      }
      try expectSound(path)
      let clock = TestClock(Double(round) * 10 + 5)
      let store = try Store(
        at: path, entities: [Offer.self, Shop.self], options: clock.options)
      let shown = try await store.count(Offer.all)
      #expect(shown == 0)
      let left = try store.storedCount(of: Offer.self)
      let report: EvictionReport = try await store.evict()
      #expect(report.evictedCount == left)
      store.close()
    }
  }

  @Test func `eviction by several processes at once removes each record once`() async throws {
    let folder = try TemporaryFolder(isOnDisk: true)
    let path = folder.storePath
    let count = 3_000
    let clock = TestClock()
    let store = try Store(at: path, entities: [Offer.self, Shop.self], options: clock.options)
    try await store.write { tx in
      _ = try tx.insert((0..<count).map { Offer("c\($0)", until: 1_000 + Double($0 % 50)) })
    }
    await withTaskGroup(of: Void.self) { group in
      for process in 0..<2 {
        group.addTask {
          await #expect(processExitsWith: .success) {
            [path = path as String, process = process as Int] in
            let clock = TestClock()
            let store = try Store(
              at: path, entities: [Offer.self, Shop.self], options: clock.options)
            for moment in 0..<50 {
              clock.now = 1_000 + Double(moment)
              try await store.insert(Shop(name: "\(process)-\(moment)"))
            }
            store.close()
          }
        }
      }
    }
    clock.now = 1_049
    #expect(try store.storedCount(of: Offer.self) == 0)
    let expired = try await store.read { try $0.history(.all) }.reduce(0) {
      $0 + $1.changes.expiredCount(in: "Offer")
    }
    #expect(expired == count)
    store.close()
    try expectSound(path)
  }
}

/// A coupon that expires, unless a seat prevents its delete.
private struct Coupon: Entity {
  var id = RecordID<Coupon>()
  var name: String
  var validUntil: Date

  static let seats = ToMany<Coupon, Seat>(inverse: \.coupon, onDelete: .deny)

  static let schema = EntitySchema<Coupon>(
    "Coupon", attributes: [.init("name", \.name), .init("validUntil", \.validUntil)],
    relationships: [.init("seats", Coupon.seats)], expires: [\.validUntil])

  init(name: String, until: Double) {
    self.name = name
    validUntil = Date(timeIntervalSinceReferenceDate: until)
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(validUntil)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    validUntil = try reader.read()
  }
}

private struct Seat: Entity {
  var id = RecordID<Seat>()
  var coupon: RecordID<Coupon>?

  static let schema = EntitySchema<Seat>("Seat", attributes: [.toOne("coupon", \.coupon)])

  init(coupon: RecordID<Coupon>) { self.coupon = coupon }

  func encode(into writer: inout RecordWriter) { writer.write(coupon) }

  init(from reader: inout RecordReader) throws(StoreError) { coupon = try reader.read() }
}

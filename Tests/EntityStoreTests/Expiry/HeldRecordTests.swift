import Foundation
import Synchronization
import Testing

@testable import EntityStore

@Suite struct `Expired records that cannot be removed` {
  private static let entities: [any Entity.Type] = [Voucher.self, Claim.self, Holder.self]

  private func withVouchers<R>(_ body: (Store, TestClock) throws -> R) throws -> R {
    let clock = TestClock()
    return try withTemporaryStore(Self.entities, options: clock.options) { try body($0, clock) }
  }

  @Test func `an expired record stays, whatever error of a record its removal has`() {
    func holds(_ code: StoreError.Code) -> Bool { StoreError(code, "").canHoldRecord }
    for code in [
      .deleteDenied, .invalidValue, .damaged, .missingTarget, .endlessChanges, .unstorableValue,
      .uniqueViolation, .conditionFailed, .undecodableValue, .invalidQuery,
    ] as [StoreError.Code] {
      #expect(holds(code), "\(code)")
    }
    for code in [
      .diskFull, .mapFull, .closed, .readOnly, .sealed, .poisoned, .cancelled, .newerFormat, .busy,
      .inputOutput, .nestedWrite, .mismatchedFiles,
    ] as [StoreError.Code] {
      #expect(!holds(code), "\(code)")
    }
  }

  @Test func `expired records that must stay are found once for each batch, and writes skip them`()
    throws
  {
    try withVouchers { store, clock in
      let count = 5_000
      try store.write { tx in
        for number in 0..<count {
          let id = try tx.insert(Voucher("v\(number)", until: 1_000 + Double(number) / 1_000)).id
          _ = try tx.insert(Claim(voucher: id))
        }
        _ = try tx.insert(Voucher("free", until: 1_002))
      }
      clock.now = 1_010
      try store.write { _ = try $0.insert(Voucher("a")) }
      let held = store.core.unevictableRecords
      // The two batches have visited each held record once. Each later write visits only the first
      // held record.
      #expect(held.visitCount < count + 10)
      let first = held.visitCount
      for number in 0..<20 {
        clock.now += 1
        try store.write { _ = try $0.insert(Voucher("b\(number)", until: clock.now + 1.5)) }
      }
      // The records of these writes expire. A write visits only these, and no held record again.
      #expect(held.visitCount - first < 100)
      #expect(try store.storedCount(of: Voucher.self) == count + 1 + 2)
      #expect(try store.count(Voucher.all) == 3)
      let report = try store.evict()
      #expect(report.heldCounts == ["Voucher": count] && report.evictedCount == 0)
      let second = held.visitCount
      try store.write { _ = try $0.insert(Voucher("c")) }
      #expect(held.visitCount == second)
      let third = try Store(
        at: store.core.path, entities: Self.entities, options: clock.options)
      #expect(try third.evict().heldCount == count)
      try third.write { _ = try $0.insert(Voucher("d")) }
      let fourth = third.core.unevictableRecords.visitCount
      try third.write { _ = try $0.insert(Voucher("e")) }
      #expect(third.core.unevictableRecords.visitCount == fourth)
      third.close()
      try store.write { _ = try $0.delete(Claim.all) }
      #expect(try store.evict().evictedCount == count)
    }
  }

  @Test func `an expired record that must stay hides no new record with its date`() throws {
    let clock = TestClock()
    try withVouchers(with: clock) { store, path in
      try store.write { tx in
        for number in 0..<10 {
          let id = try tx.insert(Voucher("v\(number)", until: 1_000)).id
          _ = try tx.insert(Claim(voucher: id))
        }
      }
      clock.now = 1_100
      try store.write { _ = try $0.insert(Voucher("a")) }
      // Expired records are inserted by a single call, and then as a batch. The next write evicts
      // them.
      try store.write { _ = try $0.insert(Voucher("one", until: 900)) }
      try store.write { _ = try $0.insert(Voucher("b")) }
      #expect(try store.storedCount(of: Voucher.self) == 12)
      try store.write { tx in _ = try tx.insert((0..<99).map { Voucher("x\($0)", until: 950) }) }
      try store.write { _ = try $0.insert(Voucher("c")) }
      #expect(try store.storedCount(of: Voucher.self) == 13)
      try store.write { tx in
        try tx.update(Voucher.where { $0.code == "a" }) {
          $0.validUntil = Date(timeIntervalSinceReferenceDate: 990)
        }
      }
      try store.write { _ = try $0.insert(Voucher("d")) }
      #expect(try store.storedCount(of: Voucher.self) == 13)
      #expect(try store.fetch(Voucher.all).map(\.code) == ["b", "c", "d"])
      // Another store of the same file writes a record with the date of the held records. The next
      // write of this store must evict it.
      let other = try Store(at: path, entities: Self.entities, options: clock.options)
      try other.write { _ = try $0.insert(Voucher("other", until: 1_000)) }
      try store.write { _ = try $0.insert(Voucher("e")) }
      #expect(try store.storedCount(of: Voucher.self) == 14)
      other.close()
      // The first write afterwards visits all held records, and the next write visits none.
      let visits = store.core.unevictableRecords.visitCount
      try store.write { _ = try $0.insert(Voucher("f")) }
      #expect(store.core.unevictableRecords.visitCount == visits)
      let report = try store.evict()
      #expect(report.heldCount == 10 && report.evictedCount == 0)
    }
  }

  private func withVouchers(
    with clock: TestClock, _ body: (Store, String) throws -> Void
  ) throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: Self.entities, options: clock.options)
    try body(store, folder.storePath)
    store.close()
    try expectSound(folder.storePath)
  }

  @Test func `the keeper tries again to remove expired records after a write`() async throws {
    let clock = TestClock()
    var options = clock.options
    options.evictionInterval = .milliseconds(20)
    try await withTemporaryStore(Self.entities, options: options) { store in
      let claims = try await store.write { tx in
        try (0..<100).map { number in
          let id = try tx.insert(Voucher("v\(number)", until: 1_010)).id
          return try tx.insert(Claim(voucher: id)).id
        }
      }
      clock.now = 1_020
      let looked = store.core.unevictableRecords
      try await eventually { looked.visitCount >= 100 }
      #expect(try store.storedCount(of: Voucher.self) == 100)
      try await store.write { tx in for claim in claims { _ = try tx.delete(claim) } }
      try await eventually { try store.storedCount(of: Voucher.self) == 0 }
    }
  }

  @Test func `expired records of one entity leave the plans of others valid`() throws {
    try withVouchers { store, clock in
      try store.write { tx in
        let id = try tx.insert(Voucher("v", until: 1_010)).id
        _ = try tx.insert(Claim(voucher: id))
      }
      clock.now = 1_020
      try store.write { _ = try $0.insert(Holder(voucher: nil, note: "a")) }
      let holders = Holder.where { $0.note > "0" }
      func plan<E: Entity>(_ query: Query<E>) throws -> QueryPlan {
        try store.core.read { try $0.plan(try query.request(), for: try $0.entity(E.self)) }
      }
      _ = try plan(holders)
      let second = try plan(holders)
      #expect(try plan(holders) === second)
      let vouchers = Voucher.where { $0.code > "0" }
      _ = try plan(vouchers)
      let other = try plan(vouchers)
      #expect(try plan(vouchers) !== other)
    }
  }

  @Test func `expired records in a sealed file have no keeper`() throws {
    let folder = try TemporaryFolder()
    let clock = TestClock()
    var options = clock.options
    let store = try Store(at: folder.storePath, entities: Self.entities, options: options)
    try store.write { _ = try $0.insert(Voucher("v", until: 1_010)) }
    let path = folder.path + "/sealed.lodestore"
    try store.seal(
      to: path, name: "vouchers", generation: 1, dataAsOf: Date(timeIntervalSinceReferenceDate: 0))
    store.close()
    clock.now = 1_020
    options.evictionInterval = .seconds(60)
    let sealed = try Store(at: path, entities: Self.entities, options: options)
    var isMade = false
    _ = sealed.companions.companion {
      isMade = true
      return EvictionKeeper(sealed.core, interval: .seconds(60))
    }
    #expect(isMade && sealed.builder == nil)
    #expect(try sealed.count(Voucher.all) == 0)
    sealed.close()
  }

  // MARK: Live values

  @Test func `expired records, also those that expire during a read, are in no later live value`()
    async throws
  {
    let clock = TestClock()
    try await withTemporaryStore(Self.entities, options: clock.options) { store in
      try await store.write { _ = try $0.insert(Voucher("v", until: 1_000.1)) }
      let runs = Mutex(0)
      let counts = Mutex([Int]())
      let values = store.updates { snapshot in
        let count = try snapshot.count(Voucher.all)
        let run = runs.withLock { runs in
          runs += 1
          return runs
        }
        // The first run determines which records are read. During the second run the date passes.
        if run == 2 {
          clock.now = 1_001
          usleep(500_000)
        }
        return count
      }
      let loop = Task {
        for try await count in values { counts.withLock { $0.append(count) } }
      }
      try await eventually { counts.withLock { $0 } == [1, 0] }
      loop.cancel()
      _ = try await loop.value
    }
  }

  @Test func `expired records leave live values if the clock is set ahead of another date`()
    async throws
  {
    let clock = TestClock()
    try await withTemporaryStore(Self.entities, options: clock.options) { store in
      try await store.write { tx in
        let id = try tx.insert(Voucher("kept", until: 1_050)).id
        _ = try tx.insert(Claim(voucher: id))
      }
      let counts = Mutex([Int]())
      let loop = Task {
        for try await count in store.updates(ofCount: Voucher.where { $0.code == "kept" }) {
          counts.withLock { $0.append(count) }
        }
      }
      try await eventually { counts.withLock { $0 } == [1] }
      clock.now = 1_100
      try await store.write { _ = try $0.insert(Voucher("near", until: 1_100.1)) }
      try await eventually { counts.withLock { $0 } == [1, 0] }
      loop.cancel()
      _ = try await loop.value
    }
  }

  @Test func `an expiry wakes an observer unless the observer has read after the date`() {
    let observer = Observer()
    observer.wake(5, at: 10)
    observer.start(at: 5, 9)
    #expect(observer.hasNews)
    // While the observer is not served, wake-ups of many commits become one.
    for commit in 6..<40 { observer.wake(UInt64(commit)) }
    observer.start(at: 50, 9)
    #expect(observer.hasNews)
    observer.start(at: 50, 10)
    #expect(!observer.hasNews)
  }
}

/// A voucher, which a claim keeps from being deleted.
private struct Voucher: Entity {
  struct Attributes: Sendable {
    var code: Attribute<Voucher, String> { .init(0) }
    var validUntil: Attribute<Voucher, Date?> { .init(1) }
  }

  var id = RecordID<Voucher>()
  var code: String
  var validUntil: Date?

  static var attributes: Attributes { Attributes() }
  static let claims = ToMany<Voucher, Claim>(inverse: \.voucher, onDelete: .deny)
  static let holders = ToMany<Voucher, Holder>(inverse: \.voucher)

  static let schema = EntitySchema<Voucher>(
    "Voucher", attributes: [.init("code", \.code), .init("validUntil", \.validUntil)],
    unique: [[\.code]],
    relationships: [.init("claims", Voucher.claims), .init("holders", Voucher.holders)],
    expires: [\.validUntil])

  init(_ code: String, until: Double? = nil) {
    self.code = code
    validUntil = until.map { Date(timeIntervalSinceReferenceDate: $0) }
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(code)
    writer.write(validUntil)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    code = try reader.read()
    validUntil = try reader.read()
  }
}

private struct Claim: Entity {
  var id = RecordID<Claim>()
  var voucher: RecordID<Voucher>?

  static let schema = EntitySchema<Claim>("Claim", attributes: [.toOne("voucher", \.voucher)])

  init(voucher: RecordID<Voucher>) { self.voucher = voucher }

  func encode(into writer: inout RecordWriter) { writer.write(voucher) }

  init(from reader: inout RecordReader) throws(StoreError) { voucher = try reader.read() }
}

/// The holder of a voucher; a delete of the voucher clears the reference.
private struct Holder: Entity {
  struct Attributes: Sendable {
    var note: Attribute<Holder, String> { .init(1) }
  }

  var id = RecordID<Holder>()
  var voucher: RecordID<Voucher>?
  var note: String

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Holder>(
    "Holder", attributes: [.toOne("voucher", \.voucher), .init("note", \.note)])

  init(voucher: RecordID<Voucher>?, note: String) {
    self.voucher = voucher
    self.note = note
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(voucher)
    writer.write(note)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    voucher = try reader.read()
    note = try reader.read()
  }
}

#if Datasets
  import EntityStore
  import Foundation
  import LodestoreBytes
  import LodestoreFormat
  import LodestoreVerifier
  import Testing

  @testable import LodestoreReplicas

  /// Replicas whose objects were changed and sealed again, so that all checksums fit.
  ///
  /// `LODESTORE_CASES` is the number of changed replicas, and `LODESTORE_SEED` repeats them.
  @Suite("Hostile objects of replicas", .timeLimit(.minutes(30)))
  struct HostileEntryTests {
    @Test func `A hostile entry ends in an error in words, and damages no copy`() async throws {
      let count = SeededChanges.caseCount(byDefault: 4)
      let replica = try await HostileReplica()
      for number in 0..<count {
        let seed = SeededChanges.runSeed &+ UInt64(number)
        print("LODESTORE_SEED=\(seed) LODESTORE_CASES=1")
        var random = SeededRandom(seed: seed)
        let fixture = try replica.copy()
        let words = try replica.change(fixture, &random)
        try await expectNoDamage(fixture, "seed \(seed): \(words)")
      }
    }

    /// Uses a hostile replica in each way.
    private func expectNoDamage(_ fixture: ReplicaFixture, _ words: String) async throws {
      await expectErrorInWords("restore: \(words)") {
        let path = fixture.path("restored.lodestore")
        try await Replica.restore(fixture.bucket, at: path)
        try ReplicaFixture.expectSound(path)
      }
      await expectErrorInWords("plan: \(words)") {
        _ = try await Replica.restorePlan(fixture.bucket, to: .write(12))
      }
      await expectErrorInWords("restore of a write: \(words)") {
        let path = fixture.path("restored-12.lodestore")
        try await Replica.restore(fixture.bucket, to: .write(12), at: path)
        try ReplicaFixture.expectSound(path)
      }
      for (name, condition) in [("new copy", nil), ("copy", nil), ("part", "age > 3")] {
        await expectErrorInWords("follower '\(name)': \(words)") {
          let follower = try await fixture.follower(name, Band.entities) {
            $0.onStatus = { _ = $0.metrics() }
            if let condition { $0.conditions = ["Fan": condition] }
          }
          await expectErrorInWords("poll of '\(name)': \(words)") {
            try await follower.catchUp()
          }
          await follower.stop()
          let path = follower.store.path
          follower.store.close()
          try ReplicaFixture.expectSound(path)
        }
      }
      await expectErrorInWords("summary: \(words)") {
        _ = try await Replica.summary(of: fixture.bucket, failureLimit: 1)
      }
      let store = try HostileReplica.open(fixture)
      await expectErrorInWords("writer: \(words)") {
        let writer = try await fixture.writer(store) { $0.retention = .zero }
        try await writer.flush()
        await expectErrorInWords("base: \(words)") { try await writer.writeBase() }
        await expectErrorInWords("collection: \(words)") { try await writer.collect() }
        try await writer.stop()
      }
      store.close()
      try ReplicaFixture.expectSound(store.path)
      await expectErrorInWords("takeover: \(words)") {
        let path = fixture.path("new.lodestore")
        var options = ReplicaRestoreOptions()
        options.ignoresLease = true
        _ = try await Replica.takeOver(fixture.bucket, at: path, options: options)
        try ReplicaFixture.expectSound(path)
      }
    }
  }

  /// A replica of bands, copies of which are made hostile.
  struct HostileReplica {
    private let original: ReplicaFixture

    static func open(_ fixture: ReplicaFixture) throws -> Store {
      try Store(
        at: fixture.path("store.lodestore"), entities: Band.entities, options: Note.options)
    }

    init() async throws {
      original = try ReplicaFixture()
      let store = try Self.open(original)
      var random = SeededRandom(seed: 47)
      for _ in 0..<20 { try Band.change(store, &random) }
      let writer = try await original.writer(store) { $0.durability = .replicated }
      try await writer.flush()
      for name in ["copy", "part"] {
        let follower = try await original.follower(name, Band.entities) {
          if name == "part" { $0.conditions = ["Fan": "age > 3"] }
        }
        try await follower.catchUp()
        await follower.stop()
        follower.store.close()
      }
      for _ in 0..<12 {
        for _ in 0...random.below(3) { try Band.change(store, &random) }
        try await writer.flush()
      }
      try await writer.stop()
      store.close()
    }

    func copy() throws -> ReplicaFixture {
      let fixture = try ReplicaFixture()
      for folder in ["bucket", "copy", "part", "store.lodestore"] {
        try? FileManager.default.removeItem(atPath: fixture.path(folder))
        try FileManager.default.copyItem(
          atPath: original.path(folder), toPath: fixture.path(folder))
      }
      return fixture
    }

    // MARK: Changes

    /// Changes one entry, and seals it and all entries after it again.
    ///
    /// - Returns: The change in words.
    func change(_ fixture: ReplicaFixture, _ random: inout SeededRandom) throws -> String {
      let folder = fixture.bucketPath + "/log/"
      let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        .filter { $0.hasSuffix(".lsc") }.sorted()
      var entries = try names.map { name in
        let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: folder + name)))
        return try LogEntry(reading: bytes)
      }
      // The copies are before most of the entries.
      let place = entries.count - 1 - random.below(entries.count - 3)
      var change = HostileChange(random: random)
      let entry = try change.changed(entries[place])
      random = change.random
      guard let entry else { return "nothing" }
      var previous = entry.hash
      entries[place] = entry
      for index in entries.indices.dropFirst(place + 1) {
        var head = entries[index].head
        head.previous = previous
        let body = PackBody(
          bytes: Array(entries[index].bytes[entries[index].bodyStart...]),
          changeCount: head.changeCount, stepCount: head.stepCount,
          unpackedLength: head.unpackedLength)
        entries[index] = try LogEntry(head, body)
        previous = entries[index].hash
      }
      for (name, entry) in zip(names, entries) {
        try Data(entry.bytes).write(to: URL(fileURLWithPath: folder + name))
      }
      return "slot \(entry.head.slot): \(change.words)"
    }
  }

  /// One random change of an entry.
  struct HostileChange {
    var random: SeededRandom
    private(set) var words = ""

    init(random: SeededRandom) { self.random = random }

    /// Numbers at which sums overflow or ids end.
    private mutating func number() -> UInt64 {
      let numbers: [UInt64] = [
        0, 1, 2, 3, 255, 1 << 31, 1 << 32 - 1, 1 << 53 - 1, 1 << 62, 1 << 63 - 2, 1 << 63 - 1,
        1 << 63, .max - 1, .max,
      ]
      return numbers[random.below(numbers.count)]
    }

    private mutating func id() -> UInt64 { min(max(number(), 1), 1 << 63 - 1) }

    /// Returns the changed entry; `nil` if the codec does not write the change.
    mutating func changed(_ entry: LogEntry) throws -> LogEntry? {
      var head = entry.head
      var body = PackBody(
        bytes: Array(entry.bytes[entry.bodyStart...]), changeCount: head.changeCount,
        stepCount: head.stepCount, unpackedLength: head.unpackedLength)
      // Without digests only the rules of the store refuse wrong content.
      if random.below(2) == 0 {
        head.digests = [:]
        words += "without digests, "
      }
      if head.kind != .pack || random.below(4) == 0 {
        changeHead(&head)
      } else {
        guard var unit = try ReplayUnit.units(of: [entry]).first else { return nil }
        if head.digests.isEmpty { unit.end.digests = nil }
        for _ in 0...random.below(2) { changeUnit(&unit) }
        do {
          var writer = try PackWriter()
          try writer.add(unit)
          body = try writer.finish()
        } catch { return nil }
      }
      return try? LogEntry(head, body)
    }

    private mutating func changeHead(_ head: inout EntryHead) {
      let choice = random.below(9)
      words += "head \(choice)"
      switch choice {
      case 0: head.epoch = number()
      case 1: head.lastWrite = number()
      case 2: head.firstWrite = number()
      case 3: head.time = [-1e300, 1e300, -1e12, 1e15, 0][random.below(5)]
      case 4: head.schema[random.below(32)] ^= 1
      case 5: head.part = EntryHead.Part(number: number(), continues: random.below(2) == 0)
      case 6: head.kind = EntryHead.Kind.allCases[random.below(4)]
      case 7: head.session = UUIDBytes(high: random.next(), low: random.next())
      default:
        head.kind = .base
        head.firstWrite = nil
        head.base = .base(slot: min(max(number(), 1), 1 << 53 - 1), verity: random.next(), .head)
      }
    }

    private mutating func changeUnit(_ unit: inout ReplayUnit) {
      let choice = random.below(16)
      words += "unit \(choice) "
      guard !unit.steps.isEmpty || choice > 11 else { return }
      let place = unit.steps.isEmpty ? 0 : random.below(unit.steps.count)
      switch choice {
      case 0, 1, 2, 3: unit.steps[place].changeRecords { change(&$0, of: $1) }
      case 4: unit.steps[place].records.removeAll()
      case 5:
        let runs = IDRuns([1..<UInt64(2 + random.below(1 << 20))])
        unit.steps[place].deleted.append(
          ReplayStep.Deleted(entity: EntityNumber(UInt32(random.below(4))), ids: runs))
      case 6:
        let first = min(id(), 1 << 63 - 1)
        unit.steps[place].deleted.append(
          ReplayStep.Deleted(
            entity: EntityNumber(UInt32(1 + random.below(2))), ids: IDRuns([first..<first + 1])))
      case 7:
        let kinds: [HistoryPart.Links.Kind] = [.added, .removed, .moved]
        unit.steps[place].links.append(
          HistoryPart.Links(
            relationship: UInt32(random.below(5)), kind: kinds[random.below(3)],
            pairs: [LinkPair(from: id(), to: id())]))
      case 8:
        unit.steps[place].replacedEntities = [EntityNumber(UInt32(1 + random.below(4)))]
      case 9: unit.steps[place].replacedRelationships = [UInt32(1 + random.below(4))]
      case 10:
        unit.steps[place].time = [-1e300, 1e300, -.greatestFiniteMagnitude, 1e12][random.below(4)]
        unit.steps[place].author = String(repeating: "é\u{0}", count: 1 << random.below(12))
      case 11: unit.steps[place].moveRecords(to: id())
      case 12: unit.end.nextIDs[EntityNumber(UInt32(1 + random.below(3)))] = min(number(), 1 << 63)
      case 13:
        let places = (0...random.below(3)).map { _ in
          ReplayPlace(owner: id(), other: id(), previous: random.below(2) == 0 ? 0 : id())
        }
        unit.end.places.append(
          ReplayPlaces(
            relationship: UInt32(1 + random.below(4)), side: random.below(2) == 0 ? .from : .to,
            holder: random.below(2) == 0 ? nil : EntityNumber(UInt32(1 + random.below(3))),
            places: places))
      case 14:
        let name = ["lodestore.replica", "b0", "\u{1}", String(repeating: "x", count: 64)]
        unit.end.buckets.append(
          ReplayBucket(
            name: name[random.below(4)],
            pairs: [ReplayBucket.Pair(key: [UInt8](repeating: 1, count: 400), value: [])]))
      default: (unit.end.after, unit.end.last) = (number(), number())
      }
    }

    /// Changes bytes of a record, also those of its header.
    private mutating func change(_ record: inout [UInt8], of id: UInt64) {
      let content = record.count - RecordLayout.checksumSize
      switch random.below(4) {
      case 0: record.insert(0xff, at: random.below(content))
      case 1 where content > 8: record.remove(at: random.below(content))
      case 2: record[random.below(content)] = [0, 0x7f, 0x80, 0xff][random.below(4)]
      default: record[random.below(content)] ^= 1 << UInt8(random.below(8))
      }
      guard record.count >= RecordLayout.headerSize + RecordLayout.checksumSize else { return }
      record._withMutableBytes { Checksum.seal($0, id: id) }
    }
  }

  extension ReplayStep {
    /// Changes the bytes of one record of each entity.
    mutating func changeRecords(_ change: (inout [UInt8], UInt64) -> Void) {
      for block in records.indices {
        let old = records[block]
        var new = Records(of: old.entity)
        for (index, id) in old.ids.enumerated() {
          var bytes = Array(old.bytes[old.range(at: index)])
          if index == old.ids.count / 2 { change(&bytes, id) }
          new.append(id, bytes)
        }
        records[block] = new
      }
    }

    /// Gives the last record of each entity another id.
    mutating func moveRecords(to id: UInt64) {
      for block in records.indices {
        let old = records[block]
        var new = Records(of: old.entity)
        for (index, known) in old.ids.enumerated() {
          let isLast = index == old.ids.count - 1
          var bytes = Array(old.bytes[old.range(at: index)])
          if isLast { bytes._withMutableBytes { Checksum.seal($0, id: id) } }
          new.append(isLast ? id : known, bytes)
        }
        records[block] = new
      }
    }
  }
#endif

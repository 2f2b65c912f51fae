#if Datasets
  import EntityStore
  import LodestoreBytes
  import LodestoreDatasets
  import LodestoreFormat
  import Testing

  @testable import LodestoreReplicas

  @Suite("Damaged entries of a replica's log")
  struct PackDamageTests {
    @Test func `every damaged byte of an entry is found`() throws {
      var changes = SeededChanges(salt: 1)
      let steps = changes.steps(4)
      let entry = try Entries.entry(steps, [changes.bucket("settings")])
      for offset in entry.bytes.indices {
        let bits = [UInt8(1), 0x80, .random(in: 1...255, using: &changes)]
        var bytes = entry.bytes
        bytes[offset] ^= bits.randomElement(using: &changes) ?? 1
        #expect(throws: PackError.self, "byte \(offset)") { try LogEntry(reading: bytes) }
      }
    }

    @Test func `every shortened or lengthened entry is found`() throws {
      var changes = SeededChanges(salt: 2)
      let entry = try Entries.entry(changes.steps(4))
      for count in entry.bytes.indices {
        let bytes = Array(entry.bytes.prefix(count))
        #expect(throws: PackError.self, "\(count) bytes") { try LogEntry(reading: bytes) }
      }
      #expect(throws: PackError.self) { try LogEntry(reading: entry.bytes + [0]) }
    }

    /// A writer with a fault, or an attacker, gives wrong bytes the right hashes.
    @Test func `damaged blocks with right hashes are refused or have sound steps`() throws {
      var refused = 0
      for round in 0..<SeededChanges.caseCount(byDefault: 300) {
        var changes = SeededChanges(salt: 3 + UInt64(round % 50))
        let block = try Self.block(changes.steps(8))
        var generator = SeededChanges(salt: 1_000 + UInt64(round))
        var damaged = block
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
          let place = Int.random(in: 0..<damaged.count, using: &generator)
          switch Int.random(in: 0..<4, using: &generator) {
          case 0: damaged[place] = 0xff
          case 1: damaged.remove(at: place)
          case 2: damaged.insert(.random(in: 0...255, using: &generator), at: place)
          default: damaged[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
          }
        }
        guard let steps = try? Self.decode(damaged) else {
          refused += 1
          continue
        }
        // Accepted steps can be written again, and then read as they are.
        #expect(try Self.decode(try Self.block(steps)) == steps)
      }
      #expect(refused > 0)
    }

    @Test func `a huge count ends with the bytes of its column`() throws {
      let block = try Self.block([Self.stepOfAll()])
      let huge: [UInt8] = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]
      for place in 1..<block.count {
        var damaged = block
        damaged.replaceSubrange(place..<place + 1, with: huge)
        #expect(throws: FormatError.self) { try Self.decode(damaged) }
      }
    }

    @Test func `an entry with other counts than its head is refused`() throws {
      var changes = SeededChanges(salt: 5)
      let steps = changes.steps(9)
      let body = try Entries.body(steps)
      let last = steps[8].writes.upperBound
      let wrong = [
        (body.changeCount + 1, body.stepCount, body.unpackedLength, last),
        (body.changeCount, body.stepCount + 1, body.unpackedLength, last),
        (body.changeCount, body.stepCount, body.unpackedLength + 1, last),
        (body.changeCount, body.stepCount, body.unpackedLength - 1, last),
        (body.changeCount, body.stepCount, body.unpackedLength, last - 1),
      ]
      for (changeCount, stepCount, length, lastWrite) in wrong {
        let other = PackBody(
          bytes: body.bytes, changeCount: changeCount, stepCount: stepCount, unpackedLength: length)
        let entry = try LogEntry(Entries.head(max(lastWrite, 1)), other)
        let error = try #require(throws: PackError.self) { try entry.content() }
        #expect(error.code == .damaged)
      }
    }

    @Test func `a body that ends within a write is refused`() throws {
      var changes = SeededChanges(salt: 6)
      var steps = changes.steps(3)
      steps[2].continues = true
      let open = try Entries.entry(steps)
      #expect(throws: PackError.self) { try open.content() }
      var head = Entries.head(steps[2].writes.upperBound)
      head.digests = [:]
      head.part.continues = true
      #expect(try LogEntry(head, try Entries.body(steps)).content().steps == steps)
    }

    @Test func `a body whose lengths lead elsewhere is refused`() throws {
      var changes = SeededChanges(salt: 7)
      let body = try Entries.body(changes.steps(4))
      let huge = littleEndianBytes(UInt32.max)
      let bodies: [[UInt8]] = [
        Array(body.bytes.prefix(7)), Array(body.bytes.dropLast()), huge + body.bytes.dropFirst(4),
        Array(body.bytes[..<4]) + huge + body.bytes.dropFirst(8), body.bytes + [0],
        [0, 0, 0, 0] + body.bytes.dropFirst(4),
      ]
      for bytes in bodies {
        let other = PackBody(
          bytes: bytes, changeCount: body.changeCount, stepCount: body.stepCount,
          unpackedLength: body.unpackedLength)
        let entry = try LogEntry(Entries.head(1 << 20), other)
        #expect(throws: PackError.self) { try entry.content() }
      }
    }

    @Test func `a block of an unknown kind is one of a newer format`() throws {
      let block: [UInt8] = [9, 1, 2, 3]
      let encoder = try ZstdEncoder(level: 3)
      var frame = [UInt8](repeating: 0, count: ZstdEncoder.limit(of: block.count))
      let count = try frame._withMutableBytes { frame in
        try block._withBytes { try encoder.pack($0, to: frame) }
      }
      frame.removeLast(frame.count - (count ?? 0))
      let bytes = littleEndianBytes(UInt32(frame.count)) + littleEndianBytes(UInt32(4)) + frame
      let entry = try LogEntry(
        Entries.head(1), PackBody(bytes: bytes, changeCount: 0, stepCount: 0, unpackedLength: 4))
      let error = try #require(throws: PackError.self) { try entry.content() }
      #expect(error.code == .newerFormat && error.slot == 1)
      #expect(error.message.contains("the unknown kind 9"))
    }

    @Test func `hostile ids are refused`() throws {
      let wrong: [(inout ReplayStep) -> Void] = [
        { $0.records[0] = Self.records([0]) }, { $0.records[0] = Self.records([1 << 63]) },
        { $0.records[0] = Self.records([5, 5]) }, { $0.records[0] = Self.records([6, 5]) },
        { $0.records[0] = ReplayStep.Records(of: 1) },
        { $0.deleted[0].ids = IDRuns([0..<2]) },
        { $0.deleted[0].ids = IDRuns([1 << 63..<1 << 63 + 1]) }, { $0.deleted[0].ids = IDRuns() },
        { $0.deleted[0].entity = 0 }, { $0.links[0].pairs = [] },
        { $0.links[0].pairs = [LinkPair(from: 0, to: 1)] },
        { $0.links[0].pairs = [LinkPair(from: 1, to: .max)] },
        { $0.links[0].pairs = [LinkPair(from: 1, to: 2), LinkPair(from: 1, to: 2)] },
        { $0.replacedEntities = [0] }, { $0.replacedEntities = [2, 2] },
        { $0.replacedRelationships = [3, 2] }, { $0.nextIDs = [1: 0] },
        { $0.nextIDs = [1: 1 << 63 + 1] }, { $0.nextIDs = [0: 1] },
      ]
      for (index, change) in wrong.enumerated() {
        var step = Self.stepOfAll()
        #expect(try Self.decode(try Self.block([step])) == [step])
        change(&step)
        let block = try Self.block([step])
        #expect(throws: FormatError.self, "case \(index)") { try Self.decode(block) }
      }
    }

    @Test func `hostile places are refused`() throws {
      let places = ReplayPlaces(
        relationship: 1, side: .from, holder: 2,
        places: [ReplayPlace(owner: 1, other: 2, previous: 0)])
      var end = ReplayEnd(
        storeID: Entries.store.bytes, after: 4, last: 6, schema: Entries.hash,
        digests: ReplayDigests(
          contents: [:], bucketTotal: [UInt8](repeating: 1, count: 16),
          buckets: ["a": [UInt8](repeating: 2, count: 16)]))
      (end.places, end.nextIDs) = ([places], [1: 9])
      let wrong: [(inout ReplayEnd) -> Void] = [
        { $0.places[0].places[0].owner = 0 }, { $0.places[0].places[0].other = 1 << 63 },
        { $0.places[0].places[0].previous = $0.places[0].places[0].other },
        { $0.places[0].places = [] }, { $0.places[0].relationship = 0 }, { $0.nextIDs = [0: 1] },
        { $0.nextIDs = [1: 0] }, { $0.last = 3 }, { $0.last = 1 << 63 },
      ]
      func decoded(_ end: ReplayEnd) throws -> UnitEnd {
        try UnitEnd(end).encoded()._withBytes { try UnitEnd(decoding: $0[1...]) }
      }
      #expect(try decoded(end) == UnitEnd(end))
      for (index, change) in wrong.enumerated() {
        var other = end
        change(&other)
        #expect(throws: FormatError.self, "case \(index)") { try decoded(other) }
      }
      let block = try UnitEnd(end).encoded()
      for count in 1..<block.count {
        #expect(throws: FormatError.self) {
          try block._withBytes { try UnitEnd(decoding: $0[1..<count]) }
        }
      }
    }

    @Test func `a few bytes cannot state more deleted records than the limit`() throws {
      var step = ReplayStep(writes: 1...1, time: 0, author: nil, context: nil)
      step.deleted = [
        ReplayStep.Deleted(entity: 1, ids: IDRuns([1..<UInt64(PackLimits.deletedRecords) + 2]))
      ]
      let block = try Self.block([step])
      #expect(throws: FormatError.self) { try Self.decode(block) }
    }

    static func records(_ ids: [UInt64]) -> ReplayStep.Records {
      var records = ReplayStep.Records(of: 1)
      for id in ids { records.append(id, [1, 0, 5, 6, 7, 8]) }
      return records
    }

    /// A step with a change of each kind.
    static func stepOfAll() -> ReplayStep {
      var step = ReplayStep(writes: 1...1, time: 0, author: "a", context: nil)
      step.records = [records([1, 2])]
      step.deleted = [ReplayStep.Deleted(entity: 1, ids: IDRuns([3..<4]))]
      step.links = [
        HistoryPart.Links(relationship: 1, kind: .added, pairs: [LinkPair(from: 1, to: 2)])
      ]
      step.replacedEntities = [3]
      step.replacedRelationships = [2]
      step.nextIDs = [1: 4]
      return step
    }

    static func block(_ steps: [ReplayStep]) throws(FormatError) -> [UInt8] {
      var encoder = StepEncoder()
      for step in steps { try encoder.add(step) }
      return encoder.encoded()
    }

    static func decode(_ block: [UInt8]) throws(FormatError) -> [ReplayStep] {
      try block._withBytes { (bytes) throws(FormatError) in
        var decoder = try StepDecoder(
          bytes[min(1, bytes.count)...], deletedLimit: UInt64(PackLimits.deletedRecords))
        return try decoder.steps()
      }
    }
  }
#endif

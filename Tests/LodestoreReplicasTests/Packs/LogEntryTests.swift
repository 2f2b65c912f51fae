#if Datasets
  import EntityStore
  import LodestoreBytes
  import LodestoreFormat
  import Testing

  @testable import LodestoreReplicas

  @Suite("Entries of a replica's log")
  struct LogEntryTests {
    @Test func `an entry has the steps and buckets that were packed`() throws {
      for round in 0..<SeededChanges.caseCount(byDefault: 60) {
        var changes = SeededChanges(salt: UInt64(round))
        let steps = changes.steps(.random(in: 1...60, using: &changes))
        let buckets = round % 3 == 0 ? [changes.bucket("a"), changes.bucket("b")] : []
        let entry = try Entries.entry(steps, buckets)
        let read = try LogEntry(reading: entry.bytes, slot: 1)
        #expect(read == entry)
        let content = try read.content()
        #expect(content.steps == steps, "round \(round), \(SeededChanges.replay)")
        #expect(content.buckets == buckets)
        let changeCount = steps.reduce(0) { $0 + $1.changeCount }
        #expect(read.head.changeCount == UInt64(changeCount))
        #expect(read.head.stepCount == UInt64(steps.count))
      }
    }

    @Test func `entries without a body keep their heads`() throws {
      var fence = EntryHead(
        .fence, epoch: 3, slot: 9, previous: Entries.hash, store: Entries.store,
        session: Entries.session, lastWrite: 1 << 62, time: -1.5, schema: Entries.hash)
      fence.writer = "machine 2"
      var base = fence
      base.kind = .base
      base.base = .base(slot: 8, verity: 0x0123_4567_89ab_cdef, .head)
      var empty = fence
      empty.kind = .empty
      for head in [fence, base, empty] {
        let read = try LogEntry(reading: try LogEntry(head).bytes, slot: 9)
        #expect(read.head == head)
        #expect(try read.content().steps.isEmpty)
      }
    }

    @Test func `a head that contradicts itself is neither written nor read`() throws {
      let right = Entries.head(5)
      let wrong: [(inout EntryHead) -> Void] = [
        { $0.slot = 0 }, { $0.epoch = 0 }, { $0.previous = Entries.hash },
        { $0.slot = 2 }, { $0.schema = [1] }, { $0.firstWrite = nil }, { $0.firstWrite = 7 },
        { $0.firstWrite = 0 }, { $0.kind = .fence }, { $0.base = .base(slot: 8, verity: 1, .head) },
        {
          $0 = Entries.head(5)
          $0.kind = .base
          $0.firstWrite = nil
          $0.base = .base(slot: 8, verity: 1, .file)
        }, { $0.time = .nan },
        { $0.lastWrite = 1 << 62 + 1 }, { $0.part = .init(number: 1, continues: true) },
        { $0.part.number = 0 }, { $0.merged = .init(firstSlot: 2, lastEntry: Entries.hash) },
        { $0.merged = .init(firstSlot: 1, lastEntry: []) },
        { $0.writer = String(repeating: "x", count: 257) },
      ]
      for change in wrong {
        var head = right
        change(&head)
        #expect(throws: PackError.self) { try LogEntry(head) }
        // Another program could have written the same head.
        let bytes = Self.bytes(head.document(bodyLength: 0, bodySHA256: []))
        #expect(throws: PackError.self) { try LogEntry(reading: bytes) }
      }
    }

    @Test func `an entry of a later version or kind is refused as newer`() throws {
      var bytes = try LogEntry(Entries.head(1)).bytes
      bytes[8] = 2
      let version = try #require(throws: PackError.self) { try LogEntry(reading: bytes) }
      #expect(version.code == .newerFormat)
      guard case .object(var members) = Entries.head(1).document(bodyLength: 0, bodySHA256: [])
      else { return }
      members["kind"] = .string("later")
      let later = Self.bytes(.object(members))
      let kind = try #require(throws: PackError.self) { try LogEntry(reading: later) }
      #expect(kind.code == .newerFormat)
    }

    @Test func `members that this library does not know are ignored`() throws {
      guard case .object(var members) = Entries.head(1).document(bodyLength: 0, bodySHA256: [])
      else { return }
      members["later"] = .array([.null])
      #expect(try LogEntry(reading: Self.bytes(.object(members))).head == Entries.head(1))
    }

    @Test func `an entry under another name is refused`() throws {
      let bytes = try LogEntry(Entries.head(1)).bytes
      let error = try #require(throws: PackError.self) { try LogEntry(reading: bytes, slot: 2) }
      #expect(error.code == .damaged && error.slot == 2)
    }

    @Test func `the codec refuses steps that a follower could not apply`() throws {
      var step = ReplayStep(writes: 1...1, time: .infinity, author: nil, context: nil)
      #expect(throws: PackError.self) { try Entries.body([step]) }
      step.time = 0
      step.deleted = [ReplayStep.Deleted(entity: 1, ids: IDRuns([1..<1 << 40]))]
      let error = try #require(throws: PackError.self) { try Entries.body([step]) }
      #expect(error.code == .tooLarge)
    }

    @Test func `ten thousand writes of one small record take at most 200 bytes each`() throws {
      var changes = SeededChanges(salt: 77)
      let steps = (1...10_000 as ClosedRange<UInt64>).map { number in
        var step = ReplayStep(
          writes: number...number, time: 8e8 + Double(number) / 10_000, author: "app",
          context: "insert")
        var records = ReplayStep.Records(of: 2)
        records.append(number, (0..<60).map { _ in UInt8.random(in: 0...255, using: &changes) })
        step.records = [records]
        return step
      }
      let entry = try Entries.entry(steps)
      // The bytes of the records are random here, so libzstd can only shorten the rest.
      #expect(entry.bytes.count < 10_000 * 70)
    }

    /// The bytes of an entry with any document as its head.
    static func bytes(_ head: Document) -> [UInt8] {
      let document = head.encoded()
      let start =
        LogEntry.magic + littleEndianBytes(LogEntry.version)
        + littleEndianBytes(UInt32(document.count))
      var checksum = Checksum()
      (start + document)._withBytes { checksum.combine($0) }
      return start + littleEndianBytes(checksum.value) + document
    }
  }

  extension ReplayStep {
    var changeCount: Int {
      records.reduce(0) { $0 + $1.ids.count } + deleted.reduce(0) { $0 + $1.ids.count }
        + links.reduce(0) { $0 + $1.pairs.count }
    }
  }
#endif

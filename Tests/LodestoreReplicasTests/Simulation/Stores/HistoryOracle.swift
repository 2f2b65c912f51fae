#if Datasets
  import LodestoreFormat

  @testable import LodestoreReplicas

  /// The truth about the chain: the first entry that each slot got.
  struct HistoryOracle {
    /// The facts of an entry.
    struct Entry {
      var hash: [UInt8]
      var epoch: UInt64
      var lastWrite: UInt64
      var time: Double
      /// Whether no parts of a write are missing after the entry.
      var isComplete: Bool
      /// The digests of the content; `nil` if they are those of the entry before.
      var digests: [[UInt8]: ContentDigest]?
    }

    /// The entries from slot 1 on.
    private(set) var entries: [Entry] = []
    private var position: ChainPosition?
    private(set) var floor: UInt64 = 0
    private(set) var violation: String?
    /// How often a late request has stored a collected slot again.
    private(set) var garbageCount = 0
    /// The number of entries after which parts of a write are missing.
    private(set) var partCount = 0
    /// The machine that writes in an epoch.
    private var machines: [UInt64: Int] = [:]

    mutating func fail(_ text: String) { violation = violation ?? text }

    /// The last entry with a complete write.
    var last: (slot: UInt64, entry: Entry)? {
      entries.lastIndex(where: \.isComplete).map { (UInt64($0) + 1, entries[$0]) }
    }

    /// The digests after a slot.
    func digests(after slot: UInt64) -> [[UInt8]: ContentDigest]? {
      entries.prefix(Int(slot)).last { $0.digests != nil }?.digests
    }

    /// Takes a write that an honest bucket has executed for a process.
    mutating func observe(
      _ call: HistoryCall, by sender: HistorySender, existed: Bool, in bucket: HistoryBucket
    ) {
      switch (call, ReplicaName(call.key)) {
      case (.put(_, let bytes, _), .entry(let slot)?):
        store(bytes, in: slot, by: sender.life.machine)
      case (.put(let key, let bytes, _), .floor?):
        guard let record = try? FloorRecord(reading: bytes, named: key) else {
          return fail("a floor is unreadable")
        }
        raiseFloor(record, by: sender, in: bucket)
      case (.put(let key, let bytes, _), .base(_, _, .head)?):
        guard let head = try? BaseHead(reading: bytes, named: key) else {
          return fail("the head of a base is unreadable")
        }
        // The head of a base that begins a part of the log comes before its entry.
        if isOnChain(head), digests(after: head.slot) ?? [:] != head.digests {
          fail("the base of slot \(head.slot) has another state than the log")
        }
      case (.delete, let name?):
        if let slot = name.collectedSlot, slot >= floor, existed {
          fail("\(call.key) was deleted, but is live")
        }
      default: break
      }
    }

    private mutating func raiseFloor(
      _ record: FloorRecord, by sender: HistorySender, in bucket: HistoryBucket
    ) {
      let slot = record.slot
      if slot <= floor { fail("the floor fell from \(floor) to \(slot)") }
      floor = slot
      let kept = record.time - (sender.retention ?? .zero).inSeconds
      if !hasBase(from: slot, until: .infinity, bucket) {
        fail("no base covers the floor \(slot)")
      } else if !hasBase(from: slot, until: kept, bucket) {
        fail("the floor \(slot) is beyond states that the writer keeps")
      }
      // A list that lags lacks followers.
      guard sender.life.history.isHonest else { return }
      for (key, object) in bucket.objects where object.time <= sender.followersListedAt {
        guard case .follower? = ReplicaName(key),
          let mark = try? FollowerMark(reading: object.bytes, named: key),
          mark.counts(
            at: record.time, seen: sender.calendar(at: object.time),
            patience: sender.followerTimeout.inSeconds),
          slot > mark.slot + 1
        else { continue }
        fail("the floor \(slot) is beyond slot \(mark.slot) of the follower \(mark.id)")
      }
    }

    private func isOnChain(_ head: BaseHead) -> Bool {
      head.slot <= entries.count && entries[Int(head.slot) - 1].hash == head.entry.bytes
    }

    /// Whether a base has a slot or a later one, and no write after a time.
    private func hasBase(
      from slot: UInt64, until time: Double, _ bucket: HistoryBucket
    ) -> Bool {
      bucket.objects.contains { key, object in
        guard let name = ReplicaName(key), name.isHeadOfBase,
          let head = try? BaseHead(reading: object.bytes, named: key), head.slot >= slot,
          head.time <= time, isOnChain(head)
        else { return false }
        return bucket.objects[head.name(of: .file).text] != nil
          && bucket.objects[head.name(of: .frames).text] != nil
      }
    }

    private mutating func store(
      _ bytes: [UInt8], in slot: UInt64, by machine: HistoryMachine
    ) {
      if slot <= entries.count {
        garbageCount += 1
        if slot >= floor { fail("live slot \(slot) was stored twice") }
        return
      }
      do {
        let entry = try LogEntry(reading: bytes, slot: slot)
        var position = position ?? .start(of: entry.head.store)
        try position.advance(over: entry)
        self.position = position
        if position.unfinished != nil { partCount += 1 }
        let writer = machines[position.epoch] ?? machine.number
        machines[position.epoch] = writer
        if writer != machine.number {
          fail("machines \(writer) and \(machine.number) write in epoch \(position.epoch)")
        }
        entries.append(
          Entry(
            hash: position.hash, epoch: position.epoch, lastWrite: position.lastWrite,
            time: entry.head.time, isComplete: position.unfinished == nil,
            digests: entry.head.digests.isEmpty ? nil : entry.head.digests))
      } catch { fail("slot \(slot): \(error)") }
    }
  }
#endif

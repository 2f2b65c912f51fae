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

    mutating func fail(_ text: String) { violation = violation ?? text }

    /// The last entry with a complete write.
    var last: (slot: UInt64, entry: Entry)? {
      entries.lastIndex(where: \.isComplete).map { (UInt64($0) + 1, entries[$0]) }
    }

    /// The digests after a slot.
    func digests(after slot: UInt64) -> [[UInt8]: ContentDigest]? {
      entries.prefix(Int(slot)).last { $0.digests != nil }?.digests
    }

    /// Takes a write that an honest bucket has executed.
    mutating func observe(_ call: HistoryCall, existed: Bool, in bucket: HistoryBucket) {
      switch (call, ReplicaName(call.key)) {
      case (.put(_, let bytes, _), .entry(let slot)?): store(bytes, in: slot)
      case (.put(let key, let bytes, _), .floor?):
        guard let slot = try? FloorRecord(reading: bytes, named: key).slot else {
          return fail("a floor is unreadable")
        }
        if slot <= floor { fail("the floor fell from \(floor) to \(slot)") }
        floor = slot
        if !hasBase(from: slot, bucket) { fail("no base covers the floor \(slot)") }
      case (.delete, let name?):
        if let slot = name.collectedSlot, slot >= floor, existed {
          fail("\(call.key) was deleted, but is live")
        }
      default: break
      }
    }

    private func hasBase(from slot: UInt64, _ bucket: HistoryBucket) -> Bool {
      bucket.objects.contains { key, object in
        guard let name = ReplicaName(key), name.isHeadOfBase,
          let head = try? BaseHead(reading: object.bytes, named: key), head.slot >= slot,
          head.slot <= entries.count, entries[Int(head.slot) - 1].hash == head.entry.bytes
        else { return false }
        return bucket.objects[head.name(of: .file).text] != nil
          && bucket.objects[head.name(of: .frames).text] != nil
      }
    }

    private mutating func store(_ bytes: [UInt8], in slot: UInt64) {
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
        entries.append(
          Entry(
            hash: position.hash, epoch: position.epoch, lastWrite: position.lastWrite,
            time: entry.head.time, isComplete: position.unfinished == nil,
            digests: entry.head.digests.isEmpty ? nil : entry.head.digests))
      } catch { fail("slot \(slot): \(error)") }
    }
  }
#endif

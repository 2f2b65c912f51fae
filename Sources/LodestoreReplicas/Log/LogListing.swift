internal import LodestoreFormat

/// Reads the writes of a log backwards, from its end to the oldest base.
///
/// The object holds the writes of one unit, its last entry, and the entry before the unit. That
/// entry has the next ids before the unit. All entries must be linked by their hashes.
actor LogListing {
  private let client: ReplicaClient
  private let options: ReplicaLogOptions
  /// The heads of the bases on the chain, by their slots.
  private var bases: [UInt64: BaseHead] = [:]
  /// The names of the entities by the fingerprint of the catalogue.
  private var names: [[UInt8]: [EntityNumber: String]] = [:]
  /// The writes that were read and not returned, in ascending order.
  private var ready: [ReplicaWrite] = []
  private var returnedCount = 0
  /// The slot to read next; `nil` before the first call, and 0 at the end.
  private var slot: UInt64?
  /// The oldest slot: that of the oldest base.
  private var lowest: UInt64 = 1
  /// The entries that are needed again, by their slots.
  private var known: [UInt64: LogEntry] = [:]
  /// The hash of each entry next to ``slot``, and that of the entry before it.
  private var links: [UInt64: (own: [UInt8], previous: [UInt8]?)] = [:]

  init(_ client: ReplicaClient, _ options: ReplicaLogOptions) {
    self.client = client
    self.options = options
  }

  /// The next older write; `nil` after the last one.
  func next() async throws -> ReplicaWrite? {
    if let limit = options.limit, returnedCount >= limit { return nil }
    if slot == nil { slot = try await start() }
    while ready.isEmpty {
      guard let slot, slot >= lowest, slot > 0 else { return nil }
      self.slot = try await read(slot)
    }
    returnedCount += 1
    return ready.removeLast()
  }

  // MARK: The range

  /// The slot at which the list begins; 0 if no write is listed.
  private func start() async throws -> UInt64 {
    let replica = try await FollowerLoop.info(client).store
    var newest: UInt64 = 0
    for base in try await client.bases() where base.store == replica {
      guard try await client.place(of: base) == .onChain else { continue }
      if bases.isEmpty { lowest = base.slot }
      bases[base.slot] = base
      names[base.schema.bytes] = base.entities.mapValues(\.name)
      newest = base.slot
    }
    guard newest > 0 else { throw ReplicaError.noBase(client.place) }
    let last = try await lastSlot(from: newest)
    guard let until = options.until?.timeIntervalSinceReferenceDate else { return last }
    return try await slot(of: until, last: last)
  }

  /// The last slot of the log, found by steps that double and are then halved.
  private func lastSlot(from slot: UInt64) async throws -> UInt64 {
    var (found, step) = (slot, UInt64(1))
    while try await client.exists(.entry(slot: found + step)) {
      found += step
      step *= 2
    }
    while step > 1 {
      step /= 2
      if try await client.exists(.entry(slot: found + step)) { found += step }
    }
    // Entries after an absent slot are those of a storage that has lost a part of the log.
    for (name, _) in try await client.entries(in: .log, after: .entry(slot: found)) {
      guard let slot = name.collectedSlot else { continue }
      guard slot == found + 1 else { throw ReplicaError.gap(client.place, found + 1...slot - 1) }
      found = slot
    }
    return found
  }

  /// The first slot that ends after a time, which may have writes before the time.
  private func slot(of time: Double, last: UInt64) async throws -> UInt64 {
    var (low, high) = (lowest, last)
    while low < high {
      let middle = low + (high - low) / 2
      let head = try await client.head(of: .entry(slot: middle))?.head
      let isAfter = head.map { $0.time > time && !$0.part.continues } ?? false
      if isAfter { high = middle } else { low = middle + 1 }
    }
    return low
  }

  // MARK: Entries

  /// Reads the unit that ends with a slot; returns the slot before the unit.
  private func read(_ slot: UInt64) async throws -> UInt64 {
    known = known.filter { $0.key <= slot }
    links = links.filter { $0.key <= slot + 1 }
    guard let entry = try await entry(slot) else { return 0 }
    let head = entry.head
    if let since = options.since?.timeIntervalSinceReferenceDate, head.time < since { return 0 }
    // The oldest base is the oldest state, whatever the entry of its slot has.
    if head.kind == .base || slot == lowest { return try await readBase(entry) }
    // Parts without a last one belong to a write that was never completed.
    guard head.kind == .pack, !head.part.continues else { return slot - 1 }
    let first = slot - min(head.part.number - 1, slot - lowest)
    guard let before = try await nextIDs(before: first) else { return 0 }
    var counter = WriteCounter(after: before, names: names[head.schema] ?? [:])
    for part in first...slot {
      guard let entry = part == slot ? entry : try await readEntry(part) else { return 0 }
      try WriterOpening.reading { () throws(PackError) in try counter.add(entry) }
    }
    ready = counter.writes.filter(isWanted)
    return first - 1
  }

  private func isWanted(_ write: ReplicaWrite) -> Bool {
    write.time >= options.since ?? .distantPast && write.time <= options.until ?? .distantFuture
  }

  /// Adds the writes that only a base has.
  private func readBase(_ entry: LogEntry) async throws -> UInt64 {
    let head = entry.head
    var first = head.lastWrite
    if head.slot > lowest {
      guard let before = try await self.entry(head.slot - 1) else { return 0 }
      first = before.head.lastWrite + 1
      // A new schema without a write has a base, too.
      guard first <= head.lastWrite else { return head.slot - 1 }
    }
    var write = ReplicaWrite(first...head.lastWrite, time: head.time, head)
    write.isBase = true
    if isWanted(write) { ready = [write] }
    return head.slot - 1
  }

  /// The next ids before a unit; `nil` if the log was collected meanwhile.
  private func nextIDs(before slot: UInt64) async throws -> [EntityNumber: UInt64]? {
    var slot = slot - 1
    while slot >= lowest, slot > 0 {
      if let base = bases[slot], !base.entities.isEmpty {
        return base.entities.mapValues(\.nextID)
      }
      guard let entry = try await entry(slot) else { return nil }
      if entry.head.kind == .pack,
        let found = try WriterOpening.reading({ () throws(PackError) in try entry.lastNextIDs() })
      {
        return found
      }
      slot -= 1
    }
    return [:]
  }

  /// An entry that is read once, although two units need it.
  private func entry(_ slot: UInt64) async throws -> LogEntry? {
    if let entry = known[slot] { return entry }
    let entry = try await readEntry(slot)
    known[slot] = entry
    return entry
  }

  /// Reads an entry of the chain; `nil` if a collection has deleted it meanwhile.
  private func readEntry(_ slot: UInt64) async throws -> LogEntry? {
    do {
      guard let bytes = try await client.object(.entry(slot: slot)) else {
        throw ReplicaError.gap(client.place, slot...slot)
      }
      let entry = try WriterOpening.reading { () throws(PackError) in
        try LogEntry(reading: bytes, slot: slot)
      }
      let previous = entry.head.previous
      let (before, after) = (links[slot - 1]?.own, links[slot + 1])
      guard before == nil || before == previous, after == nil || after?.previous == entry.hash
      else {
        throw ReplicaError(
          .damaged,
          "cannot read the log in '\(client.place)': the entry of slot \(slot) does not fit the "
            + "entries beside it; put the objects back", slot: slot)
      }
      links[slot] = (entry.hash, previous)
      return entry
    } catch let error as ReplicaError where error.code == .damaged {
      // Slots below the floor are empty, or have entries that do not count.
      if try await client.isCollected(slot) { return nil }
      throw error
    }
  }
}

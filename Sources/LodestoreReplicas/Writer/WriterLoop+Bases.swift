internal import EntityStore
internal import LodestoreFormat

extension WriterLoop {
  private var upload: BaseUpload {
    BaseUpload(
      client: client, path: store.path, compressionLevel: options.baseCompressionLevel,
      onProgress: options.onProgress ?? { _ in })
  }

  /// Finds the newest base and the size of the log since it.
  func findBase() async throws {
    upload.removeScratch()
    let client = client.giving(upAfter: options.openingFailureLimit)
    newestBase = nil
    for base in try await client.bases().reversed() where base.slot <= position.slot {
      if try await client.place(of: base) == .onChain {
        newestBase = base
        break
      }
    }
    let after = newestBase.map { ReplicaName.entry(slot: $0.slot) }
    let entries = try await client.entries(in: .log, after: after)
    logBytes = entries.reduce(0) { $0 + $1.byteCount }
    var next = newestBase.map { $0.slot + 1 } ?? max(slots.floor.slot, 1)
    for slot in entries.lazy.compactMap(\.name.collectedSlot) {
      if slot != next {
        // A later writer may have collected slots since the opening. The next entry finds the
        // fence.
        var reader = ChainReader(
          position: position, floor: slots.floor, limit: (entries: 1, bytes: 1))
        _ = try await client.run(&reader)
        guard slot <= reader.floor.slot else {
          throw ReplicaError.gap(client.place, next...max(next, slot - 1))
        }
      }
      next = slot + 1
    }
    // An earlier writer may have ended before it merged its last ranges.
    let merged = try await client.entries(in: .merged, below: "1/").last?.name.collectedSlot
    let start = max(newestBase?.slot ?? 0, merged ?? 0)
    mergedSlot = start / ReplicaName.mergeFactor * ReplicaName.mergeFactor
    publish()
  }

  // MARK: Bases of the log

  /// Writes a base of the newest commit, and an entry that sends all followers to it.
  ///
  /// Such a base stands where changes cannot be packed. Either the schema has changed, or the
  /// history does not have the changes any more, or the log is empty.
  func writeBaseEntry() async throws {
    let store = store
    let exact = try await BaseUpload.onThread { try store.exactSnapshot() }
    let (facts, lastTime) = try await exact.snapshot.read { snapshot in
      (try snapshot.replayFacts(), try Self.lastTime(snapshot))
    }
    let time = lastTime ?? clock.now()
    let lastWrite = numbers.inLog(facts.lastWrite)
    let slot = position.slot + 1
    let uploaded = try await upload.upload(exact, slot: slot, lastWrite: lastWrite, time: time)
    options.onStep(.uploaded)
    schema = facts.schema
    var head = head(.base, lastWrite: lastWrite, time: time)
    head.digests = facts.digests.contentDigests
    head.base = BaseUpload.name(slot, uploaded.verity, .head)
    let sealed = head
    var place = position
    let entry = try WriterOpening.reading { () throws(PackError) in
      let entry = try LogEntry(sealed)
      try place.advance(over: entry)
      return entry
    }
    // The head comes before the entry. If this process ended between an entry and its base, no
    // other machine could read past the entry. A head without its entry is not on the chain.
    let base = try uploaded.head(
      at: place, time: time, schema: facts.schema, digests: facts.digests)
    try await upload.finish(base)
    options.onStep(.baseWritten)
    try await commit(entry)
    options.onStep(.baseEntryShipped)
    shipped = facts.lastWrite
    digests = facts.digests
    newestBase = base
    logBytes = 0
    try await mark()
    publish()
  }

  /// The time of the last write in the history; `nil` if the history is empty.
  private static func lastTime(_ snapshot: borrowing Snapshot) throws -> Double? {
    var time: Double?
    try snapshot.forEachWrite(
      HistoryQuery.all.newestFirst().limit(1).withoutChanges()
    ) { write, _ in time = write.time.timeIntervalSinceReferenceDate }
    return time
  }

  // MARK: Bases beside the log

  /// Begins a base when the log since the last one is large enough, and merges full ranges of
  /// slots.
  func tendBases() async throws {
    let isWished = shared.takeBaseWish()
    guard baseTask == nil else {
      if isWished { shared.wishBase() }
      return
    }
    let share = Double(newestBase?.packed.length ?? 0) * options.baseThreshold
    let limit = max(options.minimumLogSizeForBase, UInt64(max(share, 0)))
    let isDue = (newestBase == nil || logBytes >= limit) && nextBase <= clock.instant()
    if isWished || isDue {
      do {
        try await beginBase()
      } catch {
        if isWished { shared.wishBase() }
        throw error
      }
    }
    beginMerge()
  }

  private func beginBase() async throws {
    let store = store
    let exact = try await BaseUpload.onThread { try store.exactSnapshot() }
    // The base has the state after a slot, so the changes up to its commit are sent first.
    try await ship(from: exact.snapshot)
    let (facts, lastTime) = try await exact.snapshot.read { snapshot in
      (try snapshot.replayFacts(), try Self.lastTime(snapshot))
    }
    let time = lastTime ?? clock.now()
    let position = position
    guard numbers.inLog(facts.lastWrite) == position.lastWrite, facts.schema == schema,
      position.unfinished == nil, newestBase.map({ $0.slot < position.slot }) ?? true
    else { return }
    let (upload, options, earlierBytes) = (upload, options, logBytes)
    logBytes = 0
    let task = Task(executorPreference: clock.executor) { [weak self] in
      do {
        let uploaded = try await upload.upload(
          exact, slot: position.slot, lastWrite: position.lastWrite, time: time)
        options.onStep(.uploaded)
        let base = try uploaded.head(
          at: position, time: time, schema: facts.schema, digests: facts.digests)
        try await upload.finish(base)
        options.onStep(.baseWritten)
        await self?.finishBase(base)
      } catch {
        await self?.endBase(error, earlierBytes)
        throw error
      }
    }
    baseTask = task
    begunBases = (begunBases.count + 1, task)
  }

  private func finishBase(_ base: BaseHead) async {
    // An entry of the log may have a newer base since.
    if newestBase.map({ $0.slot < base.slot }) ?? true { newestBase = base }
    publish()
    do {
      try await collect()
    } catch let error as ReplicaError {
      // The next base collects again.
      shared.change { $0.lastFailure = error }
    } catch {}
    baseTask = nil
  }

  private func endBase(_ error: any Error, _ earlierBytes: UInt64) {
    baseTask = nil
    logBytes += earlierBytes
    nextBase = clock.instant() + .seconds(60)
    guard !(error is CancellationError) else { return }
    let failure =
      error as? ReplicaError
      ?? ReplicaError(.storage, "cannot write a base of '\(store.path)': \(error)", cause: error)
    shared.change { $0.lastFailure = failure }
  }

  /// Writes a base of the newest commit and waits for it.
  nonisolated func writeBase() async throws {
    try await shared.wait(for: nil)
    guard let task = try await beginWishedBase() else { return }
    try await task.waitForEnd(on: clock)
    try await task.value
  }

  /// Waits until the loop has begun a base; returns `nil` if the newest slot has one.
  private func beginWishedBase() async throws -> Task<Void, any Error>? {
    while let task = baseTask { try await task.waitForEnd(on: clock) }
    if let newestBase, newestBase.slot == position.slot { return nil }
    let count = begunBases.count
    shared.wishBase()
    shared.wake()
    while true {
      // A base that has failed at once is not in `baseTask` any more.
      if begunBases.count > count { return begunBases.last }
      if let end = shared.status.end { throw end }
      if let newestBase, newestBase.slot == position.slot { return nil }
      try await clock.sleep(.milliseconds(5))
    }
  }

  // MARK: Collection

  nonisolated func collectNow() async throws { try await collect() }

  /// Deletes the objects that are not needed for any state to be kept, nor by a registered
  /// follower.
  func collect() async throws {
    guard let kept = options.retention else { return }
    let time = clock.now()
    guard let oldest = try await newestBase(at: time - kept.inSeconds), oldest.slot > 1 else {
      return
    }
    var limit = min(oldest.slot, position.slot)
    var marks: [FollowerMark: Double] = [:]
    for (name, _) in try await client.entries(in: .followers) {
      guard let bytes = try await client.object(name),
        let mark = try? FollowerMark(reading: bytes, named: name.text)
      else { continue }
      let seen = followerMarks[mark] ?? time
      marks[mark] = seen
      guard mark.counts(at: time, seen: seen, patience: options.followerTimeout.inSeconds)
      else { continue }
      limit = min(limit, mark.slot + 1)
    }
    followerMarks = marks
    try await waitForMark(of: limit)
    var machine = Collector(store: replica, limit: limit, floor: slots.floor, time: time)
    if case .refused(let error) = try await client.run(&machine) { throw ReplicaError(error) }
    options.onStep(.collected)
  }

  /// The newest base on the chain whose last write is not after a time.
  private func newestBase(at time: Double) async throws -> BaseHead? {
    for base in try await client.bases().reversed()
    where base.time <= time && base.store == replica {
      if try await client.place(of: base) == .onChain { return base }
    }
    return nil
  }

  /// Waits until the store has recorded a place at or after a slot.
  ///
  /// After a crash the next opening begins at the recorded place, so its entry must not be deleted.
  /// Only the loop records a place, because the position moves while it sends.
  private func waitForMark(of slot: UInt64) async throws {
    while markedSlot < slot {
      if let end = shared.status.end { throw end }
      wantsMark = true
      shared.wake()
      try await clock.sleep(.milliseconds(5))
    }
  }

  // MARK: Merged slots

  /// Begins to merge the slots of full ranges.
  private func beginMerge() {
    let end = position.slot / ReplicaName.mergeFactor * ReplicaName.mergeFactor
    guard mergeTask == nil, end > mergedSlot else { return }
    let first = mergedSlot
    mergedSlot = end
    let (client, replica, options) = (client, replica, options)
    mergeTask = Task(executorPreference: clock.executor) { [weak self] in
      var slot = first
      while slot < end {
        slot += ReplicaName.mergeFactor
        // A range that cannot be merged stays as it is: merged entries only save requests.
        try? await SlotMerge(client: client, replica: replica).merge(through: slot)
        options.onStep(.merged)
      }
      await self?.endMerge()
    }
  }

  private func endMerge() { mergeTask = nil }
}

internal import EntityStore

/// The store's record of its place in the log.
extension WriterLoop {
  /// Compares the store with the log again, after an entry of an earlier session has arrived late.
  func reopen() async throws {
    let opening = WriterOpening(
      store: store, client: client, session: session, name: options.name)
    let (_, place) = try await opening.open(probing: false)
    slots = SlotWriter(position: place.position, floor: place.floor)
    numbers = place.numbers
    shipped = numbers.inStore(place.position.lastWrite)
    digests = place.digests
    needsBase = needsBase || place.needsBase
    if let schema = place.schema { self.schema = schema }
    lastCommit = nil
  }

  /// Records the place in the store, so that the next opening begins there.
  func mark() async throws {
    // An opening cannot begin at a place between the parts of a write.
    guard position.unfinished == nil else { return }
    // A request of an earlier session may arrive late, also after several starts.
    let sessions = [session] + (openingMark?.sessions.prefix(ReplicaMark.sessionLimit - 1) ?? [])
    try await mark(
      ReplicaMark(
        role: .writer, position, localWrite: shipped, floor: slots.floor,
        sessions: sessions, schema: schema, digests: digests))
  }

  func mark(_ mark: ReplicaMark) async throws {
    let storeID = replica.bytes
    let number = mark.localWrite
    do {
      try await store.replaying(author: nil, context: nil) { tx in
        try tx.setReplicaCursor(
          ReplicaCursor(
            storeID: storeID, lastWrite: mark.lastWrite, entities: nil, mark: mark.bytes))
        // A purge of consumed history keeps the writes that are not sent.
        let token = try tx.historyToken(number: number)
        do throws(StoreError) {
          try tx.setHistoryToken(token, ofConsumer: ReplicaMark.consumer)
        } catch {
          // The writes after the place are purged already, and a base will replace them.
          guard error.code == .expiredHistory else { throw error }
        }
      }
    } catch let error as StoreError {
      throw ReplicaError(
        .inputOutput, "cannot record the place of the replica in '\(store.path)': \(error.message)",
        cause: error)
    }
    markedSlot = position.slot
    lastMark = clock.instant()
    wantsMark = false
    options.onStep(.marked)
  }

  /// Writes a fence of the own store after parts of a write whose other parts are lost.
  ///
  /// The parts of a write come from one snapshot, which has ended. An entry of another writer in
  /// the slot fences this writer, as in each write of an entry.
  func abandonParts() async throws {
    var fence = head(.fence, lastWrite: position.lastWrite, time: clock.now())
    fence.epoch = position.epoch + 1
    let sealed = fence
    try await commit(
      try WriterOpening.reading { () throws(PackError) in try LogEntry(sealed) })
    shipped = numbers.inStore(position.lastWrite)
    lastCommit = nil
    try await mark()
  }

  /// Checks that the storage still has an entry, at most once in the interval of marks.
  ///
  /// A storage that was emptied or put back to an earlier state takes the next entry, which no
  /// reader reaches. Writes are therefore not reported as replicated before this check.
  ///
  /// - Parameter place: The place before the entries that are being written.
  func confirm(_ place: ChainPosition) async throws {
    guard place.slot > 0,
      lastConfirmation.map({ clock.elapsed(since: $0) >= options.checkpointInterval }) ?? true
    else { return }
    let start = clock.instant()
    if try await client.exists(.entry(slot: place.slot)) { return lastConfirmation = start }
    var reader = ChainReader(position: place, floor: slots.floor, limit: (entries: 1, bytes: 1))
    // A later writer may have collected the slot. The next entry then finds the floor.
    if case .collected = try await client.run(&reader) { return }
    throw ReplicaError.lostEntry(
      client.place, place.slot, "put it back, or open a writer with another prefix")
  }
}

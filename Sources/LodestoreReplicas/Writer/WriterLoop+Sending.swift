internal import EntityStore
internal import LodestoreFormat

/// The entries of a writer: packs of changes, and the slots that they take.
extension WriterLoop {
  /// Packs and sends the changes since the last pack.
  ///
  /// - Parameter pinned: The commit to read; `nil` for the newest one.
  func ship(from pinned: PinnedSnapshot? = nil) async throws {
    let began = clock.instant()
    // A pinned commit may be older than the commits that callers wait for.
    let round = pinned == nil ? shared.beginRound() : nil
    do {
      do {
        try await shipPack(from: pinned)
      } catch let error as ReplayError {
        switch error {
        case .expired, .otherSchema: try await writeBaseEntry()
        default: throw ReplicaError(error, store.path)
        }
      } catch let error as PackError {
        guard error.code == .tooLarge else { throw ReplicaError(error) }
        try await writeBaseEntry()
      }
    } catch {
      if round != nil { shared.reopenRound(since: began) }
      throw error
    }
    if let round { shared.endRound(round, shipped: shipped) }
    publish()
  }

  private func shipPack(from pinned: PinnedSnapshot?) async throws {
    guard try pinned != nil || hasNews() else { return }
    var request = ReplayRequest(after: shipped)
    (request.schema, request.digests) = (schema, digests)
    let changes = request
    let (numbers, options) = (numbers, options)
    let pack: @Sendable (borrowing Snapshot) throws -> (PackedUnit, CommitNumber) = {
      let unit = try PackedUnit.packing(
        $0, changes, numbers, level: options.packCompressionLevel, limits: options.unitLimits)
      return (unit, $0.commitNumber)
    }
    let (unit, commit) =
      if let pinned { try await pinned.read(pack) } else { try await store.read(pack) }
    if !unit.isEmpty {
      options.onStep(.packed)
      let place = position
      async let confirmation: Void = confirm(place)
      try await send(unit)
      try await confirmation
      options.onStep(.shipped)
    }
    digests = unit.end.digests ?? digests
    shipped = unit.end.last
    lastCommit = commit
  }

  /// Writes the entries of a unit.
  private func send(_ unit: PackedUnit) async throws {
    let size = unit.bodies.reduce(UInt64(0)) { $0 + UInt64($1.bytes.count) }
    shared.change { $0.lagInBytes = size }
    let first = numbers.inLog(unit.end.after) + 1
    for (index, body) in unit.bodies.enumerated() {
      let isLast = index == unit.bodies.count - 1
      var head = head(
        .pack, lastWrite: numbers.inLog(unit.end.last), time: unit.time ?? clock.now())
      head.firstWrite = first
      head.schema = unit.end.schema
      head.part = EntryHead.Part(number: UInt64(index) + 1, continues: !isLast)
      if isLast { head.digests = unit.end.digests?.contentDigests ?? [:] }
      let sealed = head
      try await commit(
        try WriterOpening.reading { () throws(PackError) in try LogEntry(sealed, body) })
      shared.change { $0.changesSent += body.changeCount }
    }
  }

  /// The head of the next entry.
  func head(_ kind: EntryHead.Kind, lastWrite: UInt64, time: Double) -> EntryHead {
    var head = EntryHead(
      kind, epoch: max(position.epoch, 1), slot: position.slot + 1,
      previous: position.slot == 0 ? nil : position.hash, store: replica, session: session,
      lastWrite: lastWrite, time: time, schema: schema)
    head.writer = options.name.map(PackLimits.cut)
    return head
  }

  /// Writes one entry into the next slot.
  ///
  /// - Throws: ``ReplicaError`` with the code `fenced` if another writer has taken over.
  func commit(_ entry: LogEntry) async throws {
    var machine = slots
    try WriterOpening.reading { () throws(PackError) in try machine.offer(entry) }
    let result = try await client.run(&machine)
    slots = machine
    switch result {
    case .committed:
      logBytes += UInt64(entry.bytes.count)
      shared.change {
        $0.lastFailure = nil
        $0.lagInBytes = 0
        $0.entryBytesSent += UInt64(entry.bytes.count)
      }
      publish()
    case .taken(let other):
      if other.head.epoch <= entry.head.epoch, other.head.store == replica {
        try await reopen()
        throw ReplicaError(
          .storage,
          "cannot write slot \(entry.head.slot): an earlier request of this store took it",
          slot: entry.head.slot)
      }
      throw ReplicaError.fenced(
        store.path, client.place, by: other.head.epoch, unshipped: unshipped,
        slot: entry.head.slot)
    case .collected(let floor):
      throw ReplicaError.fenced(
        store.path, client.place, by: nil, unshipped: unshipped, slot: floor.slot)
    case .refused(let error): throw ReplicaError(error)
    }
  }
}

@testable import LodestoreReplicas

/// The moves of a process that has no request on its way: its machine is asked for the next step.
extension Simulation {
  func act(_ process: SimulatedProcess) {
    switch process.task {
    case .down: start(process)
    case .idle: if !process.isCollector { follow(process) }
    case .ended: break
    case .starting(var machine):
      let action = machine.next()
      process.task = .starting(machine)
      perform(action, by: process) { finish(process, machine, $0) }
    case .writing(let machine, isShipping: false): work(process, machine)
    case .writing(var machine, isShipping: true):
      let action = machine.next()
      process.task = .writing(machine, isShipping: true)
      perform(action, by: process) { finish(process, machine, $0) }
    case .storing(let requests, let writer, let entry):
      if let request = requests.last { return send(request, by: process) }
      if let entry { return offer(entry, to: writer, of: process) }
      process.task = .writing(writer, isShipping: false)
    case .following(var machine):
      let action = machine.next()
      process.task = .following(machine)
      perform(action, by: process) { finish(process, machine, $0) }
    case .fetching(let base, _):
      send(.get(base.name(of: .file)), by: process)
    case .takingOver(var machine):
      let action = machine.next()
      process.task = .takingOver(machine)
      perform(action, by: process) { finish(process, $0) }
    case .collecting(var machine):
      let action = machine.next()
      process.task = .collecting(machine)
      perform(action, by: process) { finish(process, $0) }
    }
  }

  private func perform<Result>(
    _ action: ProtocolAction<Result>, by process: SimulatedProcess, finish: (Result) -> Void
  ) {
    switch action {
    case .request(let request): send(request, by: process)
    case .wait: break
    case .finished(let result): finish(result)
    }
  }

  // MARK: Beginnings

  func start(_ process: SimulatedProcess) {
    process.session = newIdentity()
    // The new session does not know parts that an earlier one has written.
    process.shippedCount = nil
    if process.isCollector {
      process.task = .idle
    } else if process.isWriter, let position = process.store.position {
      let local = LocalPosition(position: position, lastWrite: process.store.lastWrite)
      process.task = .starting(WriterStart(local: local, floor: process.floor))
    } else {
      follow(process)
      // The first process of a bucket takes over at once, and sometimes others race with it.
      let isFirst = process.store.position == nil && oracle.head == 0
      if isFirst, process === processes.last || random.below(8) == 0 { beginTakeover(process) }
    }
  }

  private func follow(_ process: SimulatedProcess) {
    process.pending = []
    var cursor = FollowerCursor(
      store: SimulatedReplica.store, position: process.store.position, floor: process.floor,
      fence: process.fence)
    // Some polls leave out the floor, and a later one reads it.
    if !isSettling, process.fence == nil, tick % 2 == 0 { cursor.trustAbsence() }
    process.task = .following(cursor)
  }

  func beginTakeover(_ process: SimulatedProcess) {
    switch process.task {
    case .following, .idle: break
    default: return
    }
    guard !process.isCollector, process.fence == nil else { return }
    // The poll that runs is abandoned.
    process.sent = nil
    note(2)
    coverage.takeovers += 1
    haste = 1
    let position = process.store.position ?? .start(of: SimulatedReplica.store)
    let fence = SimulatedReplica.head(
      .fence, after: position, session: process.session, time: time(of: process))
    process.task = .takingOver(Takeover(position: position, floor: process.floor, fence: fence))
  }

  func beginCollection(_ process: SimulatedProcess) {
    guard case .idle = process.task, process.isCollector else { return }
    note(3)
    coverage.collections += 1
    let age = random.below(4) == 0 ? random.below(8) : 0
    var limit = oracle.head > age ? oracle.head - UInt64(age) : 1
    // A writer waits until it has recorded a place before it collects up to there.
    for writer in processes where writer.isWriter && !writer.isRolledBack {
      guard let recorded = writer.store.recorded else { continue }
      if recorded.epoch == oracle.position.epoch { limit = min(limit, recorded.slot) }
    }
    process.task = .collecting(
      Collector(
        store: SimulatedReplica.store, limit: limit, floor: process.floor, time: time(of: process)))
  }

  // MARK: The work of a writer

  /// Chooses the next work of a writer that is not busy.
  private func work(_ process: SimulatedProcess, _ writer: SlotWriter) {
    if let write = writer.position.unfinished { return complete(write, process, writer) }
    if isSettling { return ship(process, writer, kind: .pack) }
    switch random.below(16) {
    case 0..<5: for _ in 0...random.below(3) { process.store.write(random.next()) }
    case 5..<12: ship(process, writer, kind: .pack)
    case 12: ship(process, writer, kind: .empty)
    case 13: ship(process, writer, kind: .base)
    default: storeBase(process, writer)
    }
  }

  private func ship(
    _ process: SimulatedProcess, _ writer: SlotWriter, kind: EntryHead.Kind
  ) {
    let start = writer.position
    var end = kind == .empty ? start.lastWrite : process.store.lastWrite
    if kind == .pack {
      if end == start.lastWrite { return }
      end -= UInt64(random.below(Int(end - start.lastWrite)))
    }
    guard let values = process.store.values(start.lastWrite + 1, end),
      let state = process.store.state(after: end)
    else { return oracle.fail("a writer lacks writes that were not shipped") }
    var head = SimulatedReplica.head(
      kind, after: start, lastWrite: end, session: process.session, time: time(of: process))
    guard kind == .base else {
      var part = kind == .pack ? values : []
      if !isSettling, part.count > 1, random.below(4) == 0 {
        // The write does not fit one entry.
        part = Array(part.prefix(1 + random.below(part.count - 1)))
        head.part = EntryHead.Part(number: 1, continues: true)
        process.shippedCount = part.count
      }
      guard let entry = made(head, part) else { return }
      return offer(entry, to: writer, of: process)
    }
    // The base of a changed schema is stored before the entry that sends readers to it.
    let verity = verity(of: process, head.slot)
    head.base = .base(slot: head.slot, verity: verity, .head)
    head.digests = SimulatedReplica.digests(of: state)
    guard let entry = made(head) else { return }
    let requests = base(state, after: entry.head, hash: entry.hash, verity)
    process.task = .storing(requests, writer, entry: entry)
  }

  /// Writes the last part of a write.
  ///
  /// A process that has begun again does not know the parts, and ends them by a fence.
  private func complete(
    _ write: ChainPosition.Unfinished, _ process: SimulatedProcess, _ writer: SlotWriter
  ) {
    let values = process.store.values(write.writes.lowerBound, write.writes.upperBound)
    guard let count = process.shippedCount, let values else {
      var head = SimulatedReplica.head(
        .fence, after: writer.position, session: process.session, time: time(of: process))
      head.epoch += 1
      guard let fence = made(head) else { return }
      return offer(fence, to: writer, of: process)
    }
    var head = SimulatedReplica.head(
      .pack, after: writer.position, lastWrite: write.writes.upperBound, session: process.session,
      time: time(of: process))
    head.part = EntryHead.Part(number: write.part + 1, continues: false)
    guard let entry = made(head, Array(values.dropFirst(count))) else { return }
    offer(entry, to: writer, of: process)
  }

  private func made(_ head: EntryHead, _ values: [UInt64] = []) -> LogEntry? {
    do {
      return try SimulatedReplica.entry(head, values: values)
    } catch {
      oracle.fail("\(error)")
      return nil
    }
  }

  private func offer(_ entry: LogEntry, to writer: SlotWriter, of process: SimulatedProcess) {
    var writer = writer
    do {
      try writer.offer(entry)
    } catch { oracle.fail("a writer refuses its own entry: \(error)") }
    process.task = .writing(writer, isShipping: true)
  }

  private func storeBase(_ process: SimulatedProcess, _ writer: SlotWriter) {
    let end = writer.position
    guard end.slot > 0 else { return }
    guard let state = process.store.state(after: end.lastWrite) else {
      return oracle.fail("a writer lacks the state of its position")
    }
    // The head of the base repeats facts of the entry at the position.
    var head = SimulatedReplica.head(.empty, after: end, session: process.session, time: 0)
    head.slot = end.slot
    process.task = .storing(
      base(state, after: head, hash: end.hash, verity(of: process, end.slot)), writer, entry: nil)
  }

  private func verity(of process: SimulatedProcess, _ slot: UInt64) -> UInt64 {
    mix(mix(slot, process.store.identity), process.session)
  }

  /// The requests that store a base, the first one last: its file, then its head.
  private func base(
    _ state: SimulatedState, after entry: EntryHead, hash: [UInt8], _ verity: UInt64
  ) -> [StorageRequest] {
    guard let base = SimulatedReplica.base(after: entry, hash: hash, verity: verity) else {
      oracle.fail("a base has no head")
      return []
    }
    return [
      .putIfAbsent(base.name(of: .head), base.bytes),
      .putIfAbsent(
        base.name(of: .file), SimulatedReplica.bytes([state.lastWrite, state.digest])),
    ]
  }

  func isOwn(_ entry: LogEntry, _ store: SimulatedStore) -> Bool {
    let head = entry.head
    switch head.kind {
    case .pack:
      guard let first = head.firstWrite, let values = store.values(first, head.lastWrite) else {
        return false
      }
      let shipped = SimulatedReplica.values(of: entry)
      let own = head.part.continues ? values.prefix(shipped.count) : values.suffix(shipped.count)
      return own.elementsEqual(shipped) && (head.part != .whole || own.count == values.count)
    case .base:
      return store.state(after: head.lastWrite).map { SimulatedReplica.digests(of: $0) }
        == head.digests
    case .fence, .empty: return true
    }
  }

  /// The time of a process's clock, on which the protocol must not depend.
  private func time(of process: SimulatedProcess) -> Double {
    Double(tick) + Double(process.clock)
  }
}

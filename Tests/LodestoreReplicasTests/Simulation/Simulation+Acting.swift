@testable import LodestoreReplicas

/// The moves of a process that has no request on its way: its machine is asked for the next step.
extension Simulation {
  func act(_ process: SimulatedProcess) {
    switch process.task {
    case .down: start(process)
    case .idle: if !process.isCollector { follow(process) }
    case .ended, .probing: break
    case .starting(var machine):
      let action = machine.next()
      process.task = .starting(machine)
      switch action {
      case .request(let request): send(request, by: process)
      case .wait: break
      case .compare(let entry):
        machine.receive(isOwn: isOwn(entry, process.store))
        process.task = .starting(machine)
      case .finished(let result): finish(process, machine, result)
      }
    case .writing(var machine):
      let action = machine.next()
      process.task = .writing(machine)
      switch action {
      case .request(let request): send(request, by: process)
      case .wait: break
      case nil: work(process, machine)
      case .finished(let result): finish(process, machine, result)
      }
    case .storing(let requests, var writer, let entry):
      if let request = requests.last { return send(request, by: process) }
      if let entry, !writer.offer(entry) { oracle.fail("a writer refuses its own entry") }
      process.task = .writing(writer)
    case .following(var machine):
      let action = machine.next()
      process.task = .following(machine)
      perform(action, by: process) { finish(process, machine, $0) }
    case .fetching(let base, _):
      send(.get(.base(slot: base.position.slot, verity: base.verity)), by: process)
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
    if process.isCollector {
      process.task = .idle
    } else if process.isWriter, let position = process.store.position {
      let local = LocalPosition(
        position: position, lastWrite: process.store.lastWrite, store: process.store.identity)
      process.task = .starting(WriterStart(codec: codec, local: local, floor: process.floor))
    } else {
      follow(process)
      // The first process of a bucket takes over at once, and sometimes others race with it.
      let isFirst = process.store.position == nil && oracle.head == 0
      if isFirst, process === processes.last || random.below(8) == 0 { beginTakeover(process) }
    }
  }

  private func follow(_ process: SimulatedProcess) {
    process.task = .following(
      FollowerCursor(
        codec: codec, position: process.store.position, floor: process.floor,
        fence: process.fence))
  }

  func beginTakeover(_ process: SimulatedProcess) {
    guard case .following = process.task, process.sent == nil, process.fence == nil else { return }
    note(2)
    coverage.takeovers += 1
    haste = 1
    process.task = .takingOver(
      Takeover(
        codec: codec, position: process.store.position ?? .origin, floor: process.floor,
        store: process.store.identity,
        session: ReplicaIdentity(high: 0, low: process.session)))
  }

  func beginCollection(_ process: SimulatedProcess) {
    guard case .idle = process.task, process.isCollector else { return }
    note(3)
    coverage.collections += 1
    let age = random.below(4) == 0 ? random.below(8) : 0
    let limit = oracle.head > age ? oracle.head - UInt64(age) : 1
    process.task = .collecting(Collector(codec: codec, limit: limit, floor: process.floor))
  }

  // MARK: The work of a writer

  /// Chooses the next work of a writer that is not busy.
  private func work(_ process: SimulatedProcess, _ writer: SlotWriter<SimulatedCodec>) {
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
    _ process: SimulatedProcess, _ writer: SlotWriter<SimulatedCodec>, kind: EntryKind
  ) {
    let start = writer.position
    var end = kind == .empty ? start.lastWrite : process.store.lastWrite
    if kind == .pack {
      if end == start.lastWrite { return }
      end -= UInt64(random.below(Int(end - start.lastWrite)))
    }
    guard let values = process.store.values(start.lastWrite + 1, end) else {
      return oracle.fail("a writer lacks writes that were not shipped")
    }
    let head = EntryHead(
      kind: kind, epoch: start.epoch, slot: start.slot + 1, previous: start.digest,
      store: process.store.identity, session: ReplicaIdentity(high: 0, low: process.session),
      firstWrite: start.lastWrite + 1, lastWrite: end)
    let entry = SimulatedEntry(
      head: head, time: UInt64(tick) &+ process.clock, writes: values
    ).bytes
    var writer = writer
    guard kind == .base else {
      if !writer.offer(entry) { oracle.fail("a writer refuses its own entry") }
      return process.task = .writing(writer)
    }
    // The base of a changed schema is stored before the entry that sends readers to it.
    let position = ChainPosition(after: head, digest: codec.digest(of: entry))
    guard let requests = base(of: process, at: position) else { return }
    process.task = .storing(requests, writer, entry: entry)
  }

  private func storeBase(_ process: SimulatedProcess, _ writer: SlotWriter<SimulatedCodec>) {
    guard writer.position.slot > 0, let requests = base(of: process, at: writer.position) else {
      return
    }
    process.task = .storing(requests, writer, entry: nil)
  }

  /// The requests that store a base: its file first, then its head.
  private func base(of process: SimulatedProcess, at end: ChainPosition) -> [StorageRequest]? {
    guard let state = process.store.state(after: end.lastWrite) else {
      oracle.fail("a writer lacks the state of its position")
      return nil
    }
    let verity = mix(mix(end.slot, process.store.identity.low), process.session)
    return [
      .putIfAbsent(
        .baseHead(slot: end.slot, verity: verity),
        SimulatedCodec.bytes([end.slot, end.digest.words.0])),
      .putIfAbsent(
        .base(slot: end.slot, verity: verity),
        SimulatedCodec.bytes([state.lastWrite, state.digest])),
    ]
  }

  private func isOwn(_ entry: ChainEntry, _ store: SimulatedStore) -> Bool {
    guard let entry = SimulatedEntry(bytes: entry.bytes) else { return false }
    return store.values(entry.head.firstWrite, entry.head.lastWrite) == entry.writes
  }
}

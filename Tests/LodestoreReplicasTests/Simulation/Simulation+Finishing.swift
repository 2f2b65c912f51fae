import LodestoreFormat

@testable import LodestoreReplicas

/// The results of the machines, as the programs around them use them.
extension Simulation {
  // MARK: Writers

  func finish(
    _ process: SimulatedProcess, _ machine: WriterStart,
    _ result: WriterStart.Result
  ) {
    process.floor = machine.floor
    switch result {
    case .compare(let entry):
      var machine = machine
      machine.receive(isOwn: isOwn(entry, process.store))
      process.task = .starting(machine)
    case .ready(let position, let adopted):
      coverage.adopted += adopted
      process.store.position = position
      if position.unfinished == nil { process.store.recorded = position }
      if isHonest { oracle.check(process.store, "a started writer") }
      process.task = .writing(
        SlotWriter(position: position, floor: process.floor), isShipping: false)
    case .fenced(let epoch, let after):
      if isHonest { checkFenced(process, epoch: epoch, after: after) }
      becomeFollower(process, after: after)
    case .behind, .diverged:
      if isHonest, !process.isRolledBack { oracle.fail("a sound writer gets \(result)") }
      if !isHonest { hasReport = true }
      coverage.refused += 1
      becomeFollower(process, after: nil)
    case .refused(let error): damage(process, error)
    }
  }

  /// All shipped writes of a fenced writer are before the position, unless that was collected.
  private func checkFenced(_ process: SimulatedProcess, epoch: UInt64, after: ChainPosition) {
    guard after.slot >= oracle.floor, after.slot < oracle.head else { return }
    if oracle.epochs[Int(after.slot)] == oracle.epochs[Int(after.slot) + 1] {
      oracle.fail("a fenced writer overlooks its entry in slot \(after.slot + 1)")
    }
  }

  func finish(
    _ process: SimulatedProcess, _ machine: SlotWriter,
    _ result: SlotWriter.Result
  ) {
    process.floor = machine.floor
    switch result {
    case .committed(let position):
      note(4)
      if SHA256.hash(process.shownEntry) != position.hash {
        oracle.fail("slot \(position.slot) counts as written, and the storage has not shown it")
      }
      // A writer that has begun after an own entry reports its writes with the next entry.
      let known = max(process.acknowledgedWrite, process.store.position?.lastWrite ?? 0)
      oracle.acknowledge(
        position, entry: position.lastWrite > known ? process.shownEntry : nil, isHonest: isHonest)
      process.acknowledgedWrite = position.lastWrite
      // The store loses the positions since the last one that it has recorded.
      if !isSettling, random.below(24) == 0 { return crash(process) }
      process.store.position = position
      if position.unfinished == nil {
        process.shippedCount = nil
        if random.below(3) == 0 { process.store.recorded = position }
      }
      process.task = .writing(
        SlotWriter(position: position, floor: process.floor), isShipping: false)
    case .taken(let entry):
      if entry.head.session.low == process.session, isHonest {
        oracle.fail("a writer takes its own entry in slot \(entry.head.slot) for another's")
      }
      if entry.head.epoch > machine.position.epoch {
        becomeFollower(process, after: machine.position)
      } else {
        start(process)
      }
    case .collected:
      coverage.collectedWriters += 1
      start(process)
    case .refused(let error): damage(process, error)
    }
  }

  /// The writes that were not shipped are exported, and the process begins with an empty store.
  private func becomeFollower(_ process: SimulatedProcess, after end: ChainPosition?) {
    note(5)
    coverage.fenced += 1
    // The export names writes that were reported as replicated.
    if let end, end.lastWrite < process.acknowledgedWrite { hasReport = true }
    process.acknowledgedWrite = 0
    process.store = SimulatedStore(identity: newIdentity())
    process.isWriter = false
    process.isRolledBack = false
    process.copy = nil
    process.task = .down
  }

  private func damage(_ process: SimulatedProcess, _ error: PackError) {
    hasReport = true
    process.task = .ended
    if isHonest { oracle.fail("process \(process.number) finds: \(error)") }
  }

  // MARK: Followers and takeovers

  func finish(
    _ process: SimulatedProcess, _ machine: FollowerCursor,
    _ result: FollowerCursor.Result
  ) {
    process.floor = machine.floor
    if !isSettling, random.below(32) == 0 { return crash(process) }
    switch result {
    case .apply(let entries, let isEnd):
      for entry in entries { process.apply(entry) }
      process.store.position = machine.resumePosition
      check(process)
      var machine = machine
      machine.goOn()
      process.task = isEnd ? .idle : .following(machine)
      reachFence(process)
    case .swap(let base):
      coverage.swaps += 1
      process.pending = []
      process.task = .fetching(base, machine)
    case .refused(let error): damage(process, error)
    case .noBase(let slot):
      damage(process, .missing("a base of slot \(slot)", slot: slot))
    }
  }

  /// Compares a follower's store with the truth, or with the write number on a lying storage.
  private func check(_ process: SimulatedProcess) {
    if isHonest {
      oracle.check(process.store, "follower \(process.number)")
    } else if process.store.position?.lastWrite != process.store.lastWrite {
      hasReport = true
    }
  }

  /// The taker writes when it has applied all entries up to its fence.
  private func reachFence(_ process: SimulatedProcess) {
    guard let fence = process.fence, let position = process.store.position,
      position.slot >= fence.slot
    else { return }
    process.fence = nil
    guard position == fence else { return }
    process.isWriter = true
    process.store.recorded = fence
    process.acknowledgedWrite = fence.lastWrite
    process.task = .writing(
      SlotWriter(position: fence, floor: process.floor), isShipping: false)
  }

  func finish(_ process: SimulatedProcess, _ result: Takeover.Result) {
    switch result {
    case .fenced(let position):
      note(6)
      oracle.acknowledge(position, entry: nil, isHonest: isHonest)
      process.fence = position
      process.task = .idle
    case .collected: process.task = .idle
    case .refused(let error): damage(process, error)
    }
  }

  // MARK: Collectors

  func finish(_ process: SimulatedProcess, _ result: Collector.Result) {
    note(7)
    switch result {
    case .collected(let floor, _):
      process.floor = floor
      process.task = .idle
      if isHonest, floor.slot > oracle.floor { oracle.fail("a collector has an unknown floor") }
    case .refused(let error): damage(process, error)
    }
  }
}

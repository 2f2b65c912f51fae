import LodestoreFormat

@testable import LodestoreReplicas

/// The end of a history: all processes come to rest, a new writer writes, and a new store restores.
extension Simulation {
  func settle() -> Outcome {
    isSettling = true
    bucket.overwrites = false
    while !late.isEmpty { _ = execute(late.removeLast()) }
    for process in processes { process.stalledUntil = 0 }
    let old = processes
    rest(old)
    // Writers compare their positions with the chain once more.
    for process in old where process.isWriter {
      process.sent = nil
      process.task = .down
    }
    rest(old)
    guard oracle.violation == nil else { return outcome }
    let restored = restore()
    if oracle.violation == nil, isHonest {
      checkEnd(restored)
      takeOver()
    } else if !isHonest {
      checkAcknowledged()
    }
    return outcome
  }

  /// Moves processes until each waits for nothing.
  private func rest(_ members: [SimulatedProcess]) {
    for process in members {
      var moves = 0
      while oracle.violation == nil, !isAtRest(process) {
        tick += 1
        moves += 1
        move(process)
        if moves > 3000 { oracle.fail("process \(process.number) does not come to rest") }
      }
    }
  }

  private func isAtRest(_ process: SimulatedProcess) -> Bool {
    if process.sent != nil { return false }
    switch process.task {
    case .ended: return true
    case .idle: return process.fence == nil
    case .writing(let writer, isShipping: false):
      return writer.position.lastWrite == process.store.lastWrite
        && writer.position.unfinished == nil
    default: return false
    }
  }

  private func restore() -> SimulatedProcess {
    let process = add()
    rest([process])
    return process
  }

  /// The restored store has all complete writes of the chain, and all acknowledged entries.
  private func checkEnd(_ process: SimulatedProcess) {
    if process.store.position != oracle.completePosition {
      oracle.fail("restored to slot \(process.store.position?.slot ?? 0) of \(oracle.head)")
    }
    oracle.check(process.store, "the restored store")
  }

  /// A new process can take over and write, whatever has happened before.
  private func takeOver() {
    let process = add()
    rest([process])
    start(process)
    beginTakeover(process)
    rest([process])
    guard process.isWriter else { return oracle.fail("a new writer cannot take over") }
    process.store.write(random.next())
    rest([process])
    checkEnd(restore())
  }

  /// On a storage that began to overwrite, lost entries must have been reported by someone.
  private func checkAcknowledged() {
    if hasReport { return }
    for entry in oracle.acknowledged {
      let bytes = bucket.objects[.entry(slot: entry.slot)]
      // A late request of the writer's earlier session has the writes in other bytes.
      if bytes != entry.bytes, writes(bytes, entry.slot) != writes(entry.bytes, entry.slot) {
        return oracle.fail("slot \(entry.slot) was overwritten, and nobody has noticed")
      }
    }
  }

  /// The writes of an entry; `nil` without a readable one.
  private func writes(_ bytes: [UInt8]?, _ slot: UInt64) -> [UInt64]? {
    guard let bytes, let entry = try? LogEntry(reading: bytes, slot: slot) else { return nil }
    return [entry.head.lastWrite] + SimulatedReplica.values(of: entry)
  }
}

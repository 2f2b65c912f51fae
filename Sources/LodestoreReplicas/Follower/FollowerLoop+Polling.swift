internal import LodestoreFormat

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension FollowerLoop {
  /// The time for which polls in the background trust that an absent slot was not collected.
  private static let floorInterval = Duration.seconds(30)

  /// Polls once, and ends within the task, so that nobody finds a task that has ended.
  func runPoll(_ trustsAbsence: Bool) async throws {
    defer { running = nil }
    try await poll(trustsAbsence)
  }

  private func poll(_ trustsAbsence: Bool) async throws {
    if !hasCheckedReplica { try await checkReplica(client) }
    let start = client.clock.instant()
    var readAt = floorReadAt
    let isRecent = readAt.map { $0.duration(to: start) < Self.floorInterval } ?? false
    // The poll after a failure reads the floor.
    floorReadAt = nil
    while true {
      var machine = cursor
      if trustsAbsence, isRecent { machine.trustAbsence() }
      let result = try await client.run(&machine)
      cursor = machine
      if machine.hasReadFloor { readAt = start }
      switch result {
      case .apply(let entries, let isEnd):
        options.onStep(.read)
        do {
          try await apply(entries)
        } catch {
          if let failure = contentFailure(error) {
            try await mend(failure)
            continue
          }
          // Some transactions before the failure may have moved the place.
          if let mark = try? file.mark() { position = mark.position(of: replica) }
          restart()
          if error.isOfDamagedEntry, try await passDamage() { continue }
          throw error
        }
        cursor.goOn()
        if isEnd {
          try await confirmPlace()
          floorReadAt = readAt
          shared.change { $0.caughtUpAt = client.clock.date }
          try await register()
          try await purgeHistory()
          removeOldFiles()
          return
        }
      case .swap(let base):
        do {
          try await swap(base)
          cursor.goOn()
        } catch is BaseDownload.Unusable { cursor.goOn(baseIsUnusable: true) }
      case .noBase(let slot):
        restart()
        throw ReplicaError(
          .noBase,
          "cannot follow '\(client.place)': the log continues from a base of slot \(slot), which "
            + "is not there; the writer may be writing it", slot: slot)
      case .refused(let error):
        restart()
        if error.code == .damaged, try await passDamage() { continue }
        throw ReplicaError(error)
      }
    }
  }

  /// Reads again from the place that the store has.
  func restart() {
    pending = []
    cursor = FollowerCursor(
      store: replica, position: position, floor: cursor.floor, readsMerged: true)
  }

  private func apply(_ entries: [LogEntry]) async throws {
    let all = pending + entries
    guard !all.isEmpty else { return }
    let application = EntryApplication(
      file: file, store: replica, entities: options.followedEntities,
      transactionSizeLimitInBytes: options.transactionSizeLimitInBytes,
      conditions: options.conditions)
    let (start, floor, options) = (position, cursor.floor, options)
    let last = all.last?.head.lastWrite
    let result = try await BaseUpload.onThread {
      try application.apply(all, after: start, floor: floor) { result in
        options.onStep(.applied)
        options.onProgress?(
          ReplicaProgress(.applying, completed: result.position.lastWrite, total: last))
      }
    }
    position = result.position
    pending = all.filter { $0.head.slot > result.position.slot }
    shared.change {
      $0.slot = result.position.slot
      $0.epoch = result.position.epoch
      $0.lastWrite = result.position.lastWrite
      $0.changesApplied += result.changes
      if let time = result.time { $0.dataTime = Date(timeIntervalSinceReferenceDate: time) }
    }
  }
}

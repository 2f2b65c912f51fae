internal import EntityStore
internal import LodestoreFormat
internal import LodestoreJSON
internal import LodestoreSystem

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Makes a new store of a replica's base and log.
struct RestoreRun: Sendable {
  let client: ReplicaClient
  let options: RestoreOptions
  let replica: UUIDBytes
  let registration: RestoreRegistration

  /// Runs `body`, and removes the registration afterwards.
  func registered<R>(_ body: () async throws -> R) async throws -> R {
    do {
      let result = try await body()
      await registration.end()
      return result
    } catch {
      await registration.end()
      throw error
    }
  }

  /// A store that is not at its path yet.
  struct Restored: Sendable {
    var file: FollowerFile
    var position: ChainPosition
    var floor: Floor
    var report: RestoreReport
  }

  private var report: @Sendable (ReplicaProgress) -> Void { options.onProgress ?? { _ in } }

  // MARK: The base

  /// The newest base at or before the target that lies on the chain.
  ///
  /// - Parameter unusable: The faults of bases to leave out, by their slots.
  func base(
    for target: RestoreTarget, except unusable: [UInt64: ReplicaError] = [:]
  ) async throws -> BaseHead {
    var attempt = 1
    while true {
      let bases = try await client.listedBases()
      let candidates = bases.heads.reversed().filter { base in
        if base.store != replica || unusable[base.slot] != nil { return false }
        return switch target {
        case .latest: true
        case .write(let number): base.lastWrite <= number
        case .time(let date): base.time <= date.timeIntervalSinceReferenceDate
        case .slot(let slot): base.slot <= slot
        }
      }
      var isCollected = bases.isCollected
      var broken: [BaseHead] = []
      for base in candidates {
        switch try await client.place(of: base) {
        case .onChain: return base
        case .beside: break
        case .damaged: broken.append(base)
        case .noEntry:
          broken.append(base)
          isCollected = true
        }
      }
      // A collection may have deleted the bases after they were listed.
      guard isCollected, attempt < 3 else {
        throw try await noBase(for: target, bases, broken, unusable)
      }
      attempt += 1
    }
  }

  /// The reason why no base can be used.
  private func noBase(
    for target: RestoreTarget, _ listed: ListedBases, _ broken: [BaseHead],
    _ unusable: [UInt64: ReplicaError]
  ) async throws -> ReplicaError {
    let faults = listed.heads.reversed().lazy.compactMap { unusable[$0.slot] }
    if let fault = faults.first { return fault }
    let start = "cannot restore \(target.words) from '\(client.place)': "
    let slots = try await client.entries(in: .log).lazy.compactMap(\.name.collectedSlot)
    let (first, end) = (slots.first ?? 0, slots.last ?? 0)
    // The head of a base comes before the entry of its slot, which the log does not have yet. A
    // request that arrives late may store the head of a slot that was collected.
    func isKept(_ slot: UInt64) -> Bool { slot >= first && slot != end + 1 }
    let bases = listed.heads.filter { isKept($0.slot) }
    let broken = broken.filter { isKept($0.slot) }
    for base in broken {
      // The log may have got the entry after the base was looked up, and before the list.
      guard case .onChain = try await client.place(of: base) else { continue }
      return ReplicaError(
        .noBase,
        start + "the base of slot \(base.slot) was completed during the search; begin again",
        slot: base.slot)
    }
    let unreadable = listed.unreadable.filter { $0.collectedSlot.map(isKept) ?? true }
    guard broken.isEmpty, unreadable.isEmpty else {
      return ReplicaError(
        .damaged,
        start + "of \(bases.count + unreadable.count) bases, \(broken.count) do not fit the "
          + "log, and \(unreadable.count) cannot be read; put these objects back, or restore a "
          + "state after another base")
    }
    return ReplicaError(
      bases.isEmpty ? .noBase : .notKept,
      start
        + (bases.first.map {
          "the oldest base has write \($0.lastWrite) of "
            + "\(RestoreTarget.words(Date(timeIntervalSinceReferenceDate: $0.time))) in slot "
            + "\($0.slot); choose a later state"
        } ?? "it has no base; wait until the writer has written one"))
  }

  // MARK: The run

  /// Restores a state into files whose paths begin with `scratch`.
  func restore(
    to target: RestoreTarget, scratch: String, role: ReplicaMark.Role = .follower
  ) async throws -> Restored {
    var unusable: [UInt64: ReplicaError] = [:]
    while true {
      let base = try await base(for: target, except: unusable)
      do {
        return try await restore(from: base, to: target, scratch, role)
      } catch let failure as BaseDownload.Unusable {
        unusable[base.slot] = failure.error
        removeFiles(scratch)
      }
    }
  }

  private func removeFiles(_ scratch: String) {
    for end in [".sealed", ".copy", ".copy-lock"] { unlink(scratch + end) }
  }

  private func restore(
    from base: BaseHead, to target: RestoreTarget, _ scratch: String, _ role: ReplicaMark.Role
  ) async throws -> Restored {
    let (sealed, copy) = (scratch + ".sealed", scratch + ".copy")
    // A collection up to the slot before the base's keeps the base.
    await registration.keep(after: base.slot - 1, lastWrite: base.lastWrite)
    try await BaseDownload(client: client, onProgress: report).sealedFile(of: base, to: sealed)
    options.onStep(.downloaded)
    report(ReplicaProgress(.copying, completed: 0))
    let file = try await BaseUpload.onThread {
      for name in [copy, copy + "-lock"] { unlink(name) }
      let file = try FollowerFile.make(
        at: copy, from: sealed, base, role: role, floor: .none)
      unlink(sealed)
      return file
    }
    options.onStep(.copied)
    var restored = Restored(
      file: file, position: base.position, floor: .none,
      report: RestoreReport(
        baseSlot: base.slot, slot: base.slot, lastWrite: base.lastWrite,
        time: Date(timeIntervalSinceReferenceDate: base.time),
        byteCount: base.packed.length + base.frames.length))
    do {
      try await applyLog(to: &restored, target, role)
      try check(restored.report, target)
      return restored
    } catch {
      file.writable.close()
      throw error
    }
  }

  /// Applies the entries of the log up to the target.
  private func applyLog(
    to restored: inout Restored, _ target: RestoreTarget, _ role: ReplicaMark.Role
  ) async throws {
    let merged = try await mergedNames()
    var pending: [LogEntry] = []
    // The place after the last entry that was read, which may be within the parts of a write.
    var place = restored.position
    // The last wanted write of parts that were read, whose other parts follow.
    var begun: UInt64?
    while true {
      if pending.isEmpty {
        try await applyMerged(merged, to: &restored, target, role)
        place = restored.position
      }
      let next = place.slot + 1
      let distance = merged.keys.filter { $0 > next }.min().map { $0 - next } ?? 256
      var reader = ChainReader(
        position: place, floor: restored.floor,
        limit: (entries: Int(min(distance, 256)), bytes: 64 << 20))
      switch try await client.run(&reader) {
      case .read(let entries, let isEnd):
        (restored.floor, place) = (reader.floor, reader.position)
        let wanted = Cut(entries, target, begun: begun)
        begun = wanted.lastWrite
        pending += wanted.entries
        try await apply(&pending, wanted.lastWrite, role, to: &restored)
        if let base = wanted.base {
          // A base of this slot would have been chosen, so it does not exist yet, or the target is
          // a write before it.
          restored.report.incompleteReason = target.reason(ofEndAt: base)
        }
        if isEnd, !wanted.isEnd, !target.isReached(by: restored.report) {
          try await checkEnd(after: place, restored.floor)
        }
        if wanted.isEnd || isEnd { return }
      case .collected:
        throw ReplicaError(
          .notKept,
          "cannot restore from '\(client.place)': the log was collected during the restore; begin "
            + "again", slot: restored.position.slot + 1)
      case .refused(let error): throw ReplicaError(error)
      }
    }
  }

  private func apply(
    _ pending: inout [LogEntry], _ limit: UInt64?, _ role: ReplicaMark.Role,
    to restored: inout Restored
  ) async throws {
    guard !pending.isEmpty else { return }
    let last = pending.last?.head.lastWrite
    let application = EntryApplication(
      file: restored.file, store: replica, entities: nil, transactionSizeLimitInBytes: 256 << 20)
    let report = report
    let (entries, start, floor) = (pending, restored.position, restored.floor)
    let result = try await BaseUpload.onThread {
      try wrappingReplay(application.file.path, restoredFrom: client.place) {
        try application.apply(
          entries, after: start, floor: floor, through: limit, role: role
        ) { report(ReplicaProgress(.applying, completed: $0.position.lastWrite, total: last)) }
      }
    }
    let applied = pending.filter { $0.head.slot <= result.position.slot }
    pending.removeAll { $0.head.slot <= result.position.slot }
    options.onStep(.applied)
    restored.position = result.position
    restored.report.slot = result.position.slot
    restored.report.lastWrite = min(result.position.lastWrite, limit ?? .max)
    restored.report.entryCount += applied.count
    restored.report.byteCount += applied.reduce(0) { $0 + UInt64($1.bytes.count) }
    if let time = result.time {
      restored.report.time = Date(timeIntervalSinceReferenceDate: time)
    }
  }

  // MARK: Merged slots

  /// The names of merged entries by their first slots.
  func mergedNames() async throws -> [UInt64: [(level: Int, name: ReplicaName)]] {
    var names: [UInt64: [(level: Int, name: ReplicaName)]] = [:]
    for level in 1...ReplicaName.highestLevel {
      let found = try await client.entries(in: .merged, below: "\(level)/")
      if found.isEmpty, level > 1 { break }
      for (name, _) in found {
        guard case .merged(let level, let slots) = name else { continue }
        names[slots.lowerBound, default: []].append((level, name))
      }
    }
    return names
  }

  /// Applies merged entries that follow the place, which save requests.
  ///
  /// The log's entry of the last merged slot must be the one that the merged entry names.
  private func applyMerged(
    _ names: [UInt64: [(level: Int, name: ReplicaName)]], to restored: inout Restored,
    _ target: RestoreTarget, _ role: ReplicaMark.Role
  ) async throws {
    while let candidates = names[restored.position.slot + 1] {
      var isApplied = false
      for (_, name) in candidates.sorted(by: { $0.level > $1.level }) {
        guard let bytes = try await client.object(name),
          let entry = try? LogEntry(reading: bytes), !entry.head.isBeyond(target)
        else { continue }
        var position = restored.position
        guard (try? position.advance(over: entry)) != nil else { continue }
        guard let last = try await client.object(.entry(slot: position.slot)),
          SHA256.hash(last) == position.hash
        else { continue }
        var pending = [entry]
        try await apply(&pending, nil, role, to: &restored)
        isApplied = true
        break
      }
      if !isApplied { return }
    }
  }

  // MARK: The end

  func check(_ report: RestoreReport, _ target: RestoreTarget) throws {
    let isReached =
      switch target {
      case .latest, .time: true
      case .write(let number): report.lastWrite == number
      case .slot(let slot): report.slot == slot
      }
    guard !isReached else { return }
    throw ReplicaError(
      .notKept,
      "cannot restore \(target.words) from '\(client.place)': the last state before it has write "
        + "\(report.lastWrite) in slot \(report.slot)"
        + (report.incompleteReason.map { ", because \($0)" } ?? ", where the log ends")
        + "; choose another state", slot: report.slot)
  }
}

/// The entries of a batch that a target needs.
private struct Cut {
  var entries: [LogEntry] = []
  /// The last write to apply; `nil` for all of the entries.
  var lastWrite: UInt64?
  /// The slot of an entry that sends its readers to a base.
  var base: UInt64?
  var isEnd = false

  /// - Parameter begun: The last write to apply, if the entries continue parts that have it.
  init(_ all: [LogEntry], _ target: RestoreTarget, begun: UInt64?) {
    lastWrite = begun
    for entry in all {
      if case .slot(let slot) = target, entry.head.slot > slot {
        isEnd = true
        return
      }
      if entry.head.kind == .base {
        base = entry.head.slot
        isEnd = true
        return
      }
      guard entry.head.isBeyond(target) else {
        entries.append(entry)
        continue
      }
      lastWrite = entry.lastWanted(by: target) ?? lastWrite
      if lastWrite != nil { entries.append(entry) }
      // All parts of a write are read, because only whole ones can be applied.
      if lastWrite == nil || !entry.head.part.continues {
        isEnd = true
        return
      }
    }
  }
}

extension LogEntry {
  /// The last write of the entry that a target before the entry's end includes; `nil` for none.
  func lastWanted(by target: RestoreTarget) -> UInt64? {
    switch target {
    case .write(let number):
      return head.firstWrite ?? .max <= number ? number : nil
    case .time(let date):
      // All writes before the first later one.
      let time = date.timeIntervalSinceReferenceDate
      let steps = (try? steps()) ?? []
      return steps.prefix { $0.time <= time }.last?.writes.upperBound
    case .latest, .slot: return nil
    }
  }
}

extension EntryHead {
  /// Whether the entry has a write after the target.
  func isBeyond(_ target: RestoreTarget) -> Bool {
    switch target {
    case .latest: false
    case .write(let number): lastWrite > number
    case .time(let date): time > date.timeIntervalSinceReferenceDate
    case .slot(let last): slot > last
    }
  }
}

extension RestoreTarget {
  /// The reason why a restore ends before an entry that sends its readers to a base of a slot.
  func reason(ofEndAt slot: UInt64) -> String {
    "the log continues from a base of slot \(slot), which "
      + (self == .latest ? "is not there yet" : "is later than the wanted state")
  }

  /// The target in words.
  var words: String {
    switch self {
    case .latest: "the newest state"
    case .write(let number): "write \(number)"
    case .time(let date): "the state at \(Self.words(date))"
    case .slot(let slot): "slot \(slot)"
    }
  }

  /// A time with all its digits, because a rounded one would name another state.
  ///
  /// The description of a date traps for years that no calendar has.
  static func words(_ date: Date) -> String { ISO8601Text.text(date) ?? "a time of no calendar" }
}

/// Converts errors of the application of changes.
private func wrappingReplay<R>(
  _ path: String, restoredFrom place: String, _ body: () throws -> R
) throws -> R {
  do {
    return try body()
  } catch ReplayError.diverged(let names) {
    throw ReplicaError(
      .diverged,
      "cannot restore from '\(place)': the log's changes do not lead to the writer's content of "
        + "\(names.joined(separator: ", ")); restore an earlier state, or let the writer write a "
        + "new base by ReplicaWriter.writeBase() or 'kvdump replicate --base'",
      cause: ReplayError.diverged(names))
  } catch let error as ReplayError { throw ReplicaError(error, path) }
}

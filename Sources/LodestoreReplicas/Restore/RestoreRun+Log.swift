internal import EntityStore
internal import LodestoreFormat

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The application of the log to a restored store.
extension RestoreRun {
  /// Applies the entries of the log up to the target.
  func applyLog(
    to restored: inout Restored, _ target: ReplicaRestoreTarget, _ role: ReplicaMark.Role
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
        if let head = wanted.base {
          restored.next = try await base(of: head, for: target)
          restored.report.incompleteReason = target.reason(ofEndAt: head.slot)
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
    _ target: ReplicaRestoreTarget, _ role: ReplicaMark.Role
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
}

/// The entries of a batch that a target needs.
private struct Cut {
  var entries: [LogEntry] = []
  /// The last write to apply; `nil` for all of the entries.
  var lastWrite: UInt64?
  /// The head of an entry that sends its readers to a base.
  var base: EntryHead?
  var isEnd = false

  /// - Parameter begun: The last write to apply, if the entries continue parts that have it.
  init(_ all: [LogEntry], _ target: ReplicaRestoreTarget, begun: UInt64?) {
    lastWrite = begun
    for entry in all {
      if case .slot(let slot) = target, entry.head.slot > slot {
        isEnd = true
        return
      }
      if entry.head.kind == .base {
        base = entry.head
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
  func lastWanted(by target: ReplicaRestoreTarget) -> UInt64? {
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

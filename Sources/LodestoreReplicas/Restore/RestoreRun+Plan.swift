internal import LodestoreFormat

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The plan of a restore: the choices of a run, made by the heads of the entries.
extension RestoreRun {
  /// The report that a restore of a target would return.
  func plan(for target: ReplicaRestoreTarget) async throws -> ReplicaRestoreReport {
    let base = try await base(for: target)
    var plan = PlannedRestore(base, target)
    let merged = try await mergedNames()
    while !plan.isEnd {
      if plan.isWhole, try await addMerged(merged, to: &plan) { continue }
      let name = ReplicaName.entry(slot: plan.slot + 1)
      guard let (head, byteCount) = try await client.head(of: name) else {
        try await requireNotCollected(plan.slot + 1)
        break
      }
      var entry: LogEntry?
      if head.kind != .base, head.isBeyond(target), let bytes = try await client.object(name) {
        entry = try WriterOpening.reading { () throws(PackError) in
          try LogEntry(reading: bytes, slot: head.slot)
        }
      }
      if head.kind == .base, let base = try await self.base(of: head, for: target) {
        plan = PlannedRestore(base, target)
      } else {
        plan.add(head, byteCount, entry)
      }
    }
    try await checkCut(&plan)
    try check(plan.report, target)
    return plan.report
  }

  /// Adds the longest merged entry that follows the planned ones; returns whether there is one.
  private func addMerged(
    _ names: [UInt64: [(level: Int, name: ReplicaName)]], to plan: inout PlannedRestore
  ) async throws -> Bool {
    let candidates = names[plan.slot + 1] ?? []
    for (_, name) in candidates.sorted(by: { $0.level > $1.level }) {
      guard let (head, byteCount) = try? await client.head(of: name), !head.isBeyond(plan.target)
      else { continue }
      plan.add(head, byteCount, nil)
      return true
    }
    return false
  }

  private func requireNotCollected(_ slot: UInt64) async throws {
    guard try await client.isCollected(slot) else { return }
    throw ReplicaError(
      .notKept,
      "cannot restore from '\(client.place)': the log was collected meanwhile; begin again",
      slot: slot)
  }

  /// Checks that the writes up to the limit are not in one step with later ones, and adds the time
  /// of the last one.
  private func checkCut(_ plan: inout PlannedRestore) async throws {
    guard let limit = plan.lastWrite, !plan.lastUnit.isEmpty else { return }
    var entries: [LogEntry] = []
    for slot in plan.lastUnit {
      guard let bytes = try await client.object(.entry(slot: slot)) else { return }
      let entry = try WriterOpening.reading { () throws(PackError) in
        try LogEntry(reading: bytes, slot: slot)
      }
      entries.append(entry)
    }
    let whole = entries
    let units = try WriterOpening.reading { () throws(PackError) in
      try ReplayUnit.units(of: whole)
    }
    let wanted = units.filter { $0.end.after < limit }
    try wanted.checkCut(at: limit)
    if let step = wanted.last?.through(limit).steps.last {
      plan.report.time = Date(timeIntervalSinceReferenceDate: step.time)
    }
  }
}

/// The entries that a restore would apply.
private struct PlannedRestore {
  let target: ReplicaRestoreTarget
  var report: ReplicaRestoreReport
  /// The last slot that was read.
  var slot: UInt64
  var isEnd = false
  /// The last write to apply, if the target lies within entries.
  var lastWrite: UInt64?
  /// The slots of the unit of changes within which the target lies.
  var lastUnit: [UInt64] = []
  /// Parts of a write whose last part was not read yet.
  private var parts: [(slot: UInt64, byteCount: UInt64)] = []

  var isWhole: Bool { parts.isEmpty }

  init(_ base: BaseHead, _ target: ReplicaRestoreTarget) {
    self.target = target
    slot = base.slot
    report = ReplicaRestoreReport(
      baseSlot: base.slot, slot: base.slot, lastWrite: base.lastWrite,
      time: Date(timeIntervalSinceReferenceDate: base.time),
      byteCount: base.packed.length + base.frames.length)
  }

  /// Adds the next entry, or ends before it.
  ///
  /// - Parameter entry: The whole entry, if its writes go beyond the target.
  mutating func add(_ head: EntryHead, _ byteCount: UInt64, _ entry: LogEntry?) {
    if case .slot(let last) = target, head.slot > last { return isEnd = true }
    if head.kind == .base {
      report.incompleteReason = target.reason(ofEndAt: head.slot)
      return isEnd = true
    }
    if let entry {
      lastWrite = entry.lastWanted(by: target) ?? lastWrite
      // All parts of a write are read, because only whole ones can be applied.
      isEnd = lastWrite == nil || !head.part.continues
      if lastWrite == nil { return }
    }
    slot = head.slot
    parts.append((head.slot, byteCount))
    guard !head.part.continues else { return }
    if lastWrite != nil { lastUnit = parts.map(\.slot) }
    report.slot = head.slot
    report.lastWrite = min(head.lastWrite, lastWrite ?? .max)
    report.entryCount += parts.count
    report.byteCount += parts.reduce(0) { $0 + $1.byteCount }
    // The head has the time of the last write, which may be after the target.
    if lastWrite.map({ head.lastWrite <= $0 }) ?? true {
      report.time = Date(timeIntervalSinceReferenceDate: head.time)
    }
    parts = []
  }
}

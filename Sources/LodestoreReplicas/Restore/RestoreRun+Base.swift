internal import LodestoreFormat

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The choice of a base.
extension RestoreRun {
  /// The newest base at or before the target that lies on the chain.
  ///
  /// - Parameter unusable: The faults of bases to leave out, by their slots.
  func base(
    for target: ReplicaRestoreTarget, except unusable: [UInt64: ReplicaError] = [:]
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

  /// The base to which an entry sends its readers; `nil` if the target is before it, or the base
  /// is not there.
  ///
  /// A list of bases can lack the base, because the list is older than the entry.
  func base(of entry: EntryHead, for target: ReplicaRestoreTarget) async throws -> BaseHead? {
    guard !entry.isBeyond(target), let name = entry.base, name.isHeadOfBase,
      let bytes = try await client.object(name),
      let base = try? BaseHead(reading: bytes, named: name.text), base.slot == entry.slot,
      base.store == replica, try await client.place(of: base) == .onChain
    else { return nil }
    return base
  }

  /// The reason why no base can be used.
  private func noBase(
    for target: ReplicaRestoreTarget, _ listed: ListedBases, _ broken: [BaseHead],
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
      // The log may have got the entry after the base was looked up, and before the list. The
      // entry may be that of another base, which the search has not seen.
      switch try await client.place(of: base) {
      case .noEntry, .damaged: continue
      case .onChain, .beside:
        return ReplicaError(
          .noBase, start + "slot \(base.slot) was written during the search; begin again",
          slot: base.slot)
      }
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
        + (bases.first.map { base in
          let time = Date(timeIntervalSinceReferenceDate: base.time)
          return "the oldest base has write \(base.lastWrite) of "
            + "\(ReplicaRestoreTarget.words(time)) in slot \(base.slot); choose a later state, "
            + "which Replica.writes(of:options:) and 'kvdump replica log' list"
        } ?? "it has no base; wait until the writer has written one"))
  }
}

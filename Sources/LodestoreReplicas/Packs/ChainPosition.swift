package import LodestoreFormat

/// A place in a replica's log: the last entry that a writer or a follower has.
package struct ChainPosition: Sendable, Hashable {
  /// The slot of the last entry; 0 before the first one.
  package var slot: UInt64
  /// The hash of the last entry; empty before the first one.
  package var hash: [UInt8]
  package var epoch: UInt64
  package var store: UUIDBytes
  /// The last write that all entries up to this place have as a whole.
  package var lastWrite: UInt64
  /// The unfinished writes whose parts end here; `nil` for none.
  package var unfinished: Unfinished?

  /// The parts so far of writes that span entries.
  package struct Unfinished: Sendable, Hashable {
    package var writes: ClosedRange<UInt64>
    package var part: UInt64
  }

  /// The place before slot 1.
  package static func start(of store: UUIDBytes) -> ChainPosition {
    ChainPosition(slot: 0, hash: [], epoch: 0, store: store, lastWrite: 0)
  }

  package init(
    slot: UInt64, hash: [UInt8], epoch: UInt64, store: UUIDBytes, lastWrite: UInt64,
    unfinished: Unfinished? = nil
  ) {
    self.slot = slot
    self.hash = hash
    self.epoch = epoch
    self.store = store
    self.lastWrite = lastWrite
    self.unfinished = unfinished
  }

  /// The place after an entry whose slots before it were collected.
  package init(after entry: LogEntry) {
    let head = entry.head
    self.init(
      slot: head.slot, hash: entry.hash, epoch: head.epoch, store: head.store,
      lastWrite: head.lastWrite)
    guard head.part.continues, let firstWrite = head.firstWrite else { return }
    lastWrite = max(firstWrite, 1) - 1
    unfinished = Unfinished(writes: firstWrite...head.lastWrite, part: head.part.number)
  }

  /// Moves to the next entry of the log, or to the end of merged slots.
  ///
  /// A fence of a higher epoch ends unfinished writes: their parts count for nothing.
  ///
  /// - Throws: `PackError` with the code `brokenChain` unless the entry follows this place; the
  ///   place then stays as it was.
  package mutating func advance(over entry: LogEntry) throws(PackError) {
    let head = entry.head
    if let fault = chainFault(of: head) ?? writesFault(of: head) {
      throw PackError(
        .brokenChain,
        "cannot use the entry of slot \(head.slot): \(fault); start again from a base",
        slot: head.slot)
    }
    slot = head.slot
    hash = head.merged?.lastEntry ?? entry.hash
    epoch = head.epoch
    unfinished = nil
    if head.part.continues, let firstWrite = head.firstWrite {
      unfinished = Unfinished(writes: firstWrite...head.lastWrite, part: head.part.number)
    } else {
      lastWrite = head.lastWrite
    }
  }

  private func chainFault(of head: EntryHead) -> String? {
    let isRaised = head.epoch > epoch && slot > 0
    let isFence = head.kind == .fence
    if head.store != store { return "it belongs to another replica" }
    if (head.merged?.firstSlot ?? head.slot) != slot + 1 { return "the slot before it is \(slot)" }
    if head.previous ?? [] != hash { return "the entry before it is another one" }
    if head.epoch < epoch { return "its epoch \(head.epoch) is lower than \(epoch)" }
    if isFence, slot > 0, !isRaised { return "it is a fence without a higher epoch" }
    if isRaised, !isFence, head.merged == nil { return "its epoch \(head.epoch) has no fence" }
    return nil
  }

  private func writesFault(of head: EntryHead) -> String? {
    if let unfinished {
      if head.kind == .fence { return head.lastWrite == lastWrite ? nil : "its writes have a gap" }
      return head.firstWrite == unfinished.writes.lowerBound
        && head.lastWrite == unfinished.writes.upperBound && head.part.number == unfinished.part + 1
        ? nil : "it does not continue the writes of the entry before"
    }
    guard head.part.number == 1 else { return "the parts before it are missing" }
    switch head.kind {
    case .pack: return head.firstWrite == lastWrite + 1 ? nil : "its writes have a gap"
    case .base: return head.lastWrite >= lastWrite ? nil : "its base is older than the log"
    case .fence, .empty: return head.lastWrite == lastWrite ? nil : "its writes have a gap"
    }
  }
}

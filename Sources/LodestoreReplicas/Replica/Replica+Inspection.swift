public import EntityStore
internal import LodestoreFormat

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The state of a replica in its storage.
public struct ReplicaSummary: Sendable, Hashable {
  /// A base of a replica.
  public struct Base: Sendable, Hashable {
    /// The slot whose state the base has.
    public var slot: UInt64
    /// The last write of that state.
    public var lastWrite: UInt64
    /// The time of that write by the writer's clock.
    public var time: Date
    /// The size of the sealed file in bytes.
    public var byteCount: UInt64
    /// The size of the compressed file in bytes.
    public var packedByteCount: UInt64
  }

  /// A registered follower.
  public struct Follower: Sendable, Hashable {
    /// The name under which the follower has registered.
    public var id: String
    /// The last slot that it has applied.
    public var slot: UInt64
    /// The last write that it has applied.
    public var lastWrite: UInt64
    /// The time of its report by its clock.
    public var time: Date
  }

  /// The UUID of the replica, which all its entries and bases name.
  public var replicaID: String
  /// The time at which the replica was created.
  public var createdAt: Date
  /// The slots of the log that exist; `nil` for an empty log.
  public var slots: ClosedRange<UInt64>?
  /// The bytes of these slots.
  public var logBytes: UInt64 = 0
  /// The epoch of the newest slot.
  public var epoch: UInt64 = 0
  /// The last write of the log.
  public var lastWrite: UInt64 = 0
  /// The time of that write by the writer's clock.
  public var lastWriteAt: Date?
  /// The name of the machine that has written the newest slot.
  public var writer: String?
  /// The bases in ascending order of their slots.
  public var bases: [Base] = []
  /// The registered followers in the order of their names.
  public var followers: [Follower] = []
  /// The holder of the lease, which is no proof that a writer is alive.
  public var leaseHolder: String?
  /// The end of the lease by the holder's clock.
  public var leaseUntil: Date?
}

extension Replica {
  /// Reads the state of a replica; changes nothing.
  ///
  /// - Parameter failureLimit: The number of failures in a row after which the call throws.
  /// - Complexity: one list of the log, and one request for each base and each follower.
  /// - Throws: ``ReplicaError``.
  public static func summary(
    of bucket: ReplicaStorage, failureLimit: Int = 6
  ) async throws -> ReplicaSummary {
    let client = bucket.client.giving(upAfter: failureLimit)
    let info = try await FollowerLoop.info(client)
    func date(_ time: Double) -> Date { Date(timeIntervalSinceReferenceDate: time) }
    var summary = ReplicaSummary(replicaID: info.store.text, createdAt: date(info.createdAt))
    let log = try await client.entries(in: .log)
    let slots = log.compactMap(\.name.collectedSlot)
    summary.logBytes = log.reduce(0) { $0 + $1.byteCount }
    if let first = slots.first, let last = slots.last {
      summary.slots = first...last
      if let bytes = try await client.object(.entry(slot: last)) {
        let entry = try WriterOpening.reading { () throws(PackError) in
          try LogEntry(reading: bytes, slot: last)
        }
        summary.epoch = entry.head.epoch
        summary.lastWrite = entry.head.lastWrite
        summary.lastWriteAt = date(entry.head.time)
        summary.writer = entry.head.writer
      }
    }
    summary.bases = try await client.bases().map {
      ReplicaSummary.Base(
        slot: $0.slot, lastWrite: $0.lastWrite, time: date($0.time), byteCount: $0.length,
        packedByteCount: $0.packed.length)
    }
    for (name, _) in try await client.entries(in: .followers) {
      guard let bytes = try await client.object(name),
        let mark = try? FollowerMark(reading: bytes, named: name.text)
      else { continue }
      summary.followers.append(
        ReplicaSummary.Follower(
          id: mark.id, slot: mark.slot, lastWrite: mark.lastWrite, time: date(mark.time)))
    }
    if let bytes = try await client.object(.lease),
      let lease = try? Lease(reading: bytes, named: ReplicaName.lease.text)
    {
      summary.leaseHolder = lease.holder
      summary.leaseUntil = date(lease.until)
    }
    return summary
  }

  /// The place of a store in a replica's log; `nil` if the store has none.
  ///
  /// - Throws: ``ReplicaError``; `StoreError`.
  public static func position(of store: Store) throws -> ReplicaPosition? {
    guard let mark = try ReplicaMark.of(store) else { return nil }
    let last = try store.read { try $0.historyToken().number }
    let unmarked = mark.role == .writer && last > mark.localWrite ? last - mark.localWrite : 0
    return ReplicaPosition(
      isWriter: mark.role == .writer, slot: mark.slot, epoch: mark.epoch,
      lastWrite: mark.lastWrite, writesSince: unmarked)
  }

  /// Checks that a store can be replicated; changes nothing.
  ///
  /// - Throws: ``ReplicaError`` with the code `unsuitableStore` and the names of the entities.
  public static func check(_ store: Store) throws {
    guard store.seal == nil else { throw ReplicaError.sealedStore(store.path) }
    do {
      try store.read { try $0.checkReplayable() }
    } catch let error as ReplayError { throw ReplicaError(error, store.path) }
  }
}

/// The place of a store in a replica's log, as the store has recorded it.
public struct ReplicaPosition: Sendable, Hashable {
  /// Whether the store is the writer's; otherwise it is a follower's copy.
  public var isWriter: Bool
  /// The last recorded slot.
  public var slot: UInt64
  /// The epoch of that slot.
  public var epoch: UInt64
  /// The last write of the log up to that slot.
  public var lastWrite: UInt64
  /// The number of the store's writes since then, which may or may not be in the log.
  public var writesSince: UInt64
}

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A write of a replica's log, whose state can be restored.
public struct ReplicaWrite: Sendable, Hashable {
  /// The changed records of one entity.
  public struct Changes: Sendable, Hashable {
    /// The name of the entity.
    public var entity: String
    /// The number of inserted records.
    ///
    /// A deleted record that an undo inserts again counts as updated.
    public var insertedCount: UInt64 = 0
    /// The number of updated records.
    public var updatedCount: UInt64 = 0
    /// The number of deleted records.
    public var deletedCount: UInt64 = 0
    /// Whether the log has all records of the entity in place of the changed ones.
    ///
    /// The history of the writer's store did not have the changes. Deleted records are not counted.
    public var isWhole = false
  }

  /// The number of the write, as the log numbers writes; of several ones the last number.
  public var number: UInt64
  /// The number of the first write, if the log has several writes together; otherwise ``number``.
  ///
  /// Only the state after the last one can be restored.
  public var firstNumber: UInt64
  /// The time of the write by the writer's clock.
  public var time: Date
  /// The slot of the log that completes the write.
  public var slot: UInt64
  /// The epoch of that slot, which each takeover raises.
  public var epoch: UInt64
  /// The name of the machine that has sent the write; `nil` if it has none.
  public var writer: String?
  /// The author of the write; `nil` for none.
  public var author: String?
  /// The context of the write; `nil` for none.
  public var context: String?
  /// Whether the log has a base with the state after the write, and not its changes.
  public var isBase = false
  /// The changed records of each entity, in the order of the entities' numbers.
  public var changes: [Changes] = []
  /// The number of added, removed and moved links outside of records.
  public var linkCount: UInt64 = 0

  init(_ writes: ClosedRange<UInt64>, time: Double, _ head: EntryHead) {
    number = writes.upperBound
    firstNumber = writes.lowerBound
    self.time = Date(timeIntervalSinceReferenceDate: time)
    slot = head.slot
    epoch = head.epoch
    writer = head.writer
  }
}

/// The part of a replica's log to list.
public struct ReplicaLogOptions: Sendable {
  /// The time of the oldest write; `nil` for all that are kept.
  ///
  /// Times are those of the writer's clock. After the clock was put back, the list may end too
  /// early.
  public var since: Date?
  /// The time of the newest write; `nil` for the newest one of the log.
  public var until: Date?
  /// The maximum number of writes; `nil` for all.
  public var limit: Int?
  /// The number of failures in a row after which the sequence throws.
  ///
  /// The default is 6.
  public var failureLimit = 6

  /// Creates the default options.
  public init() {}
}

extension Replica {
  /// The writes of a replica's log, the newest first; changes nothing.
  ///
  ///     for try await write in Replica.writes(of: bucket) where write.time < date {
  ///       try await Replica.restore(bucket, to: .write(write.number), at: path)
  ///       break
  ///     }
  ///
  /// The sequence ends at the oldest base, before which no state can be restored. The newest write
  /// comes first, because a mistake is usually among the last of many writes. Writes that change
  /// only buckets are left out.
  ///
  /// - Complexity: one request for each slot that is listed; two entries in memory. To find the end
  ///   of the log takes one request for each base, and the logarithm of the slots after the last.
  /// - Throws: The sequence throws ``ReplicaError`` and `CancellationError`.
  public static func writes(
    of bucket: ReplicaStorage, options: ReplicaLogOptions = ReplicaLogOptions()
  ) -> AsyncThrowingStream<ReplicaWrite, any Error> {
    let listing = LogListing(bucket.client.giving(upAfter: options.failureLimit), options)
    return AsyncThrowingStream(unfolding: { try await listing.next() })
  }
}

/// The options of a writer.
public struct ReplicaWriterOptions: Sendable {
  /// The time at which a write counts as done.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Durability: Sendable {
    /// ``ReplicaWriter/write(author:contextName:_:)`` returns when the local commit is on disk.
    ///
    /// The storage follows a moment later, and ``ReplicaWriter/status`` shows the lag.
    case local
    /// ``ReplicaWriter/write(author:contextName:_:)`` returns when the storage has the changes.
    case replicated
  }

  /// The time at which a write counts as done.
  ///
  /// The default is ``Durability/local``.
  public var durability = Durability.local
  /// The longest time for which commits are collected before they are sent.
  ///
  /// The default is 200 milliseconds. Writes that wait for the storage are sent at once.
  public var flushInterval = Duration.milliseconds(200)
  /// The number of writes after which commits are sent before ``flushInterval`` is over.
  ///
  /// The default is 2,000.
  public var flushCount: UInt64 = 2_000
  /// The compression level of zstd for packs, from 1 to 19.
  ///
  /// The default is 3. A higher level takes more processor time for each commit.
  public var packCompressionLevel = 3
  /// The compression level of zstd for bases, from 1 to 19.
  ///
  /// The default is 6.
  public var baseCompressionLevel = 6
  /// The size of the log since the last base, as a share of that base, after which a new base is
  /// written.
  ///
  /// The default is 1. The base counts in compressed bytes, as does the log.
  public var baseThreshold = 1.0
  /// The size of the log in bytes below which no new base is written.
  public var minimumLogSizeForBase: UInt64 = 16 << 20
  /// The time for which every state of the store can be restored.
  ///
  /// Older parts of the log are deleted after a newer base exists. The default is seven days; `nil`
  /// keeps everything.
  public var retention: Duration? = .seconds(7 * 86_400)
  /// The time after which a registered follower that has not reported its place no longer prevents
  /// the deletion of old parts of the log.
  ///
  /// The default is 30 days. A follower that comes back later begins again at a base. If its clock is
  /// ahead, the time counts from the first collection of this writer that has read the report.
  public var followerTimeout = Duration.seconds(30 * 86_400)
  /// The interval at which the store records its place in the log.
  ///
  /// The default is one second. After a crash, entries since then are compared with the store's
  /// history. The writer checks at the same interval that the storage still has its last entry. For
  /// this long, a storage that was put back to an earlier state takes writes that no reader reaches.
  public var checkpointInterval = Duration.seconds(1)
  /// The interval at which the lease is renewed; `nil` writes none.
  ///
  /// The default is 30 seconds. The lease tells people and ``Replica/takeOver(_:at:options:)`` that
  /// a writer is alive, and lasts for three intervals. No safety depends on the lease or on any
  /// clock.
  public var leaseInterval: Duration? = .seconds(30)
  /// A name of the machine or the process, for people.
  public var name: String?
  /// Whether a store that belongs to one replica may leave it, and begin another one in a storage
  /// without a replica.
  ///
  /// The default is false: an empty storage may be a wrong address, or may have lost its objects.
  /// The earlier replica stays as it is.
  public var beginsNewReplica = false
  /// Whether the storage is tested before its first use by this writer.
  ///
  /// The default is true. The test makes some 20 requests.
  public var probesStorage = true
  /// The number of failures in a row after which opening throws.
  ///
  /// The default is 6. A running writer has no limit: it repeats its requests until it is stopped.
  public var openingFailureLimit = 6
  /// Called after each change of the status, at most every 100 milliseconds, for metrics.
  ///
  /// The writer waits for the call. Two calls on different threads may overlap.
  public var onStatus: (@Sendable (ReplicaWriterStatus) -> Void)?
  /// Called during long steps, on the thread that works.
  public var onProgress: (@Sendable (ReplicaProgress) -> Void)?

  /// The limits of the changes that followers apply as a whole; smaller ones are for tests.
  var unitLimits = PackedUnit.Limits()
  /// The steps of a writer at which tests end the process.
  var onStep: @Sendable (WriterStep) -> Void = { _ in }

  /// Creates the default options.
  public init() {}
}

/// The steps of a writer, for tests that end the process at each of them.
package enum WriterStep: String, Sendable, CaseIterable {
  case opened, packed, shipped, marked, uploaded, baseEntryShipped, baseWritten, merged
  case collected
}

extension ReplicaWriterOptions {
  /// Sets the closure that tests use to end the process at a step.
  package mutating func setStepHook(_ body: @escaping @Sendable (WriterStep) -> Void) {
    onStep = body
  }
}

/// The state of a writer.
public struct ReplicaWriterStatus: Sendable {
  /// The last committed slot of the log; 0 for none.
  public var slot: UInt64 = 0
  /// The epoch of the writer, which rises with each takeover.
  public var epoch: UInt64 = 0
  /// The last write of the store that the storage has, as the log numbers writes.
  public var replicatedWrite: UInt64 = 0
  /// The number of writes that the storage does not have yet.
  public var lagInWrites: UInt64 = 0
  /// The time since the oldest commit that the storage does not have; zero if it has all.
  public var lag = Duration.zero
  /// The number of packed bytes that are being sent.
  public var lagInBytes: UInt64 = 0
  /// The slot of the newest base; `nil` before the first base.
  public var baseSlot: UInt64?
  /// The bytes of the log since that base.
  public var logBytesSinceBase: UInt64 = 0
  /// The number of changed records and links that were sent since the writer was opened.
  public var changesSent: UInt64 = 0
  /// The bytes of entries that were sent since the writer was opened.
  public var entryBytesSent: UInt64 = 0
  /// The requests since the writer was opened.
  public var traffic = ReplicaTraffic()
  /// The last failure that the writer repeats or works around; `nil` after a success.
  public var lastFailure: ReplicaError?
  /// The failure that has ended the writer; `nil` while it runs.
  public var end: ReplicaError?

  init() {}
}

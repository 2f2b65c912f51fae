#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The state of a replica to restore.
public enum ReplicaRestoreTarget: Sendable, Hashable {
  /// The newest state.
  case latest
  /// The state after a write, as the log numbers writes.
  case write(UInt64)
  /// The state at a time by the writer's clock: the last write at or before it.
  case time(Date)
  /// The state after a slot of the log.
  case slot(UInt64)
}

/// The options of a restore and of a takeover.
public struct ReplicaRestoreOptions: Sendable {
  /// Whether the restored file is sealed, which nobody can change.
  public var seals = false
  /// The number of failures in a row after which the call throws.
  ///
  /// The default is 6.
  public var failureLimit = 6
  /// Whether a takeover ignores the lease of a writer that seems to be alive.
  public var ignoresLease = false
  /// Whether a takeover waits until nobody has renewed the lease for its duration.
  ///
  /// The wait is measured by this machine's clock. While a writer renews its lease, the call does
  /// not end.
  public var waitsForLease = false
  /// A name of the machine or the process that takes over, for people.
  public var name: String?
  /// Called during long steps, on the thread that works.
  public var onProgress: (@Sendable (ReplicaProgress) -> Void)?

  /// The steps of a restore at which tests end the process.
  var onStep: @Sendable (RestoreStep) -> Void = { _ in }

  /// Creates the default options.
  public init() {}
}

/// The steps of a restore and of a takeover, for tests that end the process at each of them.
package enum RestoreStep: String, Sendable, CaseIterable {
  case downloaded, copied, applied, fenced, marked, complete, linked
}

extension ReplicaRestoreOptions {
  /// Sets the closure that tests use to end the process at a step.
  package mutating func setStepHook(_ body: @escaping @Sendable (RestoreStep) -> Void) {
    onStep = body
  }
}

/// The result of a restore, or the plan of one.
public struct ReplicaRestoreReport: Sendable, Hashable {
  /// The slot of the base from which the restore begins.
  public var baseSlot: UInt64
  /// The slot of the last entry that is applied in whole or in part.
  public var slot: UInt64
  /// The last write of the restored state, as the log numbers writes.
  public var lastWrite: UInt64
  /// The time of the last write of the restored state by the writer's clock; `nil` if it is not
  /// known.
  public var time: Date?
  /// The number of applied entries, merged ones included.
  public var entryCount = 0
  /// The number of bytes of the base and of the entries.
  public var byteCount: UInt64 = 0
  /// The reason why the newest entries could not be restored; `nil` if everything was.
  public var incompleteReason: String?
}

internal import LMDB
public import LodestoreEssentials

/// A write that waits for a writer of another process.
public struct WriteWaitWarning: Sendable {
  /// The writing process, in words, as in `process 12 (kvdump, stopped)`.
  public let holder: String
  /// The time at which that process began to write; `nil` when the process does not report it.
  public let since: Date?
  /// The waiting time of the write.
  public let waited: Duration

  init(_ holder: TurnHolder, waited: Duration) {
    self.holder = holder.name
    since = holder.since.map { Date(timeIntervalSinceReferenceDate: $0) }
    self.waited = waited
  }
}

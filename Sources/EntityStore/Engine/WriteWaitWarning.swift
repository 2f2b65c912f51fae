internal import LMDB

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A write that waits for a writer of another process.
public struct WriteWaitWarning: Sendable {
  /// The process that has the turn, in words, as in `process 12 (kvdump, stopped)`.
  public let holder: String
  /// When the turn of that process began; `nil` for a process that does not tell.
  public let since: Date?
  /// How long the write has waited.
  public let waited: Duration

  init(_ holder: TurnHolder, waited: Duration) {
    self.holder = holder.name
    since = holder.since.map { Date(timeIntervalSinceReferenceDate: $0) }
    self.waited = waited
  }
}

/// A snapshot that has been kept for long.
public struct SnapshotWarning: Sendable {
  /// The number of the commit that it keeps.
  public let generation: CommitNumber
  /// How long it has been kept.
  public let age: Duration
  /// What it costs: see ``PinnedSnapshot/bytesHeldBack()``.
  public let bytesHeldBack: Int
}

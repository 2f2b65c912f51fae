/// A snapshot that has been kept for a long time.
public struct SnapshotWarning: Sendable {
  /// The number of the snapshot's commit.
  public let commitNumber: CommitNumber
  /// The time since the snapshot was pinned.
  public let age: Duration
  /// The bytes of the file that the snapshot keeps from reuse; see
  /// ``PinnedSnapshot/bytesHeldBack()``.
  public let bytesHeldBack: Int
}

/// A write that waits for a writer of another process.
public struct WriteWaitWarning: Sendable {
  /// The process that has the turn, in words, as in `process 12 (kvdump, stopped)`.
  public let holder: String
  /// How long the write has waited.
  public let waited: Duration
}

/// The progress of a long step of a writer, a follower or a restore.
public struct ReplicaProgress: Sendable, Hashable {
  /// The steps of long work.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Step: String, Sendable {
    /// A commit is copied into a sealed file, counted in records and entries.
    case sealing
    /// A base is uploaded, counted in compressed bytes.
    case uploading
    /// A base is downloaded, counted in compressed bytes.
    case downloading
    /// A base is copied into a file that can be changed; without a count.
    case copying
    /// Changes are applied, counted in writes.
    case applying
  }

  /// The current step.
  public let step: Step
  /// The completed amount of the step.
  public let completed: UInt64
  /// The total amount of the step; `nil` if it is unknown.
  public let total: UInt64?

  init(_ step: Step, completed: UInt64, total: UInt64? = nil) {
    (self.step, self.completed, self.total) = (step, completed, total)
  }

  /// The completed share from 0 to 1; `nil` if ``total`` is unknown.
  public var fraction: Double? {
    total.map { $0 == 0 ? 1 : min(1, Double(completed) / Double($0)) }
  }
}

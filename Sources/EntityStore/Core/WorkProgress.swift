/// The progress of a fetch or of a batch operation in chunks.
public struct WorkProgress: Sendable, Hashable {
  /// The number of records that have been read or changed.
  public let completed: Int
  /// The total number of records; `nil` when it is unknown.
  public let total: Int?

  /// Creates the progress `completed` of `total`.
  public init(completed: Int, total: Int?) {
    self.completed = completed
    self.total = total
  }

  /// The progress as a fraction from 0 to 1; `nil` when ``total`` is `nil`.
  public var fraction: Double? {
    total.map { $0 == 0 ? 1 : min(1, Double(completed) / Double($0)) }
  }
}

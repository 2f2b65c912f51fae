/// How far a fetch or a batch operation in chunks is.
public struct WorkProgress: Sendable, Hashable {
  /// How many records have been read or changed.
  public let completed: Int
  /// How many will be; `nil` where that is not known.
  public let total: Int?

  /// `completed` of `total`.
  public init(completed: Int, total: Int?) {
    self.completed = completed
    self.total = total
  }

  /// From 0 to 1; `nil` where ``total`` is.
  public var fraction: Double? {
    total.map { $0 == 0 ? 1 : min(1, Double(completed) / Double($0)) }
  }
}

/// One thing that opening a store with some declared types would change in the file.
public struct SchemaChange: Sendable, Hashable {
  /// The cost of a change; more may be added, keep a default case.
  public struct Cost: Sendable, Hashable, CustomStringConvertible {
    /// `free`, `pass` or `refused`.
    public let description: String

    /// Nothing that depends on the number of records.
    public static let free = Cost(description: "free")
    /// A pass over the records of the entity.
    public static let pass = Cost(description: "pass")
    /// The change is not made: opening throws.
    public static let refused = Cost(description: "refused")
  }

  /// The entity.
  public let entity: String
  /// The change in words.
  public let text: String
  /// The cost of the change.
  public let cost: Cost

  init(_ entity: String, _ text: String, _ cost: Cost) {
    self.entity = entity
    self.text = text
    self.cost = cost
  }
}

extension SchemaChange: CustomStringConvertible {
  /// As in `Film: new index on title (pass)`.
  public var description: String { "\(entity): \(text) (\(cost))" }
}

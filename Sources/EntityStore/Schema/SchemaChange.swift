/// A change that opening a store with given types would make in the file.
public struct SchemaChange: Sendable, Hashable {
  /// The cost of a change.
  ///
  /// More costs may be added, so a `switch` needs a default case.
  public struct Cost: Sendable, Hashable, CustomStringConvertible {
    /// The name of the cost: `free`, `pass` or `refused`.
    public let description: String

    /// A cost that does not depend on the number of records.
    public static let free = Cost(description: "free")
    /// The cost of a pass over all records of the entity.
    public static let pass = Cost(description: "pass")
    /// The change is refused: opening the store throws.
    public static let refused = Cost(description: "refused")
  }

  /// The name of the entity.
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
  /// The change as text, such as `Film: new index on title (pass)`.
  public var description: String { "\(entity): \(text) (\(cost))" }
}

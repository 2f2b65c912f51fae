/// An index over several values of a record: those that a path leads to in an array or JSON.
///
///     var authors: [Author]
///     static let elementIndexes = [ElementIndex<Pod>(\.authors, "name")]
///
/// Conditions on any of the elements use it: `ANY authors.name == "Ann"`. `#Index<Pod>([\.keywords])` is one
/// without a path. It has an entry for each text, number, Boolean, date, UUID and data among the elements;
/// null, and what is nested deeper, have none.
public struct ElementIndex<E: Entity>: Sendable {
  let attribute: any PartialKeyPath<E> & Sendable
  let path: [String]

  /// - Parameter path: the names of members, of nested structs their coding keys, on the way to the values.
  public init<Value: Codable>(
    _ attribute: any KeyPath<E, Value> & Sendable, _ path: String...
  ) {
    self.attribute = attribute
    self.path = path
  }
}

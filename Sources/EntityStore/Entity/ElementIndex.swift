/// An index on several values of a record: the elements at a path into an array or JSON.
///
///     var authors: [Author]
///     static let elementIndexes = [ElementIndex<Pod>(\.authors, "name")]
///
/// Conditions on any of the elements use the index: `ANY authors.name == "Ann"`.
/// `#Index<Pod>([\.keywords])` declares an element index without a path. The index has an entry for
/// each element that is a text, number, Boolean, date, UUID or data. Null and nested arrays or
/// objects have no entry.
public struct ElementIndex<E: Entity>: Sendable {
  let attribute: any PartialKeyPath<E> & Sendable
  let path: [String]

  /// Declares an index on the elements at a path.
  ///
  /// - Parameter path: the names of the members that lead to the values; in nested structs their
  ///   coding keys.
  public init<Value: Codable>(_ attribute: any KeyPath<E, Value> & Sendable, _ path: String...) {
    self.attribute = attribute
    self.path = path
  }
}

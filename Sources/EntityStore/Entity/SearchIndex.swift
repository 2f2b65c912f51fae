internal import LodestoreFormat

/// An index on the words of texts, for searches.
///
///     static let searchIndexes = [SearchIndex<Pod>(.init(\.name, weight: 3), .init(\.summary))]
///
/// The index is kept in the same transaction as the records, by each program that writes the file.
/// See <doc:Search>.
public struct SearchIndex<E: Entity>: Sendable {
  /// A text that is searched.
  public struct Source: Sendable {
    let attribute: any PartialKeyPath<E> & Sendable
    let path: [String]
    let weight: Int

    /// - Parameters:
    ///   - attribute: a text, an array or JSON. All texts at `path` are searched.
    ///   - path: the names of the members that lead to the texts; in nested structs their coding
    ///     keys.
    ///   - weight: the weight of a word of this text in scores, from 1 to 100. A word in a text of
    ///     weight 3 counts as three words.
    public init<Value>(
      _ attribute: any KeyPath<E, Value> & Sendable, _ path: String..., weight: Int = 1
    ) {
      self.attribute = attribute
      self.path = path
      self.weight = weight
    }

    /// The weight; throws if it is out of its range.
    func checkedWeight(_ entity: String) throws(StoreError) -> UInt32 {
      let highest = EntityDescription.ComputedIndex.highestWeight
      guard weight >= 1, weight <= highest else {
        throw .badSchema(
          entity: entity, "the weight \(weight) of a search index is not from 1 to \(highest)")
      }
      return UInt32(weight)
    }
  }

  let sources: [Source]

  /// Declares an index.
  ///
  /// - Parameter sources: 1 to 16 texts.
  public init(_ sources: Source...) { self.sources = sources }
}

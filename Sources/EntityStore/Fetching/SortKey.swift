internal import LodestoreFormat

/// The position in an order of records without a value.
public struct NullPlacement: Sendable, Hashable {
  let isFirst: Bool
  /// Null comes before all values.
  public static let first = NullPlacement(isFirst: true)
  /// Null comes after all values.
  public static let last = NullPlacement(isFirst: false)
}

/// One key of an order, made from an attribute, such as `\.title.descending`.
///
/// The key may also use an attribute of a related record, `\.group[\.name].ascending`, an aggregate
/// of related records, `$0.notes.count.descending`, or a value computed from an attribute.
public struct SortKey<E: Entity>: Sendable {
  /// The term of the order, or the error that running the query throws.
  let term: Result<SortTerm, StoreError>

  init(_ term: Result<SortTerm, StoreError>) { self.term = term }

  /// Creates a key that makes running the query throw an error.
  package init(refusing reason: String) { term = .failure(.badQuery(reason)) }

  /// Creates a key for the attribute at `path`.
  package init(_ path: PartialKeyPath<E>, isDescending: Bool) {
    guard let ordinal = E.schema.index(of: path) else {
      self.init(refusing: "\(path) is no attribute of \(E.schema.name), so it cannot sort")
      return
    }
    let name = E.schema.attributes[ordinal].name
    self.init(.success(SortTerm(ValuePath(attribute: name), isDescending: isDescending)))
  }
}

extension Attribute {
  /// Sorts the lowest value first, after nulls.
  ///
  /// Text is in the order of Swift's `<`. Values inside JSON are in the order Booleans, numbers,
  /// texts; arrays and objects count as null.
  public var ascending: SortKey<E> { sortKey(isDescending: false, nil, []) }

  /// Sorts the highest value first, before nulls.
  public var descending: SortKey<E> { sortKey(isDescending: true, nil, []) }

  /// Sorts the lowest value first.
  ///
  /// - Parameters:
  ///   - nulls: the position of nulls; first by default.
  ///   - comparison: the differences between texts to ignore.
  public func ascending(
    nulls: NullPlacement? = nil, ignoring comparison: TextComparison = []
  ) -> SortKey<E> {
    sortKey(isDescending: false, nulls, comparison)
  }

  /// Sorts the highest value first.
  ///
  /// - Parameters:
  ///   - nulls: the position of nulls; last by default.
  ///   - comparison: the differences between texts to ignore.
  public func descending(
    nulls: NullPlacement? = nil, ignoring comparison: TextComparison = []
  ) -> SortKey<E> {
    sortKey(isDescending: true, nulls, comparison)
  }

  private func sortKey(
    isDescending: Bool, _ nulls: NullPlacement?, _ comparison: TextComparison
  ) -> SortKey<E> {
    if let failure { return SortKey(.failure(failure)) }
    return SortKey(
      .success(
        SortTerm(
          operand, isDescending: isDescending, nullsFirst: nulls?.isFirst,
          options: comparison.options)))
  }
}

internal import LodestoreFormat

/// Where records without a value come in an order.
public struct NullPlacement: Sendable, Hashable {
  let isFirst: Bool
  /// In front of all others.
  public static let first = NullPlacement(isFirst: true)
  /// After all others.
  public static let last = NullPlacement(isFirst: false)
}

/// One key of an order: made of an attribute, as `\.title.descending`.
///
/// The attribute may be what a related record has, `\.group[\.name].ascending`, a number or value
/// of all related records, `$0.notes.count.descending`, or a value computed from an attribute.
public struct SortKey<E: Entity>: Sendable {
  /// A failure is thrown when the query is run.
  let term: Result<SortTerm, StoreError>

  init(_ term: Result<SortTerm, StoreError>) { self.term = term }

  /// A key that is thrown as an error when the query is run.
  package init(refusing reason: String) { term = .failure(.badQuery(reason)) }

  /// The attribute at `path`.
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
  /// Lowest first, null in front.
  ///
  /// Text is in the order of Swift's `<`. Values inside JSON come in the order Booleans, numbers,
  /// texts; arrays and objects count as null.
  public var ascending: SortKey<E> { sortKey(isDescending: false, nil, []) }

  /// Highest first, null at the end.
  public var descending: SortKey<E> { sortKey(isDescending: true, nil, []) }

  /// Lowest first; null comes first unless `nulls` says otherwise; text is compared without case or
  /// marks as `comparison` says.
  public func ascending(
    nulls: NullPlacement? = nil, ignoring comparison: TextComparison = []
  ) -> SortKey<E> {
    sortKey(isDescending: false, nulls, comparison)
  }

  /// Highest first; null comes last unless `nulls` says otherwise.
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

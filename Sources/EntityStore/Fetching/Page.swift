/// A part of a query's results, with the position at which the next part begins.
public struct Page<Item> {
  /// The records, or the requested attributes of each record.
  public let items: [Item]
  /// The token for ``Query/continuing(after:)``; `nil` if the query has no limit or no results
  /// follow.
  public let next: ContinuationToken?
  /// The number of the commit that the page was read from.
  public let commitNumber: CommitNumber

  @usableFromInline
  init(items: [Item], next: ContinuationToken?, commitNumber: CommitNumber) {
    self.items = items
    self.next = next
    self.commitNumber = commitNumber
  }
}

extension Page: Sendable where Item: Sendable {}

extension ReadableTransaction where Self: ~Copyable {
  /// Returns one page of some attributes of the records that `query` finds, with the token for the
  /// next page.
  ///
  ///     let page = try snapshot.page(newest.limit(50).continuing(after: token), \.name, \.version)
  ///     for (name, version) in page.items { print(name, version) }
  ///
  /// Other attributes are not decoded. The token is that of ``page(_:)``: it belongs to the
  /// condition and the order, so the next page may have other attributes or whole records.
  ///
  /// - Throws: the errors of ``page(_:)``; ``StoreError/Code/invalidQuery`` for a value that is
  ///   computed from an attribute.
  public func page<E: Entity, First, each Other>(
    _ query: Query<E>, _ path: KeyPath<E.Attributes, Attribute<E, First>>,
    _ other: repeat KeyPath<E.Attributes, Attribute<E, each Other>>
  ) throws(StoreError) -> Page<(First, repeat each Other)> {
    let attributes = E.attributes
    return try rows(
      query, attributes[keyPath: path], repeat attributes[keyPath: each other])
  }

  private func rows<E: Entity, each V>(
    _ query: Query<E>, _ attribute: repeat Attribute<E, each V>
  ) throws(StoreError) -> Page<(repeat each V)> {
    let core = access.core
    let run = try core.run(query)
    var columns = Columns(of: run.entity)
    for attribute in repeat each attribute { try columns.append(attribute) }
    var rows: [(repeat each V)] = []
    let next = try run.forEachOfPage { id, bytes in
      try core.withReader(bytes, id: id, of: run.entity) { reader in
        var place = 0
        rows.append((repeat try columns.next(each attribute, &place, of: &reader)))
      }
    }
    return Page(items: rows, next: next, commitNumber: commitNumber)
  }
}

// Reads of one call in asynchronous code: the calls of ``ReadableStore`` on threads of the store.
//
// Fetches and counts with progress are in Fetching.

extension Store {
  /// The record with this id, or `nil`.
  public func fetch<E: Entity>(_ id: RecordID<E>) async throws -> E? {
    try await read { try $0.fetch(id) }
  }

  /// The records with these ids, in the order of `ids`; missing records are left out.
  ///
  /// - Parameter report: called on the store's thread with each record that cannot be read, in any
  ///   order; the call goes on with the others. Without it the first such record ends the call with
  ///   an error.
  public func fetch<E: Entity>(
    _ ids: some Sequence<RecordID<E>> & Sendable,
    onUnreadable report: (@Sendable (UnreadableRecord<E>) -> Void)? = nil
  ) async throws -> [E] {
    try await read { snapshot in
      guard let report else { return try snapshot.fetch(ids) }
      return try snapshot.fetch(ids, onUnreadable: report)
    }
  }

  /// The record with the values of `key`, or `nil`.
  public func fetch<E: Entity>(_ key: EntityKey<E>) async throws -> E? {
    try await read { try $0.fetch(key) }
  }

  /// The records with these keys in a unique index, in the order of `keys`; `nil` for a key without
  /// a record.
  public func fetch<E: Entity, each Value: Sendable>(
    _ index: EntityIndex<E, repeat each Value>, keys: [(repeat each Value)]
  ) async throws -> [E?] {
    try await read { try $0.fetch(index, keys: keys) }
  }

  /// The records whose values in `index` are within `bounds`, in the order of the index.
  public func fetch<E: Entity, each Value: Sendable>(
    _ index: EntityIndex<E, repeat each Value>,
    within bounds: IndexBounds<repeat each Value> = .init(), isReversed: Bool = false,
    limit: Int = .max
  ) async throws -> [E] {
    try await read { try $0.fetch(index, within: bounds, isReversed: isReversed, limit: limit) }
  }

  /// The first record that matches `query`, or `nil`.
  public func first<E: Entity>(_ query: Query<E>) async throws -> E? {
    try await read { try $0.first(query) }
  }

  /// The number of records whose values in `index` are within `bounds`.
  public func count<E: Entity, each Value: Sendable>(
    _ index: EntityIndex<E, repeat each Value>, within bounds: IndexBounds<repeat each Value>
  ) async throws -> Int {
    try await read { try $0.count(index, within: bounds) }
  }

  /// Returns whether a record matches `query`.
  public func exists<E: Entity>(_ query: Query<E>) async throws -> Bool {
    try await read { try $0.exists(query) }
  }

  /// Returns whether a record with the values of `key` exists.
  public func exists<E: Entity>(_ key: EntityKey<E>) async throws -> Bool {
    try await read { try $0.exists(key) }
  }

  /// Words of the texts of `E` that are similar to `word`; see
  /// ``ReadableTransaction/searchSuggestions(for:in:limit:)``.
  public func searchSuggestions<E: Entity>(
    for word: String, in type: E.Type, limit: Int = 5
  ) async throws -> [String] {
    try await read { try $0.searchSuggestions(for: word, in: type, limit: limit) }
  }

  /// The ids of the records that match `query`, in its order.
  public func ids<E: Entity>(_ query: Query<E>) async throws -> [E.ID] {
    try await read { try $0.ids(query) }
  }

  /// The ids of the records whose values in `index` are within `bounds`, in the order of the index.
  public func ids<E: Entity, each Value: Sendable>(
    _ index: EntityIndex<E, repeat each Value>,
    within bounds: IndexBounds<repeat each Value> = .init(), isReversed: Bool = false,
    limit: Int = .max
  ) async throws -> [E.ID] {
    try await read { try $0.ids(index, within: bounds, isReversed: isReversed, limit: limit) }
  }

  /// One page of results with the token of the next page; see ``ReadableTransaction/page(_:)``.
  ///
  /// - Parameter report: called on the store's thread with each record that cannot be read; see
  ///   ``ReadableTransaction/page(_:onUnreadable:)``. Without it the first such record ends the
  ///   call with an error.
  public func page<E: Entity>(
    _ query: Query<E>, onUnreadable report: (@Sendable (UnreadableRecord<E>) -> Void)? = nil
  ) async throws -> Page<E> {
    try await read { snapshot in
      guard let report else { return try snapshot.page(query) }
      return try snapshot.page(query, onUnreadable: report)
    }
  }

  /// One page of some attributes of the results of `query`; see
  /// ``ReadableTransaction/page(_:_:_:)``.
  public func page<E: Entity, First: Sendable, each Other: Sendable>(
    _ query: Query<E>, _ path: KeyPath<E.Attributes, Attribute<E, First>> & Sendable,
    _ other: repeat KeyPath<E.Attributes, Attribute<E, each Other>> & Sendable
  ) async throws -> Page<(First, repeat each Other)> {
    try await read { try $0.page(query, path, repeat each other) }
  }

  /// Reads the record with this id for editing.
  public func edit<E: Entity>(_ id: RecordID<E>) async throws -> Edit<E> {
    try await read { try $0.edit(id) }
  }

  /// Some attributes of the results of `query`, in its order, without decoding the others.
  public func values<
    E: Entity, First: Sendable, Second: Sendable, Third: Sendable, each V: Sendable
  >(
    _ query: Query<E>, _ first: KeyPath<E.Attributes, Attribute<E, First>> & Sendable,
    _ second: KeyPath<E.Attributes, Attribute<E, Second>> & Sendable,
    _ third: KeyPath<E.Attributes, Attribute<E, Third>> & Sendable,
    _ others: repeat KeyPath<E.Attributes, Attribute<E, each V>> & Sendable, distinct: Bool = false
  ) async throws -> [(First, Second, Third, repeat each V)] {
    try await read {
      try $0.values(query, first, second, third, repeat each others, distinct: distinct)
    }
  }

  /// Two attributes of the results of `query`, in its order, without decoding the others.
  public func values<E: Entity, First: Sendable, Second: Sendable>(
    _ query: Query<E>, _ first: KeyPath<E.Attributes, Attribute<E, First>> & Sendable,
    _ second: KeyPath<E.Attributes, Attribute<E, Second>> & Sendable, distinct: Bool = false
  ) async throws -> [(First, Second)] {
    try await read { try $0.values(query, first, second, distinct: distinct) }
  }

  /// One attribute of the results of `query`, in its order, without decoding the others.
  public func values<E: Entity, V: Sendable>(
    _ query: Query<E>, _ path: KeyPath<E.Attributes, Attribute<E, V>> & Sendable,
    distinct: Bool = false
  ) async throws -> [V] {
    try await read { try $0.values(query, path, distinct: distinct) }
  }

  /// Some attributes of the results of `query` as dictionaries, by their names; null is left out.
  public func dictionaries<E: Entity>(
    _ query: Query<E>, attributes names: [String]
  ) async throws -> [[String: any AttributeValue]] {
    try await read { try $0.dictionaries(query, attributes: names) }
  }

  /// The groups of the results of `query` by their values at `path`, with several aggregates each.
  ///
  /// - Parameter condition: returns whether to include a group; called on the store's thread.
  public func groups<
    E: Entity, Key: Sendable, First: Sendable, Second: Sendable, Third: Sendable,
    each Result: Sendable
  >(
    _ query: Query<E>, by path: KeyPath<E.Attributes, Attribute<E, Key>> & Sendable,
    _ first: Aggregate<E, First>, _ second: Aggregate<E, Second>, _ third: Aggregate<E, Third>,
    _ others: repeat Aggregate<E, each Result>,
    having condition:
      @escaping @Sendable (Group<Key, (First, Second, Third, repeat each Result)>) -> Bool = { _ in
        true
      }
  ) async throws -> [Group<Key, (First, Second, Third, repeat each Result)>] {
    try await read {
      try $0.groups(
        query, by: path, first, second, third, repeat each others, having: condition)
    }
  }

  /// The groups of the results of `query` by their values at `path`, with only their counts.
  ///
  /// - Parameter condition: returns whether to include a group; called on the store's thread.
  public func groups<E: Entity, Key: Sendable>(
    _ query: Query<E>, by path: KeyPath<E.Attributes, Attribute<E, Key>> & Sendable,
    having condition: @escaping @Sendable (Group<Key, Void>) -> Bool = { _ in true }
  ) async throws -> [Group<Key, Void>] {
    try await read { try $0.groups(query, by: path, having: condition) }
  }

  /// The groups of the results of `query` by their values at `path`, with one aggregate each.
  ///
  /// - Parameter condition: returns whether to include a group; called on the store's thread.
  public func groups<E: Entity, Key: Sendable, Result: Sendable>(
    _ query: Query<E>, by path: KeyPath<E.Attributes, Attribute<E, Key>> & Sendable,
    _ aggregate: Aggregate<E, Result>,
    having condition: @escaping @Sendable (Group<Key, Result>) -> Bool = { _ in true }
  ) async throws -> [Group<Key, Result>] {
    try await read { try $0.groups(query, by: path, aggregate, having: condition) }
  }

  /// The groups of the results of `query` by their values at `path`, with two aggregates each.
  ///
  /// - Parameter condition: returns whether to include a group; called on the store's thread.
  public func groups<E: Entity, Key: Sendable, First: Sendable, Second: Sendable>(
    _ query: Query<E>, by path: KeyPath<E.Attributes, Attribute<E, Key>> & Sendable,
    _ first: Aggregate<E, First>, _ second: Aggregate<E, Second>,
    having condition: @escaping @Sendable (Group<Key, (First, Second)>) -> Bool = { _ in true }
  ) async throws -> [Group<Key, (First, Second)>] {
    try await read { try $0.groups(query, by: path, first, second, having: condition) }
  }

  /// The value of the aggregate over all results of `query`.
  public func aggregate<E: Entity, Result: Sendable>(
    _ query: Query<E>, _ aggregate: Aggregate<E, Result>
  ) async throws -> Result {
    try await read { try $0.aggregate(query, aggregate) }
  }

  /// The values of the aggregates over all results of `query`.
  public func aggregate<E: Entity, First: Sendable, Second: Sendable, each Result: Sendable>(
    _ query: Query<E>, _ first: Aggregate<E, First>, _ second: Aggregate<E, Second>,
    _ others: repeat Aggregate<E, each Result>
  ) async throws -> (First, Second, repeat each Result) {
    try await read { try $0.aggregate(query, first, second, repeat each others) }
  }

  /// The results of `query`, in sections by the values at `path`; see
  /// ``ReadableTransaction/sections(_:by:)``.
  public func sections<E: Entity, Key: Equatable & Sendable>(
    _ query: Query<E>, by path: KeyPath<E.Attributes, Attribute<E, Key>> & Sendable
  ) async throws -> [ResultSection<Key, E>] {
    try await read { try $0.sections(query, by: path) }
  }

  /// The sections of the results of `query`, with their counts and without the records.
  public func sectionRanges<E: Entity, Key: Equatable & Sendable>(
    _ query: Query<E>, by path: KeyPath<E.Attributes, Attribute<E, Key>> & Sendable
  ) async throws -> [SectionRange<Key>] {
    try await read { try $0.sectionRanges(query, by: path) }
  }

  /// The plan of `query`.
  ///
  /// With `analyzing`, the query also runs, and the result contains the numbers of its reads.
  public func explain<E: Entity>(
    _ query: Query<E>, for use: QueryUse = .fetch, analyzing: Bool = false
  ) async throws -> QueryExplanation {
    try await read { try $0.explain(query, for: use, analyzing: analyzing) }
  }
}

// Values, groups, sections and plans in one call.

extension ReadableStore {
  /// Some attributes of the results of `query`, in its order, without decoding the others.
  ///
  /// See ``ReadableTransaction/values(_:_:_:_:_:distinct:)``. `Store.values(_:)` is another method,
  /// whose closure is called again after each commit.
  public func values<E: Entity, First, Second, Third, each V>(
    _ query: Query<E>, _ first: KeyPath<E.Attributes, Attribute<E, First>>,
    _ second: KeyPath<E.Attributes, Attribute<E, Second>>,
    _ third: KeyPath<E.Attributes, Attribute<E, Third>>,
    _ others: repeat KeyPath<E.Attributes, Attribute<E, each V>>, distinct: Bool = false
  ) throws -> [(First, Second, Third, repeat each V)] {
    try read { try $0.values(query, first, second, third, repeat each others, distinct: distinct) }
  }

  /// Two attributes of the results of `query`, in its order, without decoding the others.
  public func values<E: Entity, First, Second>(
    _ query: Query<E>, _ first: KeyPath<E.Attributes, Attribute<E, First>>,
    _ second: KeyPath<E.Attributes, Attribute<E, Second>>, distinct: Bool = false
  ) throws -> [(First, Second)] {
    try read { try $0.values(query, first, second, distinct: distinct) }
  }

  /// One attribute of the results of `query`, in its order, without decoding the others.
  public func values<E: Entity, V>(
    _ query: Query<E>, _ path: KeyPath<E.Attributes, Attribute<E, V>>, distinct: Bool = false
  ) throws -> [V] {
    try read { try $0.values(query, path, distinct: distinct) }
  }

  /// Some attributes of the results of `query` as dictionaries, by their names; null is left out.
  public func dictionaries<E: Entity>(
    _ query: Query<E>, attributes names: [String]
  ) throws -> [[String: any AttributeValue]] {
    try read { try $0.dictionaries(query, attributes: names) }
  }

  /// The groups of the results of `query` by their values at `path`, with several aggregates each.
  ///
  /// - Parameter condition: returns whether to include a group.
  public func groups<
    E: Entity, Key: Sendable, First: Sendable, Second: Sendable, Third: Sendable,
    each Result: Sendable
  >(
    _ query: Query<E>, by path: KeyPath<E.Attributes, Attribute<E, Key>>,
    _ first: Aggregate<E, First>, _ second: Aggregate<E, Second>, _ third: Aggregate<E, Third>,
    _ others: repeat Aggregate<E, each Result>,
    having condition: (Group<Key, (First, Second, Third, repeat each Result)>) -> Bool = { _ in
      true
    }
  ) throws -> [Group<Key, (First, Second, Third, repeat each Result)>] {
    try read {
      try $0.groups(
        query, by: path, first, second, third, repeat each others, having: condition)
    }
  }

  /// The groups of the results of `query` by their values at `path`, with only their counts.
  ///
  /// - Parameter condition: returns whether to include a group.
  public func groups<E: Entity, Key: Sendable>(
    _ query: Query<E>, by path: KeyPath<E.Attributes, Attribute<E, Key>>,
    having condition: (Group<Key, Void>) -> Bool = { _ in true }
  ) throws -> [Group<Key, Void>] {
    try read { try $0.groups(query, by: path, having: condition) }
  }

  /// The groups of the results of `query` by their values at `path`, with one aggregate each.
  ///
  /// - Parameter condition: returns whether to include a group.
  public func groups<E: Entity, Key: Sendable, Result: Sendable>(
    _ query: Query<E>, by path: KeyPath<E.Attributes, Attribute<E, Key>>,
    _ aggregate: Aggregate<E, Result>,
    having condition: (Group<Key, Result>) -> Bool = { _ in true }
  ) throws -> [Group<Key, Result>] {
    try read { try $0.groups(query, by: path, aggregate, having: condition) }
  }

  /// The groups of the results of `query` by their values at `path`, with two aggregates each.
  ///
  /// - Parameter condition: returns whether to include a group.
  public func groups<E: Entity, Key: Sendable, First: Sendable, Second: Sendable>(
    _ query: Query<E>, by path: KeyPath<E.Attributes, Attribute<E, Key>>,
    _ first: Aggregate<E, First>, _ second: Aggregate<E, Second>,
    having condition: (Group<Key, (First, Second)>) -> Bool = { _ in true }
  ) throws -> [Group<Key, (First, Second)>] {
    try read { try $0.groups(query, by: path, first, second, having: condition) }
  }

  /// The value of the aggregate over all results of `query`.
  public func aggregate<E: Entity, Result: Sendable>(
    _ query: Query<E>, _ aggregate: Aggregate<E, Result>
  ) throws -> Result {
    try read { try $0.aggregate(query, aggregate) }
  }

  /// The values of the aggregates over all results of `query`.
  public func aggregate<E: Entity, First: Sendable, Second: Sendable, each Result: Sendable>(
    _ query: Query<E>, _ first: Aggregate<E, First>, _ second: Aggregate<E, Second>,
    _ others: repeat Aggregate<E, each Result>
  ) throws -> (First, Second, repeat each Result) {
    try read { try $0.aggregate(query, first, second, repeat each others) }
  }

  /// The results of `query`, in sections by the values at `path`; see
  /// ``ReadableTransaction/sections(_:by:)``.
  public func sections<E: Entity, Key: Equatable & Sendable>(
    _ query: Query<E>, by path: KeyPath<E.Attributes, Attribute<E, Key>>
  ) throws -> [ResultSection<Key, E>] {
    try read { try $0.sections(query, by: path) }
  }

  /// The sections of the results of `query`, with their counts and without the records.
  public func sectionRanges<E: Entity, Key: Equatable & Sendable>(
    _ query: Query<E>, by path: KeyPath<E.Attributes, Attribute<E, Key>>
  ) throws -> [SectionRange<Key>] {
    try read { try $0.sectionRanges(query, by: path) }
  }

  /// The plan of `query`.
  ///
  /// With `analyzing`, the query also runs, and the result contains the numbers of its reads.
  public func explain<E: Entity>(
    _ query: Query<E>, for use: QueryUse = .fetch, analyzing: Bool = false
  ) throws -> QueryExplanation {
    try read { try $0.explain(query, for: use, analyzing: analyzing) }
  }
}

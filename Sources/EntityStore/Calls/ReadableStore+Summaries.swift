// Values, groups, sections and plans in one call.

extension ReadableStore {
  /// Some attributes of the results of `query`, in its order, without decoding the others.
  ///
  /// See ``ReadableTransaction/values(_:_:distinct:)->[(V)]``. A store also has
  /// `Store.values(_:)`, whose closure is called again after each commit.
  public func values<E: Entity, each V>(
    _ query: Query<E>, _ path: repeat KeyPath<E.Attributes, Attribute<E, each V>>,
    distinct: Bool = false
  ) throws -> [(repeat each V)] {
    try read { try $0.values(query, repeat each path, distinct: distinct) }
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

  /// The groups that the records of `query` form by their values at `path`, with several aggregates
  /// of each.
  ///
  /// - Parameter condition: which groups to return.
  public func groups<E: Entity, Key: Sendable, each Result: Sendable>(
    _ query: Query<E>, by path: KeyPath<E.Attributes, Attribute<E, Key>>,
    _ aggregate: repeat Aggregate<E, each Result>,
    having condition: (Group<Key, (repeat each Result)>) -> Bool = { _ in true }
  ) throws -> [Group<Key, (repeat each Result)>] {
    try read { try $0.groups(query, by: path, repeat each aggregate, having: condition) }
  }

  /// The groups that the records of `query` form by their values at `path`, with their counts alone.
  ///
  /// - Parameter condition: which groups to return.
  public func groups<E: Entity, Key: Sendable>(
    _ query: Query<E>, by path: KeyPath<E.Attributes, Attribute<E, Key>>,
    having condition: (Group<Key, Void>) -> Bool = { _ in true }
  ) throws -> [Group<Key, Void>] {
    try read { try $0.groups(query, by: path, having: condition) }
  }

  /// The groups that the records of `query` form by their values at `path`, with one aggregate of
  /// each.
  ///
  /// - Parameter condition: which groups to return.
  public func groups<E: Entity, Key: Sendable, Result: Sendable>(
    _ query: Query<E>, by path: KeyPath<E.Attributes, Attribute<E, Key>>,
    _ aggregate: Aggregate<E, Result>,
    having condition: (Group<Key, Result>) -> Bool = { _ in true }
  ) throws -> [Group<Key, Result>] {
    try read { try $0.groups(query, by: path, aggregate, having: condition) }
  }

  /// The values of the aggregates over all records that `query` finds.
  public func aggregate<E: Entity, each Result: Sendable>(
    _ query: Query<E>, _ aggregate: repeat Aggregate<E, each Result>
  ) throws -> (repeat each Result) {
    try read { try $0.aggregate(query, repeat each aggregate) }
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

  /// How `query` is run, and with `analyzing` what running it read.
  public func explain<E: Entity>(
    _ query: Query<E>, for use: QueryUse = .fetch, analyzing: Bool = false
  ) throws -> QueryExplanation {
    try read { try $0.explain(query, for: use, analyzing: analyzing) }
  }
}

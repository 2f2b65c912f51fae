// Related records in one call.

extension ReadableStore {
  /// The targets of the record `id` by `relationship`.
  ///
  /// - Parameter query: the condition, order and limit for the targets; by default all of them.
  public func related<E: Entity, Target: Entity>(
    _ relationship: ToMany<E, Target>, of id: RecordID<E>, _ query: Query<Target> = Query()
  ) throws -> [Target] {
    try read { try $0.related(relationship, of: id, query) }
  }

  /// The targets of all of `ids` by `relationship`, read in one pass.
  ///
  /// - Parameter query: the condition and order for the targets; a limit or an offset applies to
  ///   each id separately.
  public func related<E: Entity, Target: Entity>(
    _ relationship: ToMany<E, Target>, of ids: some Sequence<RecordID<E>>,
    _ query: Query<Target> = Query()
  ) throws -> RelatedRecords<E, Target> {
    try read { try $0.related(relationship, of: ids, query) }
  }

  /// One page of the targets of the record `id` by `relationship`, with the token of the next page.
  public func relatedPage<E: Entity, Target: Entity>(
    _ relationship: ToMany<E, Target>, of id: RecordID<E>, _ query: Query<Target>
  ) throws -> Page<Target> {
    try read { try $0.relatedPage(relationship, of: id, query) }
  }

  /// The ids of the targets of the record `id` by `relationship`; no record is read.
  public func relatedIDs<E: Entity, Target: Entity>(
    _ relationship: ToMany<E, Target>, of id: RecordID<E>
  ) throws -> [RecordID<Target>] {
    try read { try $0.relatedIDs(relationship, of: id) }
  }

  /// The number of targets of the record `id` by `relationship` that match `query`.
  public func relatedCount<E: Entity, Target: Entity>(
    _ relationship: ToMany<E, Target>, of id: RecordID<E>, _ query: Query<Target> = Query()
  ) throws -> Int {
    try read { try $0.relatedCount(relationship, of: id, query) }
  }

  /// The results of `query`, each with its targets by `relationship`.
  public func fetch<E: Entity, Target: Entity>(
    _ query: Query<E>, including relationship: ToMany<E, Target>, _ related: Query<Target> = Query()
  ) throws -> [(record: E, related: [Target])] {
    try read { try $0.fetch(query, including: relationship, related) }
  }

  /// The results of `query`, each with the target of the property at `path`.
  public func fetch<E: Entity, Target: Entity>(
    _ query: Query<E>, including path: KeyPath<E, RecordID<Target>?>
  ) throws -> [(record: E, related: Target?)] {
    try read { try $0.fetch(query, including: path) }
  }

  /// The results of `query`, each with the target of the property at `path`.
  ///
  /// A result whose target is missing is left out.
  public func fetch<E: Entity, Target: Entity>(
    _ query: Query<E>, including path: KeyPath<E, RecordID<Target>>
  ) throws -> [(record: E, related: Target)] {
    try read { try $0.fetch(query, including: path) }
  }

  /// The results of `query`, each with its targets by one or several relationships.
  public func fetch<E: Entity, First, each Other>(
    _ query: Query<E>, including first: Inclusion<E, First>,
    _ other: repeat Inclusion<E, each Other>
  ) throws -> [(E, First, repeat each Other)] {
    try read { try $0.fetch(query, including: first, repeat each other) }
  }

  /// One page of the results of `query`, each with its targets, and the token of the next page.
  public func page<E: Entity, First, each Other>(
    _ query: Query<E>, including first: Inclusion<E, First>,
    _ other: repeat Inclusion<E, each Other>
  ) throws -> Page<(E, First, repeat each Other)> {
    try read { try $0.page(query, including: first, repeat each other) }
  }
}

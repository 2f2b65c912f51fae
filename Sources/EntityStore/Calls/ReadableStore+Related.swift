// Related records in one call.

extension ReadableStore {
  /// The records that the record `id` leads to by `relationship`.
  ///
  /// - Parameter query: which of them, in which order, and how many; all of them where it is left
  ///   out.
  public func related<E: Entity, Target: Entity>(
    _ relationship: ToMany<E, Target>, of id: RecordID<E>, _ query: Query<Target> = Query()
  ) throws -> [Target] {
    try read { try $0.related(relationship, of: id, query) }
  }

  /// The records that all of `ids` lead to by `relationship`, in one pass over the records.
  ///
  /// - Parameter query: which records, in which order; a limit or an offset is of the records of
  ///   each id.
  public func related<E: Entity, Target: Entity>(
    _ relationship: ToMany<E, Target>, of ids: some Sequence<RecordID<E>>,
    _ query: Query<Target> = Query()
  ) throws -> RelatedRecords<E, Target> {
    try read { try $0.related(relationship, of: ids, query) }
  }

  /// One page of the records that the record `id` leads to by `relationship`, with the token of the
  /// next.
  public func relatedPage<E: Entity, Target: Entity>(
    _ relationship: ToMany<E, Target>, of id: RecordID<E>, _ query: Query<Target>
  ) throws -> Page<Target> {
    try read { try $0.relatedPage(relationship, of: id, query) }
  }

  /// The ids of the records that the record `id` leads to by `relationship`; no record is read.
  public func relatedIDs<E: Entity, Target: Entity>(
    _ relationship: ToMany<E, Target>, of id: RecordID<E>
  ) throws -> [RecordID<Target>] {
    try read { try $0.relatedIDs(relationship, of: id) }
  }

  /// How many records the record `id` leads to by `relationship`, of those that `query` finds.
  public func relatedCount<E: Entity, Target: Entity>(
    _ relationship: ToMany<E, Target>, of id: RecordID<E>, _ query: Query<Target> = Query()
  ) throws -> Int {
    try read { try $0.relatedCount(relationship, of: id, query) }
  }

  /// The results of `query`, each with the records that it leads to by `relationship`.
  public func fetch<E: Entity, Target: Entity>(
    _ query: Query<E>, including relationship: ToMany<E, Target>,
    _ related: Query<Target> = Query()
  ) throws -> [(record: E, related: [Target])] {
    try read { try $0.fetch(query, including: relationship, related) }
  }

  /// The results of `query`, each with the record that the property at `path` leads to.
  public func fetch<E: Entity, Target: Entity>(
    _ query: Query<E>, including path: KeyPath<E, RecordID<Target>?>
  ) throws -> [(record: E, related: Target?)] {
    try read { try $0.fetch(query, including: path) }
  }

  /// The results of `query`, each with the record that the property at `path` leads to; one whose
  /// record is not there is left out.
  public func fetch<E: Entity, Target: Entity>(
    _ query: Query<E>, including path: KeyPath<E, RecordID<Target>>
  ) throws -> [(record: E, related: Target)] {
    try read { try $0.fetch(query, including: path) }
  }

  /// The results of `query`, each with the records that it leads to by one or several
  /// relationships.
  public func fetch<E: Entity, First, each Other>(
    _ query: Query<E>, including first: Inclusion<E, First>,
    _ other: repeat Inclusion<E, each Other>
  ) throws -> [(E, First, repeat each Other)] {
    try read { try $0.fetch(query, including: first, repeat each other) }
  }

  /// One page of the results of `query`, each with the records that it leads to, and the token of
  /// the next.
  public func page<E: Entity, First, each Other>(
    _ query: Query<E>, including first: Inclusion<E, First>,
    _ other: repeat Inclusion<E, each Other>
  ) throws -> Page<(E, First, repeat each Other)> {
    try read { try $0.page(query, including: first, repeat each other) }
  }
}

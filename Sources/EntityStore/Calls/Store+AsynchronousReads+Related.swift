public import LodestoreEssentials

// Reads of related records, the history, imports and buckets in asynchronous code: on threads of
// the store.

extension Store {
  /// The targets of the record `id` by `relationship`.
  ///
  /// - Parameter query: the condition, order and limit for the targets; by default all of them.
  public func related<E: Entity, Target: Entity>(
    _ relationship: ToMany<E, Target>, of id: RecordID<E>, _ query: Query<Target> = Query()
  ) async throws -> [Target] {
    try await read { try $0.related(relationship, of: id, query) }
  }

  /// The targets of all of `ids` by `relationship`, read in one pass.
  ///
  /// - Parameter query: the condition and order for the targets; a limit or an offset applies to
  ///   each id separately.
  public func related<E: Entity, Target: Entity>(
    _ relationship: ToMany<E, Target>, of ids: some Sequence<RecordID<E>> & Sendable,
    _ query: Query<Target> = Query()
  ) async throws -> RelatedRecords<E, Target> {
    try await read { try $0.related(relationship, of: ids, query) }
  }

  /// One page of the targets of the record `id` by `relationship`, with the token of the next page.
  public func relatedPage<E: Entity, Target: Entity>(
    _ relationship: ToMany<E, Target>, of id: RecordID<E>, _ query: Query<Target>
  ) async throws -> Page<Target> {
    try await read { try $0.relatedPage(relationship, of: id, query) }
  }

  /// The ids of the targets of the record `id` by `relationship`; no record is read.
  public func relatedIDs<E: Entity, Target: Entity>(
    _ relationship: ToMany<E, Target>, of id: RecordID<E>
  ) async throws -> [RecordID<Target>] {
    try await read { try $0.relatedIDs(relationship, of: id) }
  }

  /// The number of targets of the record `id` by `relationship` that match `query`.
  public func relatedCount<E: Entity, Target: Entity>(
    _ relationship: ToMany<E, Target>, of id: RecordID<E>, _ query: Query<Target> = Query()
  ) async throws -> Int {
    try await read { try $0.relatedCount(relationship, of: id, query) }
  }

  /// The results of `query`, each with its targets by `relationship`.
  public func fetch<E: Entity, Target: Entity>(
    _ query: Query<E>, including relationship: ToMany<E, Target>, _ related: Query<Target> = Query()
  ) async throws -> [(record: E, related: [Target])] {
    try await read { try $0.fetch(query, including: relationship, related) }
  }

  /// The results of `query`, each with the target of the property at `path`.
  public func fetch<E: Entity, Target: Entity>(
    _ query: Query<E>, including path: KeyPath<E, RecordID<Target>?> & Sendable
  ) async throws -> [(record: E, related: Target?)] {
    try await read { try $0.fetch(query, including: path) }
  }

  /// The results of `query`, each with the target of the property at `path`.
  ///
  /// A result whose target is missing is left out.
  public func fetch<E: Entity, Target: Entity>(
    _ query: Query<E>, including path: KeyPath<E, RecordID<Target>> & Sendable
  ) async throws -> [(record: E, related: Target)] {
    try await read { try $0.fetch(query, including: path) }
  }

  /// The results of `query`, each with its targets by one or several relationships.
  public func fetch<E: Entity, First: Sendable, each Other: Sendable>(
    _ query: Query<E>, including first: Inclusion<E, First>,
    _ other: repeat Inclusion<E, each Other>
  ) async throws -> [(E, First, repeat each Other)] {
    try await read { try $0.fetch(query, including: first, repeat each other) }
  }

  /// One page of the results of `query`, each with its targets, and the token of the next page.
  public func page<E: Entity, First: Sendable, each Other: Sendable>(
    _ query: Query<E>, including first: Inclusion<E, First>,
    _ other: repeat Inclusion<E, each Other>
  ) async throws -> Page<(E, First, repeat each Other)> {
    try await read { try $0.page(query, including: first, repeat each other) }
  }

  /// The token that a consumer has stored; `nil` when there is no consumer of this name.
  public func historyToken(ofConsumer name: String) async throws -> HistoryToken? {
    try await read { try $0.historyToken(ofConsumer: name) }
  }

  /// The writes in the history, oldest first; see ``ReadableTransaction/history(_:)``.
  public func history(_ query: HistoryQuery = .all) async throws -> [HistoryWrite] {
    try await read { try $0.history(query) }
  }

  /// The consumers that have stored a token.
  public func historyConsumers() async throws -> [HistoryConsumer] {
    try await read { try $0.historyConsumers() }
  }

  /// The record before a change; `nil` when the history has no image of it.
  public func value<E: Entity>(before change: HistoryChange, as type: E.Type = E.self) async throws
    -> E?
  {
    try await read { try $0.value(before: change, as: type) }
  }

  /// The record after a change; `nil` when the change deleted it, or the version was not kept.
  public func value<E: Entity>(after change: HistoryChange, as type: E.Type = E.self) async throws
    -> E?
  {
    try await read { try $0.value(after: change, as: type) }
  }

  /// The value of a deleted record in an attribute that the history preserves.
  public func preserved<E: Entity, V: Sendable>(
    _ path: KeyPath<E.Attributes, Attribute<E, V>> & Sendable, of change: HistoryChange
  ) async throws -> V? {
    try await read { try $0.preserved(path, of: change) }
  }

  /// The names of the imports with reports in the store.
  public func importNames() async throws -> [String] { try await read { try $0.importNames() } }

  /// The reports of the runs of one import.
  public func importReports(of name: String) async throws -> [ImportReport] {
    try await read { try $0.importReports(of: name) }
  }

  /// The names of the buckets that have a value.
  public func bucketNames() async throws -> [String] { try await read { try $0.bucketNames() } }

  /// The data at `key` of a bucket, or `nil`.
  public func data(for key: String, in bucket: String) async throws -> Data? {
    try await read { try $0.data(for: key, in: bucket) }
  }

  /// The data at `key` of a bucket, or `nil`.
  public func data(for key: [UInt8], in bucket: String) async throws -> Data? {
    try await read { try $0.data(for: key, in: bucket) }
  }

  /// The value at `key` of a bucket, or `nil`.
  public func value<V: Decodable & Sendable>(
    _ type: V.Type = V.self, for key: String, in bucket: String
  ) async throws -> V? {
    try await read { try $0.value(type, for: key, in: bucket) }
  }
}

/// A store that is read with single calls: a ``Store``, or a ``PinnedSnapshot`` of one commit.
///
///     let film = try store.fetch(Film.key(episode: 4))
///     let cast = try store.related(Film.cast, of: filmID, Person.all.sorted(by: \.name))
///
/// Each call is a separate read, and corresponds to the call of this name on
/// ``ReadableTransaction``. On a store it sees the newest commit, on a snapshot the
/// snapshot's commit. Put calls that must see one commit into one ``read(_:)-((Snapshot)->R)``.
///
/// Calls run on the calling thread. For asynchronous code, a store has an `async` form of each
/// call, which runs on a thread of the store.
///
/// The calls throw the errors documented in ``ReadableTransaction``, and
/// ``StoreError/Code/closed``. Do not conform to this protocol.
public protocol ReadableStore: Sendable {
  /// Runs `body` on the commit, on the calling thread.
  func read<R>(_ body: (borrowing Snapshot) throws -> R) throws -> R
}

extension Store: ReadableStore {}

// MARK: Records

extension ReadableStore {
  /// The records that match `query`, in its order.
  public func fetch<E: Entity>(_ query: Query<E>) throws -> [E] { try read { try $0.fetch(query) } }

  /// The records that match `query`, in its order, without unreadable ones.
  ///
  /// - Parameter report: called with each record that cannot be read, in the order of the query.
  @_disfavoredOverload
  public func fetch<E: Entity>(
    _ query: Query<E>, onUnreadable report: (UnreadableRecord<E>) -> Void
  ) throws -> [E] {
    try read { try $0.fetch(query, onUnreadable: report) }
  }

  /// The record with this id, or `nil`.
  public func fetch<E: Entity>(_ id: RecordID<E>) throws -> E? { try read { try $0.fetch(id) } }

  /// The records with these ids, in the order of `ids`; missing records are left out.
  public func fetch<E: Entity>(_ ids: some Sequence<RecordID<E>>) throws -> [E] {
    try read { try $0.fetch(ids) }
  }

  /// The records with these ids, in the order of `ids`, without missing and unreadable records.
  ///
  /// - Parameter report: called with each record that cannot be read, in any order.
  @_disfavoredOverload
  public func fetch<E: Entity>(
    _ ids: some Sequence<RecordID<E>>, onUnreadable report: (UnreadableRecord<E>) -> Void
  ) throws -> [E] {
    try read { try $0.fetch(ids, onUnreadable: report) }
  }

  /// The record with the values of `key`, or `nil`.
  public func fetch<E: Entity>(_ key: EntityKey<E>) throws -> E? { try read { try $0.fetch(key) } }

  /// The records with these keys in a unique index, in the order of `keys`; `nil` for a key without
  /// a record.
  public func fetch<E: Entity, each Value: Sendable>(
    _ index: EntityIndex<E, repeat each Value>, keys: [(repeat each Value)]
  ) throws -> [E?] {
    try read { try $0.fetch(index, keys: keys) }
  }

  /// The records whose values in `index` are within `bounds`, in the order of the index.
  public func fetch<E: Entity, each Value: Sendable>(
    _ index: EntityIndex<E, repeat each Value>,
    within bounds: IndexBounds<repeat each Value> = .init(), isReversed: Bool = false,
    limit: Int = .max
  ) throws -> [E] {
    try read { try $0.fetch(index, within: bounds, isReversed: isReversed, limit: limit) }
  }

  /// The first record that matches `query`, or `nil`.
  public func first<E: Entity>(_ query: Query<E>) throws -> E? { try read { try $0.first(query) } }

  /// The number of records that match `query`.
  public func count<E: Entity>(_ query: Query<E>) throws -> Int { try read { try $0.count(query) } }

  /// The number of records whose values in `index` are within `bounds`.
  public func count<E: Entity, each Value: Sendable>(
    _ index: EntityIndex<E, repeat each Value>, within bounds: IndexBounds<repeat each Value>
  ) throws -> Int {
    try read { try $0.count(index, within: bounds) }
  }

  /// Returns whether a record matches `query`.
  public func exists<E: Entity>(_ query: Query<E>) throws -> Bool {
    try read { try $0.exists(query) }
  }

  /// Returns whether a record with the values of `key` exists.
  public func exists<E: Entity>(_ key: EntityKey<E>) throws -> Bool {
    try read { try $0.exists(key) }
  }

  /// Words of the texts of `E` that are similar to `word`; see
  /// ``ReadableTransaction/searchSuggestions(for:in:limit:)``.
  public func searchSuggestions<E: Entity>(
    for word: String, in type: E.Type, limit: Int = 5
  ) throws -> [String] {
    try read { try $0.searchSuggestions(for: word, in: type, limit: limit) }
  }

  /// The ids of the records that match `query`, in its order.
  public func ids<E: Entity>(_ query: Query<E>) throws -> [E.ID] { try read { try $0.ids(query) } }

  /// The ids of the records whose values in `index` are within `bounds`, in the order of the index.
  public func ids<E: Entity, each Value: Sendable>(
    _ index: EntityIndex<E, repeat each Value>,
    within bounds: IndexBounds<repeat each Value> = .init(), isReversed: Bool = false,
    limit: Int = .max
  ) throws -> [E.ID] {
    try read { try $0.ids(index, within: bounds, isReversed: isReversed, limit: limit) }
  }

  /// One page of results with the token of the next page; see ``ReadableTransaction/page(_:)``.
  public func page<E: Entity>(_ query: Query<E>) throws -> Page<E> {
    try read { try $0.page(query) }
  }

  /// One page of results without unreadable records, with the token of the next page.
  ///
  /// See ``ReadableTransaction/page(_:onUnreadable:)``.
  public func page<E: Entity>(
    _ query: Query<E>, onUnreadable report: (UnreadableRecord<E>) -> Void
  ) throws -> Page<E> {
    try read { try $0.page(query, onUnreadable: report) }
  }

  /// One page of some attributes of the results of `query`; see
  /// ``ReadableTransaction/page(_:_:_:)``.
  public func page<E: Entity, First, each Other>(
    _ query: Query<E>, _ path: KeyPath<E.Attributes, Attribute<E, First>>,
    _ other: repeat KeyPath<E.Attributes, Attribute<E, each Other>>
  ) throws -> Page<(First, repeat each Other)> {
    try read { try $0.page(query, path, repeat each other) }
  }

  /// Reads the record with this id for editing.
  public func edit<E: Entity>(_ id: RecordID<E>) throws -> Edit<E> { try read { try $0.edit(id) } }
}

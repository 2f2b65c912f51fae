public import LodestoreEssentials

// The history, reports of imports and buckets, in one call.

extension ReadableStore {
  // MARK: The history

  /// The token after the last write in the history.
  public func historyToken() throws -> HistoryToken { try read { try $0.historyToken() } }

  /// The token that a consumer has stored; `nil` when there is no consumer of this name.
  public func historyToken(ofConsumer name: String) throws -> HistoryToken? {
    try read { try $0.historyToken(ofConsumer: name) }
  }

  /// The writes in the history, oldest first; see ``ReadableTransaction/history(_:)``.
  public func history(_ query: HistoryQuery = .all) throws -> [HistoryWrite] {
    try read { try $0.history(query) }
  }

  /// The consumers that have stored a token.
  public func historyConsumers() throws -> [HistoryConsumer] {
    try read { try $0.historyConsumers() }
  }

  /// The record before a change; `nil` when the history has no image of it.
  public func value<E: Entity>(before change: HistoryChange, as type: E.Type = E.self) throws -> E?
  {
    try read { try $0.value(before: change, as: type) }
  }

  /// The record after a change; `nil` when the change deleted it, or the version was not kept.
  public func value<E: Entity>(after change: HistoryChange, as type: E.Type = E.self) throws -> E? {
    try read { try $0.value(after: change, as: type) }
  }

  /// The value of a deleted record in an attribute that the history preserves.
  public func preserved<E: Entity, V>(
    _ path: KeyPath<E.Attributes, Attribute<E, V>>, of change: HistoryChange
  ) throws -> V? {
    try read { try $0.preserved(path, of: change) }
  }

  // MARK: Imports

  /// The names of the imports with reports in the store.
  public func importNames() throws -> [String] { try read { try $0.importNames() } }

  /// The reports of the runs of one import.
  public func importReports(of name: String) throws -> [ImportReport] {
    try read { try $0.importReports(of: name) }
  }

  // MARK: Buckets

  /// The names of the buckets that contain a value.
  public func bucketNames() throws -> [String] { try read { try $0.bucketNames() } }

  /// The data at `key` of a bucket, or `nil`.
  public func data(for key: String, in bucket: String) throws -> Data? {
    try read { try $0.data(for: key, in: bucket) }
  }

  /// The data at `key` of a bucket, or `nil`.
  public func data(for key: [UInt8], in bucket: String) throws -> Data? {
    try read { try $0.data(for: key, in: bucket) }
  }

  /// The value at `key` of a bucket, or `nil`.
  public func value<V: Decodable>(
    _ type: V.Type = V.self, for key: String, in bucket: String
  ) throws -> V? {
    try read { try $0.value(type, for: key, in: bucket) }
  }
}

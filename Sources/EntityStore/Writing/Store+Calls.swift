// A read or a write of one call. Each is a transaction of its own, on the newest commit: for several that
// belong together there are `read` and `write`.
//
// The calls marked `async` run on threads of the store, as the asynchronous `read` and `write` do.

// MARK: On the calling thread

extension Store {
  /// The records that `query` finds, in its order.
  public func fetch<E: Entity>(_ query: Query<E>) throws -> [E] {
    try read { try $0.fetch(query) }
  }

  /// The record with this id; `nil` when the store has no such record.
  public func fetch<E: Entity>(_ id: RecordID<E>) throws -> E? {
    try read { try $0.fetch(id) }
  }

  /// The record with the values of `key`; `nil` when the store has no such record.
  public func fetch<E: Entity>(
    _ key: EntityKey<E>
  ) throws -> E? {
    try read { try $0.fetch(key) }
  }

  /// The first record that `query` finds; `nil` when the store has no such record.
  public func first<E: Entity>(_ query: Query<E>) throws -> E? {
    try read { try $0.first(query) }
  }

  /// How many records `query` finds.
  public func count<E: Entity>(_ query: Query<E>) throws -> Int {
    try read { try $0.count(query) }
  }

  /// Whether `query` finds a record.
  public func exists<E: Entity>(_ query: Query<E>) throws -> Bool {
    try read { try $0.exists(query) }
  }

  /// Stores `value` as a new record; returns what is stored.
  @discardableResult
  public func insert<E: Entity>(_ value: E) throws -> E {
    try write { try $0.insert(value) }
  }

  /// Stores `values`, all or none.
  @discardableResult
  public func insert<E: Entity>(
    _ values: some Sequence<E> & Sendable, onConflict: InsertConflict<E> = .fail,
    matching: RecordMatching<E>? = nil
  ) throws -> InsertResult<E> {
    try write { try $0.insert(values, onConflict: onConflict, matching: matching) }
  }

  /// Stores `value`, or gives its values to the stored record with the same unique key; returns what is
  /// stored.
  ///
  /// See ``WriteTransaction/upsert(_:matching:)``.
  @discardableResult
  public func upsert<E: Entity>(_ value: E, matching: RecordMatching<E>? = nil) throws -> E {
    try write { try $0.upsert(value, matching: matching) }
  }

  /// Gives the record with `value`'s id all values of `value`; returns false when it had them.
  @discardableResult
  public func update<E: Entity>(_ value: E) throws -> Bool {
    try write { try $0.update(value) }
  }

  /// Removes the records that `query` finds; returns how many there were.
  @discardableResult
  public func delete<E: Entity>(_ query: Query<E>) throws -> Int {
    try write { try $0.delete(query) }
  }

  /// Removes the record with `id`; returns whether there was one.
  @discardableResult
  public func delete<E: Entity>(_ id: RecordID<E>) throws -> Bool {
    try write { try $0.delete(id) }
  }

  /// Removes the record that `value` was read from; returns whether there was one.
  @discardableResult
  public func delete<E: Entity>(_ value: E) throws -> Bool {
    try write { try $0.delete(value) }
  }

  /// Changes attributes of the records that `query` finds; returns how many.
  ///
  /// See ``WriteTransaction/update(_:onProgress:_:)``.
  @discardableResult
  public func update<E: Entity>(
    _ query: Query<E>, _ changes: (inout AttributeUpdates<E>) -> Void
  ) throws -> Int {
    try write { try $0.update(query, onProgress: nil, changes) }
  }

  /// Changes one record: reads it, passes it to `change`, and stores what it has become; returns that.
  @discardableResult
  public func modify<E: Entity>(
    _ id: RecordID<E>, _ change: (inout E) throws -> Void
  ) throws -> E {
    try write { try $0.modify(id, change) }
  }
}

// MARK: On threads of the store

extension Store {
  /// The record with this id; `nil` when the store has no such record.
  public func fetch<E: Entity>(_ id: RecordID<E>) async throws -> E? {
    try await read { try $0.fetch(id) }
  }

  /// The record with the values of `key`; `nil` when the store has no such record.
  public func fetch<E: Entity>(
    _ key: EntityKey<E>
  ) async throws -> E? {
    try await read { try $0.fetch(key) }
  }

  /// The first record that `query` finds; `nil` when the store has no such record.
  public func first<E: Entity>(_ query: Query<E>) async throws -> E? {
    try await read { try $0.first(query) }
  }

  /// Whether `query` finds a record.
  public func exists<E: Entity>(_ query: Query<E>) async throws -> Bool {
    try await read { try $0.exists(query) }
  }

  /// Stores `value` as a new record; returns what is stored.
  @discardableResult
  public func insert<E: Entity>(_ value: E) async throws -> E {
    try await write { try $0.insert(value) }
  }

  /// Stores `values`, all or none.
  @discardableResult
  public func insert<E: Entity>(
    _ values: some Sequence<E> & Sendable, onConflict: InsertConflict<E> = .fail,
    matching: RecordMatching<E>? = nil
  ) async throws -> InsertResult<E> {
    try await write { try $0.insert(values, onConflict: onConflict, matching: matching) }
  }

  /// Stores `value`, or gives its values to the stored record with the same unique key; returns what is
  /// stored.
  ///
  /// See ``WriteTransaction/upsert(_:matching:)``.
  @discardableResult
  public func upsert<E: Entity>(
    _ value: E, matching: RecordMatching<E>? = nil
  ) async throws -> E {
    try await write { try $0.upsert(value, matching: matching) }
  }

  /// Gives the record with `value`'s id all values of `value`; returns false when it had them.
  @discardableResult
  public func update<E: Entity>(_ value: E) async throws -> Bool {
    try await write { try $0.update(value) }
  }

  /// Removes the records that `query` finds, all or none; returns how many there were.
  ///
  /// See ``WriteTransaction/delete(_:onProgress:)``; to let other writers come between, there is
  /// ``delete(_:inChunksOf:onProgress:)``.
  @discardableResult
  public func delete<E: Entity>(
    _ query: Query<E>, onProgress: (@Sendable (WorkProgress) -> Void)? = nil
  ) async throws -> Int {
    try await write { try $0.delete(query, onProgress: onProgress) }
  }

  /// Removes the record with `id`; returns whether there was one.
  @discardableResult
  public func delete<E: Entity>(_ id: RecordID<E>) async throws -> Bool {
    try await write { try $0.delete(id) }
  }

  /// Removes the record that `value` was read from; returns whether there was one.
  @discardableResult
  public func delete<E: Entity>(_ value: E) async throws -> Bool {
    try await write { try $0.delete(value) }
  }

  /// Changes attributes of the records that `query` finds, all or none; returns how many.
  ///
  /// See ``WriteTransaction/update(_:onProgress:_:)``.
  @discardableResult
  public func update<E: Entity>(
    _ query: Query<E>, onProgress: (@Sendable (WorkProgress) -> Void)? = nil,
    _ changes: @escaping @Sendable (inout AttributeUpdates<E>) -> Void
  ) async throws -> Int {
    try await write { try $0.update(query, onProgress: onProgress, changes) }
  }

  /// Changes one record: reads it, passes it to `change`, and stores what it has become; returns that.
  @discardableResult
  public func modify<E: Entity>(
    _ id: RecordID<E>, _ change: @escaping @Sendable (inout E) throws -> Void
  ) async throws -> E {
    try await write { try $0.modify(id, change) }
  }
}

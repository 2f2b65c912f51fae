public import LodestoreEssentials

// Writes of one call, on the calling thread. Each is a transaction of its own, and corresponds to
// the call of this name on ``WriteTransaction``. Put calls that belong together into one `write`.

extension Store {
  // MARK: Records

  /// Inserts `value` as a new record; returns the stored record.
  ///
  /// See ``WriteTransaction/insert(_:onConflict:matching:)``.
  @discardableResult
  public func insert<E: Entity>(
    _ value: E, onConflict: MergePolicy<E> = .fail, matching: RecordMatching<E>? = nil
  ) throws -> E {
    try write { try $0.insert(value, onConflict: onConflict, matching: matching) }
  }

  /// Inserts `values`, all or none.
  @discardableResult
  public func insert<E: Entity>(
    _ values: some Sequence<E>, onConflict: MergePolicy<E> = .fail,
    matching: RecordMatching<E>? = nil, returning: InsertReturning = .ids
  ) throws -> InsertResult<E> {
    try write {
      try $0.insert(values, onConflict: onConflict, matching: matching, returning: returning)
    }
  }

  /// Inserts records from dictionaries, all or none.
  ///
  /// See ``WriteTransaction/insert(_:dictionaries:onConflict:matching:returning:)``.
  @discardableResult
  public func insert<E: Entity>(
    _ type: E.Type, dictionaries: some Sequence<[String: any AttributeValue]>,
    onConflict: MergePolicy<E> = .fail, matching: RecordMatching<E>? = nil,
    returning: InsertReturning = .ids
  ) throws -> InsertResult<E> {
    try write {
      try $0.insert(
        type, dictionaries: dictionaries, onConflict: onConflict, matching: matching,
        returning: returning)
    }
  }

  /// Inserts `value`, or updates the record with its unique key; returns the stored record.
  @discardableResult
  public func upsert<E: Entity>(_ value: E, matching: RecordMatching<E>? = nil) throws -> E {
    try write { try $0.upsert(value, matching: matching) }
  }

  /// Updates the record with `value`'s id to `value`; returns false when the values are equal.
  @discardableResult
  public func update<E: Entity>(_ value: E) throws -> Bool { try write { try $0.update(value) } }

  /// Saves an edit; see ``WriteTransaction/update(_:onConflict:)``.
  @discardableResult
  public func update<E: Entity>(_ edit: Edit<E>, onConflict policy: EditPolicy = .fail) throws -> E
  {
    try write { try $0.update(edit, onConflict: policy) }
  }

  /// Changes one record: reads it, passes it to `change`, stores the result and returns it.
  @discardableResult
  public func modify<E: Entity>(_ id: RecordID<E>, _ change: (inout E) throws -> Void) throws -> E {
    try write { try $0.modify(id, change) }
  }

  /// Changes the record with the values of `key`; returns the stored record, or `nil`.
  @discardableResult
  public func modify<E: Entity>(_ key: EntityKey<E>, _ change: (inout E) throws -> Void) throws
    -> E?
  {
    try write { try $0.modify(key, change) }
  }

  /// Deletes the record with `id`; returns whether it existed.
  @discardableResult
  public func delete<E: Entity>(_ id: RecordID<E>) throws -> Bool {
    try write { try $0.delete(id) }
  }

  /// Deletes the records with `ids`, all or none; returns the number of existing ones.
  @discardableResult
  public func delete<E: Entity>(_ ids: some Sequence<RecordID<E>>) throws -> Int {
    try write { try $0.delete(ids) }
  }

  /// Deletes the record with the values of `key`; returns whether it existed.
  @discardableResult
  public func delete<E: Entity>(_ key: EntityKey<E>) throws -> Bool {
    try write { try $0.delete(key) }
  }

  /// Deletes the record from which `value` was read; returns whether it existed.
  @discardableResult
  public func delete<E: Entity>(_ value: E) throws -> Bool { try write { try $0.delete(value) } }

  /// Deletes the records that match `query`, all or none; returns them.
  public func deleteReturning<E: Entity>(_ query: Query<E>) throws -> [E] {
    try write { try $0.deleteReturning(query) }
  }

  // MARK: Links

  /// Links the record `owner` with `id` by `relationship`; returns false when the link exists.
  ///
  /// See ``WriteTransaction/add(_:to:of:at:)``.
  @discardableResult
  public func add<E: Entity, Target: Entity>(
    _ id: RecordID<Target>, to relationship: ToMany<E, Target>, of owner: RecordID<E>,
    at position: LinkPosition<Target>? = nil
  ) throws -> Bool {
    try write { try $0.add(id, to: relationship, of: owner, at: position) }
  }

  /// Links the record `owner` with each of `ids`; returns the number of new links.
  @discardableResult
  public func add<E: Entity, Target: Entity>(
    _ ids: some Sequence<RecordID<Target>>, to relationship: ToMany<E, Target>,
    of owner: RecordID<E>
  ) throws -> Int {
    try write { try $0.add(ids, to: relationship, of: owner) }
  }

  /// Links the first record of each pair with the second; returns the number of new links.
  @discardableResult
  public func link<E: Entity, Target: Entity>(
    _ pairs: some Sequence<(RecordID<E>, RecordID<Target>)>, by relationship: ToMany<E, Target>
  ) throws -> Int {
    try write { try $0.link(pairs, by: relationship) }
  }

  /// Removes the link from the record `owner` to `id`; returns whether it existed.
  @discardableResult
  public func remove<E: Entity, Target: Entity>(
    _ id: RecordID<Target>, from relationship: ToMany<E, Target>, of owner: RecordID<E>
  ) throws -> Bool {
    try write { try $0.remove(id, from: relationship, of: owner) }
  }

  /// Removes the links from the record `owner` to `ids`; returns the number of removed links.
  @discardableResult
  public func remove<E: Entity, Target: Entity>(
    _ ids: some Sequence<RecordID<Target>>, from relationship: ToMany<E, Target>,
    of owner: RecordID<E>
  ) throws -> Int {
    try write { try $0.remove(ids, from: relationship, of: owner) }
  }

  /// Removes the link of each pair; returns the number of removed links.
  @discardableResult
  public func unlink<E: Entity, Target: Entity>(
    _ pairs: some Sequence<(RecordID<E>, RecordID<Target>)>, by relationship: ToMany<E, Target>
  ) throws -> Int {
    try write { try $0.unlink(pairs, by: relationship) }
  }

  /// Links the record `owner` with exactly `ids` by `relationship`.
  public func set<E: Entity, Target: Entity>(
    _ relationship: ToMany<E, Target>, of owner: RecordID<E>,
    to ids: some Sequence<RecordID<Target>>
  ) throws {
    try write { try $0.set(relationship, of: owner, to: ids) }
  }

  /// Moves a target of `owner` in the order of the relationship.
  public func move<E: Entity, Target: Entity>(
    _ id: RecordID<Target>, in relationship: ToMany<E, Target>, of owner: RecordID<E>,
    to position: LinkPosition<Target>
  ) throws {
    try write { try $0.move(id, in: relationship, of: owner, to: position) }
  }

  // MARK: The history

  /// Undoes a write in the history; see ``WriteTransaction/undo(_:)``.
  @discardableResult
  public func undo(_ token: HistoryToken) throws -> Int { try write { try $0.undo(token) } }

  /// Undoes the changes of a write that the history recorded, and returns the entities whose
  /// changes stay.
  ///
  /// See ``WriteTransaction/undoPartly(_:)``.
  @discardableResult
  public func undoPartly(_ token: HistoryToken) throws -> PartialUndo {
    try write { try $0.undoPartly(token) }
  }

  /// Removes the history up to `token`; see ``WriteTransaction/purgeHistory(through:)``.
  @discardableResult
  public func purgeHistory(through token: HistoryToken) throws -> Int {
    try write { try $0.purgeHistory(through: token) }
  }

  /// Removes the history of writes before a time; see ``WriteTransaction/purgeHistory(before:)``.
  @discardableResult
  public func purgeHistory(before date: Date) throws -> Int {
    try write { try $0.purgeHistory(before: date) }
  }

  /// Removes the history that all consumers have read, and all history older than `date`.
  ///
  /// See ``WriteTransaction/purgeConsumedHistory(andAllBefore:)``.
  @discardableResult
  public func purgeConsumedHistory(andAllBefore date: Date? = nil) throws -> Int {
    try write { try $0.purgeConsumedHistory(andAllBefore: date) }
  }

  /// Sets the token up to which a consumer has read; `nil` removes the consumer.
  ///
  /// A consumer that changes records of this store should change them and set the token in one
  /// write: see ``WriteTransaction/setHistoryToken(_:ofConsumer:)``.
  public func setHistoryToken(_ token: HistoryToken?, ofConsumer name: String) throws {
    try write { try $0.setHistoryToken(token, ofConsumer: name) }
  }

  // MARK: Buckets

  /// Stores `data` at `key` of a bucket.
  public func put(_ data: Data, for key: String, in bucket: String) throws {
    try write { try $0.put(data, for: key, in: bucket) }
  }

  /// Stores `data` at `key` of a bucket.
  public func put(_ data: Data, for key: [UInt8], in bucket: String) throws {
    try write { try $0.put(data, for: key, in: bucket) }
  }

  /// Stores `value` at `key` of a bucket.
  public func put<V: Encodable>(_ value: V, for key: String, in bucket: String) throws {
    try write { try $0.put(value, for: key, in: bucket) }
  }

  /// Removes the value at `key` of a bucket; returns whether it existed.
  @discardableResult
  public func delete(key: String, in bucket: String) throws -> Bool {
    try write { try $0.delete(key: key, in: bucket) }
  }

  /// Removes the value at `key` of a bucket; returns whether it existed.
  @discardableResult
  public func delete(key: [UInt8], in bucket: String) throws -> Bool {
    try write { try $0.delete(key: key, in: bucket) }
  }

  // MARK: Batches

  /// Updates attributes of the records that match `query`; returns the number of changed records.
  ///
  /// See ``WriteTransaction/update(_:onProgress:_:)``.
  @discardableResult
  public func update<E: Entity>(
    _ query: Query<E>, _ changes: (inout AttributeUpdates<E>) -> Void
  ) throws -> Int {
    try write { try $0.update(query, onProgress: nil, changes) }
  }

  /// Deletes the records that match `query`; returns their number.
  @discardableResult
  public func delete<E: Entity>(_ query: Query<E>) throws -> Int {
    try write { try $0.delete(query) }
  }
}

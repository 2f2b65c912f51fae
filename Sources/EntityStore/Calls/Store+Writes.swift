#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

// Writes of one call, on the calling thread: each is a transaction of its own, and does what the
// call of the same name on ``WriteTransaction`` does. Several that belong together go into one
// `write`.

extension Store {
  // MARK: Records

  /// Stores `value` as a new record; returns what is stored.
  ///
  /// See ``WriteTransaction/insert(_:onConflict:matching:)``.
  @discardableResult
  public func insert<E: Entity>(
    _ value: E, onConflict: MergePolicy<E> = .fail, matching: RecordMatching<E>? = nil
  ) throws -> E {
    try write { try $0.insert(value, onConflict: onConflict, matching: matching) }
  }

  /// Stores `values`, all or none.
  @discardableResult
  public func insert<E: Entity>(
    _ values: some Sequence<E>, onConflict: MergePolicy<E> = .fail,
    matching: RecordMatching<E>? = nil, returning: InsertReturning = .ids
  ) throws -> InsertResult<E> {
    try write {
      try $0.insert(values, onConflict: onConflict, matching: matching, returning: returning)
    }
  }

  /// Stores records that are given as dictionaries, all or none.
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

  /// Stores `value`, or gives its values to the record that it collides with; returns what is
  /// stored.
  @discardableResult
  public func upsert<E: Entity>(_ value: E, matching: RecordMatching<E>? = nil) throws -> E {
    try write { try $0.upsert(value, matching: matching) }
  }

  /// Gives the record with the id of `value` all values of `value`; returns false when it had them.
  @discardableResult
  public func update<E: Entity>(_ value: E) throws -> Bool {
    try write { try $0.update(value) }
  }

  /// Saves an edit; see ``WriteTransaction/update(_:onConflict:)``.
  @discardableResult
  public func update<E: Entity>(_ edit: Edit<E>, onConflict policy: EditPolicy = .fail) throws -> E
  {
    try write { try $0.update(edit, onConflict: policy) }
  }

  /// Changes one record: reads it, passes it to `change`, and stores what it has become; returns
  /// that.
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

  /// Removes the record with `id`; returns whether there was one.
  @discardableResult
  public func delete<E: Entity>(_ id: RecordID<E>) throws -> Bool {
    try write { try $0.delete(id) }
  }

  /// Removes the records with `ids`, all or none; returns how many there were.
  @discardableResult
  public func delete<E: Entity>(_ ids: some Sequence<RecordID<E>>) throws -> Int {
    try write { try $0.delete(ids) }
  }

  /// Removes the record with the values of `key`; returns whether there was one.
  @discardableResult
  public func delete<E: Entity>(_ key: EntityKey<E>) throws -> Bool {
    try write { try $0.delete(key) }
  }

  /// Removes the record that `value` was read from; returns whether there was one.
  @discardableResult
  public func delete<E: Entity>(_ value: E) throws -> Bool {
    try write { try $0.delete(value) }
  }

  /// Removes the records that `query` finds, all or none; returns them.
  public func deleteReturning<E: Entity>(_ query: Query<E>) throws -> [E] {
    try write { try $0.deleteReturning(query) }
  }

  // MARK: Links

  /// Makes the record `owner` lead to `id` by `relationship`; returns false when it does already.
  ///
  /// See ``WriteTransaction/add(_:to:of:at:)``.
  @discardableResult
  public func add<E: Entity, Target: Entity>(
    _ id: RecordID<Target>, to relationship: ToMany<E, Target>, of owner: RecordID<E>,
    at position: LinkPosition<Target>? = nil
  ) throws -> Bool {
    try write { try $0.add(id, to: relationship, of: owner, at: position) }
  }

  /// Makes the record `owner` lead to each of `ids`; returns how many it did not lead to before.
  @discardableResult
  public func add<E: Entity, Target: Entity>(
    _ ids: some Sequence<RecordID<Target>>, to relationship: ToMany<E, Target>,
    of owner: RecordID<E>
  ) throws -> Int {
    try write { try $0.add(ids, to: relationship, of: owner) }
  }

  /// Makes the first record of each pair lead to the second; returns how many pairs are new.
  @discardableResult
  public func link<E: Entity, Target: Entity>(
    _ pairs: some Sequence<(RecordID<E>, RecordID<Target>)>, by relationship: ToMany<E, Target>
  ) throws -> Int {
    try write { try $0.link(pairs, by: relationship) }
  }

  /// Makes the record `owner` no longer lead to `id`; returns whether it did.
  @discardableResult
  public func remove<E: Entity, Target: Entity>(
    _ id: RecordID<Target>, from relationship: ToMany<E, Target>, of owner: RecordID<E>
  ) throws -> Bool {
    try write { try $0.remove(id, from: relationship, of: owner) }
  }

  /// Makes the record `owner` no longer lead to `ids`; returns to how many it did.
  @discardableResult
  public func remove<E: Entity, Target: Entity>(
    _ ids: some Sequence<RecordID<Target>>, from relationship: ToMany<E, Target>,
    of owner: RecordID<E>
  ) throws -> Int {
    try write { try $0.remove(ids, from: relationship, of: owner) }
  }

  /// Makes the first record of each pair no longer lead to the second; returns how many did.
  @discardableResult
  public func unlink<E: Entity, Target: Entity>(
    _ pairs: some Sequence<(RecordID<E>, RecordID<Target>)>, by relationship: ToMany<E, Target>
  ) throws -> Int {
    try write { try $0.unlink(pairs, by: relationship) }
  }

  /// Makes the record `owner` lead to `ids` by `relationship`, and to no others.
  public func set<E: Entity, Target: Entity>(
    _ relationship: ToMany<E, Target>, of owner: RecordID<E>,
    to ids: some Sequence<RecordID<Target>>
  ) throws {
    try write { try $0.set(relationship, of: owner, to: ids) }
  }

  /// Moves a record that `owner` leads to within the order of the relationship.
  public func move<E: Entity, Target: Entity>(
    _ id: RecordID<Target>, in relationship: ToMany<E, Target>, of owner: RecordID<E>,
    to position: LinkPosition<Target>
  ) throws {
    try write { try $0.move(id, in: relationship, of: owner, to: position) }
  }

  // MARK: The history

  /// Takes back a write that the history has; see ``WriteTransaction/undo(_:)``.
  @discardableResult
  public func undo(_ token: HistoryToken) throws -> Int {
    try write { try $0.undo(token) }
  }

  /// Takes back as much of a write as the history keeps, and reports the rest.
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

  /// Removes the history that all consumers have read, and all that is older than `date`.
  ///
  /// See ``WriteTransaction/purgeConsumedHistory(andAllBefore:)``.
  @discardableResult
  public func purgeConsumedHistory(andAllBefore date: Date? = nil) throws -> Int {
    try write { try $0.purgeConsumedHistory(andAllBefore: date) }
  }

  /// Stores up to where a consumer has read; `nil` forgets the consumer.
  ///
  /// A consumer that changes records of this store does both in one write: see
  /// ``WriteTransaction/setHistoryToken(_:ofConsumer:)``.
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

  /// Removes the value at `key` of a bucket; returns whether there was one.
  @discardableResult
  public func delete(key: String, in bucket: String) throws -> Bool {
    try write { try $0.delete(key: key, in: bucket) }
  }

  /// Removes the value at `key` of a bucket; returns whether there was one.
  @discardableResult
  public func delete(key: [UInt8], in bucket: String) throws -> Bool {
    try write { try $0.delete(key: key, in: bucket) }
  }

  // MARK: Batches

  /// Changes attributes of the records that `query` finds; returns how many.
  ///
  /// See ``WriteTransaction/update(_:onProgress:_:)``.
  @discardableResult
  public func update<E: Entity>(
    _ query: Query<E>, _ changes: (inout AttributeUpdates<E>) -> Void
  ) throws -> Int {
    try write { try $0.update(query, onProgress: nil, changes) }
  }

  /// Removes the records that `query` finds; returns how many there were.
  @discardableResult
  public func delete<E: Entity>(_ query: Query<E>) throws -> Int {
    try write { try $0.delete(query) }
  }
}

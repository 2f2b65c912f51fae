internal import LMDB
internal import LodestoreFormat

extension ReadableTransaction where Self: ~Copyable {
  /// Visits all records where they lie, in the order of insertion, from `start` on, until `body`
  /// returns false.
  ///
  /// Nothing is decoded or allocated for a record; see ``EntityView``. In a write, `body` cannot
  /// change anything: the compiler refuses it.
  ///
  /// - Throws: what `body` throws; ``StoreError/Code/damaged`` at a record that is damaged.
  public func forEachView<E: Entity>(
    of type: E.Type = E.self, from start: E.ID? = nil,
    _ body: (borrowing EntityView<E>) throws -> Bool
  ) throws {
    let core = access.core
    let entity = try core.entity(type)
    let layout = ViewedLayout(entity, core: core)
    do {
      let cursor = try Cursor(entity.records, in: core.transaction)
      guard try cursor.seek(atOrAfter: start?.rawValue ?? 1) else { return }
      try cursor.forEachRecord { (id, bytes) throws in
        try layout.withView(type, bytes, id: id, body)
      }
    } catch let error as LMDBError {
      throw StoreError(error)
    }
  }

  /// Visits what `query` finds where it lies, in the order of the query, until `body` returns false.
  ///
  ///     try snapshot.forEachView(Pod.query.where { $0.license == "MIT" }) { view in
  ///       downloads += view.downloads
  ///       return true
  ///     }
  ///
  /// In a write, `body` cannot change anything: the compiler refuses it.
  ///
  /// - Throws: what `body` throws, and what ``forEach(_:_:)`` does.
  public func forEachView<E: Entity>(
    _ query: Query<E>, _ body: (borrowing EntityView<E>) throws -> Bool
  ) throws {
    let core = access.core
    let run = try core.run(query)
    let layout = ViewedLayout(run.entity, core: core)
    // The run would wrap it.
    var thrown: (any Error)?
    try run.forEach { id, bytes in
      do {
        return try layout.withView(E.self, bytes, id: id, body)
      } catch {
        thrown = error
        return false
      }
    }
    if let thrown { throw thrown }
  }

  /// Calls `body` with the record with `id` where it lies; `nil` when there is none.
  ///
  ///     let length = try snapshot.withView(of: Pod.self, id: id) { $0.name.utf8Count }
  ///
  /// - Throws: what `body` throws; ``StoreError/Code/damaged`` when the record is damaged.
  /// - Complexity: O(log *n*).
  public func withView<E: Entity, R>(
    of type: E.Type = E.self, id: E.ID, _ body: (borrowing EntityView<E>) throws -> R
  ) throws -> R? {
    let core = access.core
    let entity = try core.entity(type)
    guard let bytes = try core.record(id.rawValue, of: entity) else { return nil }
    let layout = ViewedLayout(entity, core: core)
    return try layout.withView(type, bytes, id: id.rawValue, body)
  }

  /// Calls `body` with the record that `index` leads to from `key`, where it lies; the first of them
  /// in an index that is not unique.
  ///
  /// `nil` when there is none.
  ///
  /// - Throws: what `body` throws; ``StoreError/Code/unknownIndex`` when the entity has no such index.
  /// - Complexity: O(log *n*): one visit of the index, one of the records.
  public func withView<E: Entity, each Value: IndexableValue, R>(
    _ index: EntityIndex<E, repeat each Value>, key: repeat each Value,
    body: (borrowing EntityView<E>) throws -> R
  ) throws -> R? {
    let core = access.core
    let (entity, stored) = try core.resolve(index)
    guard let id = try core.firstRecord(in: stored, of: entity, repeat each key) else { return nil }
    guard let bytes = try core.record(id, of: entity) else {
      throw access.missing(id, entity, stored)
    }
    let layout = ViewedLayout(entity, core: core)
    return try layout.withView(E.self, bytes, id: id, body)
  }
}

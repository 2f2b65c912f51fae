internal import LMDB
internal import LodestoreFormat

extension TransactionAccess {
  @usableFromInline
  func visit<E: Entity>(
    _ query: Query<E>, _ body: (borrowing EntityView<E>) throws -> Void
  ) throws {
    guard try !isOfAll(query) else {
      return try visitAll(E.self) {
        try body($0); return true
      }
    }
    try visitFound(query) {
      try body($0); return true
    }
  }

  @usableFromInline
  func visit<E: Entity>(
    _ query: Query<E>, stoppable body: (borrowing EntityView<E>, inout Bool) throws -> Void
  ) throws {
    var isStopped = false
    guard try !isOfAll(query) else {
      return try visitAll(E.self) {
        try body($0, &isStopped); return !isStopped
      }
    }
    try visitFound(query) {
      try body($0, &isStopped); return !isStopped
    }
  }

  /// Returns whether a query finds every record in the file.
  ///
  /// If some have expired, a plan must leave them out.
  private func isOfAll<E: Entity>(_ query: Query<E>) throws(StoreError) -> Bool {
    guard query.isEverything else { return false }
    return try core.expired(of: try core.entity(E.self)) == nil
  }

  /// Visits all records, inlined together with `body`, so that only the program's closure is called
  /// for each record.
  @inline(__always)
  private func visitAll<E: Entity>(
    _: E.Type, _ body: (borrowing EntityView<E>) throws -> Bool
  ) throws {
    let entity = try core.entity(E.self)
    let layout = ViewedLayout(entity, core: core)
    do {
      let cursor = try Cursor(entity.records, in: core.transaction)
      guard try cursor.seek(atOrAfter: 1) else { return }
      try cursor.forEachRecord { (id, bytes) throws in
        try layout.withView(E.self, bytes, id: id, body)
      }
    } catch let error as LMDBError {
      throw StoreError(error)
    }
  }

  private func visitFound<E: Entity>(
    _ query: Query<E>, _ body: (borrowing EntityView<E>) throws -> Bool
  ) throws {
    let layout = ViewedLayout(try core.entity(E.self), core: core)
    // The error is thrown here, because the run would wrap it.
    var thrown: (any Error)?
    try core.run(query).forEach { id, bytes in
      do {
        return try layout.withView(E.self, bytes, id: id, body)
      } catch {
        thrown = error
        return false
      }
    }
    if let thrown { throw thrown }
  }
}

extension ReadableTransaction where Self: ~Copyable {
  /// Visits the records that `query` finds in place, in the order of the query.
  ///
  ///     try snapshot.forEachView(Pod.where { $0.license == "MIT" }) { downloads += $0.downloads }
  ///
  /// Nothing is decoded or allocated for a record; see ``EntityView``. In a write, `body` cannot
  /// change anything: the compiler refuses it.
  ///
  /// - Throws: the error that `body` throws; ``StoreError/Code/damaged`` for a damaged record;
  ///   otherwise the errors of ``fetch(_:)-(Query<E>)``.
  @inlinable
  public func forEachView<E: Entity>(
    _ query: Query<E>, _ body: (borrowing EntityView<E>) throws -> Void
  ) throws {
    try access.visit(query, body)
  }

  /// Visits the records that `query` finds in place, until `body` sets `stop`; see
  /// ``forEachView(_:_:)``.
  @inlinable
  public func forEachView<E: Entity>(
    _ query: Query<E>, _ body: (borrowing EntityView<E>, _ stop: inout Bool) throws -> Void
  ) throws {
    try access.visit(query, stoppable: body)
  }

  /// Calls `body` with the record with `id`, read in place; returns `nil` if none exists.
  ///
  ///     let length = try snapshot.withView(id) { $0.name.utf8Count }
  ///
  /// - Throws: the error that `body` throws; ``StoreError/Code/damaged`` if the record is damaged.
  /// - Complexity: O(log *n*).
  public func withView<E: Entity, R>(
    _ id: RecordID<E>, _ body: (borrowing EntityView<E>) throws -> R
  ) throws -> R? {
    let core = access.core
    let entity = try core.entity(E.self)
    guard let bytes = try core.record(id.rawValue, of: entity) else { return nil }
    let layout = ViewedLayout(entity, core: core)
    return try layout.withView(E.self, bytes, id: id.rawValue, body)
  }

  /// Calls `body` with the record that has `key` in an index, read in place; returns `nil` if none
  /// exists.
  ///
  /// In an index that is not unique, the first such record is read.
  ///
  /// - Throws: the error that `body` throws; ``StoreError/Code/unknownIndex`` if the entity has no
  ///   such index.
  /// - Complexity: O(log *n*): one lookup in the index and one in the records.
  public func withView<E: Entity, R>(
    _ key: EntityKey<E>, _ body: (borrowing EntityView<E>) throws -> R
  ) throws -> R? {
    let core = access.core
    let (entity, stored) = try core.resolve(E.self, with: key.tuple)
    guard let id = try core.firstRecord(in: stored, of: entity, key.tuple) else { return nil }
    guard let bytes = try core.record(id, of: entity) else {
      throw access.missing(id, entity, stored)
    }
    let layout = ViewedLayout(entity, core: core)
    return try layout.withView(E.self, bytes, id: id, body)
  }
}

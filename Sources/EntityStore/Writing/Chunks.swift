internal import LMDB
internal import LodestoreFormat

/// How far a batch operation in chunks is.
public struct BatchProgress: Sendable, Hashable {
  /// Records that have been dealt with.
  public let completed: Int
  /// Records that there are; `nil` for a sequence that does not say.
  public let total: Int?

  /// From 0 to 1; `nil` where ``total`` is.
  public var fraction: Double? {
    total.map { $0 == 0 ? 1 : min(1, Double(completed) / Double($0)) }
  }
}

// A transaction holds up other writers, and its pages are in memory. Work on very many records can be
// divided: each chunk is all or nothing, the whole is not.

extension Store {
  /// Deletes what `query` finds in chunks, each a transaction of its own.
  ///
  ///     let count = try await store.delete(
  ///       Entry.where { $0.usedAt < cutoff }, inChunksOf: 10_000) { print($0.completed) }
  ///
  /// The records are those that the query finds at the beginning; one that no longer fulfils the
  /// condition when its chunk comes stays. Other writers come between chunks. For all or nothing use
  /// ``WriteTransaction/delete(_:)-(Query<E>)``.
  ///
  /// - Parameter onProgress: called after each commit, on a thread of the store.
  /// - Returns: how many records were deleted.
  /// - Throws: `CancellationError` between chunks when the task is cancelled; the errors of the
  ///   undivided form. Chunks before it are kept.
  @discardableResult
  public func delete<E: Entity>(
    _ query: Query<E>, inChunksOf size: Int,
    onProgress: (@Sendable (BatchProgress) -> Void)? = nil
  ) async throws -> Int {
    try await inChunks(of: size, query, onProgress) { core, entity, ids in
      try BatchDelete(of: entity, core: core, expectedCount: ids.count).delete(ids)
    }
  }

  /// Gives attributes of the records that `query` finds new values, in chunks, each a transaction
  /// of its own.
  ///
  /// As ``delete(_:inChunksOf:onProgress:)``; each record is updated once.
  ///
  /// - Returns: how many records have other values now.
  @discardableResult
  public func update<E: Entity>(
    _ query: Query<E>, inChunksOf size: Int,
    onProgress: (@Sendable (BatchProgress) -> Void)? = nil,
    _ changes: (inout AttributeUpdates<E>) -> Void
  ) async throws -> Int {
    let assignments = try WriteTransaction.assignments(changes)
    return try await inChunks(of: size, query, onProgress) { core, entity, ids in
      let positions = try query.request().positions
      let batch = try core.batchUpdate(of: entity, assignments, positions)
      try CaseCheck(E.self, of: entity, assignments, positions).check(ids, core: core)
      try batch.update(ids)
      return batch.updatedCount
    }
  }

  /// Stores records in chunks, each a transaction of its own.
  ///
  /// Chunks before an error or a cancellation are kept.
  ///
  /// - Returns: what became of all values; without ids, when these were not asked for.
  @discardableResult
  public func insert<E: Entity>(
    _ values: some Sequence<E> & Sendable, onConflict: InsertConflict<E> = .fail,
    inChunksOf size: Int, returning: InsertReturning = .counts,
    onProgress: (@Sendable (BatchProgress) -> Void)? = nil
  ) async throws -> InsertResult<E> {
    try Chunk.check(size)
    var result = InsertResult<E>(InsertCounts())
    var chunk: [E] = []
    let total = (values as? any Collection)?.count
    for value in values {
      chunk.append(value)
      guard chunk.count == size else { continue }
      try await insert(chunk, onConflict, returning, into: &result)
      onProgress?(BatchProgress(completed: result.count, total: total))
      chunk.removeAll(keepingCapacity: true)
    }
    if !chunk.isEmpty {
      try await insert(chunk, onConflict, returning, into: &result)
      onProgress?(BatchProgress(completed: result.count, total: total))
    }
    return result
  }

  private func insert<E: Entity>(
    _ chunk: [E], _ conflict: InsertConflict<E>, _ returning: InsertReturning,
    into result: inout InsertResult<E>
  ) async throws {
    let part = try await write { transaction in
      try transaction.insert(chunk, onConflict: conflict, returning: returning)
    }
    result.add(part)
  }

  private func inChunks<E: Entity>(
    of size: Int, _ query: Query<E>, _ onProgress: (@Sendable (BatchProgress) -> Void)?,
    _ change: @escaping @Sendable (TransactionCore, StoredEntity, [UInt64]) throws -> Int
  ) async throws -> Int {
    try Chunk.check(size)
    let core = core
    let ids = try await cancellably { isCancelled in
      try core.read { core in
        let run = try core.run(query, control: RunControl(isCancelled: isCancelled))
        // In the order of the query, whose limit and offset are applied: what is first goes first.
        return try run.ids()
      }
    }
    var changed = 0
    for start in stride(from: 0, to: ids.count, by: size) {
      let end = min(ids.count, start + size)
      changed += try await write { transaction in
        var chunk = Array(ids[start..<end])
        IDSort.sort(&chunk)
        let core = transaction.core
        let entity = try core.entity(E.self)
        return try change(
          core, entity, try core.filter(chunk, of: entity, by: try query.request()))
      }
      onProgress?(BatchProgress(completed: end, total: ids.count))
    }
    return changed
  }
}

private enum Chunk {
  static func check(_ size: Int) throws(StoreError) {
    guard size > 0 else { throw .badQuery("chunks of \(size) records; at least 1 is needed") }
  }
}

extension TransactionCore {
  /// Those of `ids`, which ascend, whose records fulfil the condition of `request`.
  fileprivate func filter(
    _ ids: [UInt64], of entity: StoredEntity, by request: QueryRequest
  ) throws(StoreError) -> [UInt64] {
    let condition = try ConditionBinding.bind(
      request.condition, to: entity, positions: request.positions)
    let evaluator = ConditionEvaluator(condition, entity: entity, core: self)
    var found: [UInt64] = []
    do {
      let cursor = try Cursor(entity.records, in: transaction)
      for id in ids {
        if try cursor.seek(id), try evaluator.admits(cursor.value, id: id) { found.append(id) }
      }
    } catch {
      throw StoreError(wrapping: error)
    }
    return found
  }
}

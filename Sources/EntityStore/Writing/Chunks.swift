internal import LMDB
internal import LodestoreFormat

// A transaction blocks other writers, and its pages are in memory. Work on very many records can
// therefore be divided: each chunk is atomic, the whole is not.

extension Store {
  /// Deletes the records that match `query` in chunks, each in its own transaction.
  ///
  ///     let count = try await store.delete(
  ///       Entry.where { $0.usedAt < cutoff }, inChunksOf: 10_000) { print($0.completed) }
  ///
  /// The query runs once at the beginning. A record that no longer matches when its chunk is
  /// processed stays. Other writers run between chunks. For an atomic delete use
  /// ``WriteTransaction/delete(_:onProgress:)``.
  ///
  /// - Parameter onProgress: called after each commit, on a thread of the store.
  /// - Returns: the number of deleted records.
  /// - Throws: `CancellationError` between chunks when the task is cancelled; the errors of the
  ///   atomic delete. Earlier chunks stay committed.
  @discardableResult
  public func delete<E: Entity>(
    _ query: Query<E>, inChunksOf size: Int,
    onProgress: (@Sendable (WorkProgress) -> Void)? = nil
  ) async throws -> Int {
    try await inChunks(of: size, query, onProgress) { core, entity, ids in
      try core.delete(ids, of: entity)
    }
  }

  /// Updates the records that match `query` in chunks, each in its own transaction.
  ///
  /// The rules are those of ``delete(_:inChunksOf:onProgress:)``; each record is updated once.
  ///
  /// - Returns: the number of records whose values changed.
  @discardableResult
  public func update<E: Entity>(
    _ query: Query<E>, inChunksOf size: Int,
    onProgress: (@Sendable (WorkProgress) -> Void)? = nil,
    _ changes: @Sendable (inout AttributeUpdates<E>) -> Void
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

  /// Inserts records in chunks, each in its own transaction.
  ///
  /// Chunks before an error or a cancellation stay committed.
  ///
  /// - Returns: the outcome of all values; without ids when `returning` excludes them.
  @discardableResult
  public func insert<E: Entity>(
    _ values: some Sequence<E> & Sendable, onConflict: MergePolicy<E> = .fail,
    matching: RecordMatching<E>? = nil, inChunksOf size: Int, returning: InsertReturning = .ids,
    onProgress: (@Sendable (WorkProgress) -> Void)? = nil
  ) async throws -> InsertResult<E> {
    try checkChunk(size)
    var result = InsertResult<E>(counts: InsertCounts())
    let total = (values as? any Collection)?.count
    var rest = values.makeIterator()
    while true {
      var chunk: [E] = []
      while chunk.count < size, let value = rest.next() { chunk.append(value) }
      guard !chunk.isEmpty else { return result }
      let values = chunk
      let count = result.count
      let part = try await write { transaction in
        do throws(StoreError) {
          return try transaction.insert(
            values, onConflict: onConflict, matching: matching, returning: returning)
        } catch {
          throw error.inBatch(after: count)
        }
      }
      assert(part.count == values.count, "each value of a chunk has one outcome")
      result.counts.add(part.counts)
      onProgress?(WorkProgress(completed: result.count, total: total))
    }
  }

  private func inChunks<E: Entity>(
    of size: Int, _ query: Query<E>, _ onProgress: (@Sendable (WorkProgress) -> Void)?,
    _ change: @escaping @Sendable (WriteCore, StoredEntity, [UInt64]) throws -> Int
  ) async throws -> Int {
    try checkChunk(size)
    try query.checkSelectsRecords()
    let core = core
    let ids = try await cancellably { isCancelled in
      try core.read { core in
        let run = try core.run(query, control: RunControl(isCancelled: isCancelled))
        // The ids, and so the chunks, are in the order of the query, within its limit and offset.
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
        let found = try core.filter(chunk, of: entity, by: try query.request())
        let count = try change(core, entity, found)
        assert(count <= found.count, "a record is changed once in its chunk")
        return count
      }
      onProgress?(WorkProgress(completed: end, total: ids.count))
    }
    assert(changed <= ids.count, "a record is in one chunk")
    return changed
  }
}

private func checkChunk(_ size: Int) throws(StoreError) {
  guard size > 0 else { throw .badQuery("chunks of \(size) records; at least 1 is needed") }
}

extension WriteCore {
  /// Returns those of the ascending `ids` whose records match the condition of `request`.
  fileprivate func filter(
    _ ids: [UInt64], of entity: StoredEntity, by request: QueryRequest
  ) throws(StoreError) -> [UInt64] {
    let condition = try ConditionBinding.bind(
      request.condition, to: entity, positions: request.positions, schema: schema)
    let evaluator = ConditionEvaluator(condition, entity: entity, core: self)
    var found: [UInt64] = []
    try wrappingErrors {
      try forEachStored(ids, of: entity) { id, cursor in
        if try evaluator.admits(cursor.value, id: id) { found.append(id) }
      }
    }
    return found
  }
}

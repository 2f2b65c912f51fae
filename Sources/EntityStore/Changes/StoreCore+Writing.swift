internal import LMDB
internal import LodestoreFormat

extension StoreCore {
  /// The observers of record changes, which all stores of the file share.
  var observers: ChangeObservers { environment.companion { ChangeObservers() } }

  /// Runs `body` as the only writer, on the calling thread, and commits.
  func write<R>(origin: WriteOrigin? = nil, _ body: (WriteCore) throws -> R) throws -> R {
    try checkWritable()
    try checkOpen("write")
    return try write(origin, .program, Savepoints(), body)
  }

  func write<R>(
    _ origin: WriteOrigin?, _ purpose: WriteCore.Purpose, _ savepoints: Savepoints,
    _ body: (WriteCore) throws -> R
  ) throws -> R {
    while true {
      do {
        return try mapped {
          try environment.write {
            try self.run(origin, purpose, body, in: $0, savepoints)
          }
        }
      } catch is SchemaIsOld {
        try mapped { try reloadForReading() }
      } catch let error as EvictionFirst {
        try EvictionPass(self, at: error.moment, retriesUnevictable: false).run()
      } catch is SavepointFailed {}
    }
  }

  /// Runs `body` as the only writer, on the writer's thread, and commits.
  ///
  /// The commit may include other waiting writes; see ``Environment/writeTogether(_:)``.
  func writeTogether<R: Sendable>(
    origin: WriteOrigin? = nil, _ body: @escaping @Sendable (WriteCore) throws -> R
  ) async throws -> R {
    try checkWritable()
    try checkOpen("write")
    let savepoints = Savepoints()
    do {
      return try await environment.writeTogether { transaction in
        try self.checkOpen("write")
        return try self.run(origin, .program, body, in: transaction, savepoints)
      }
    } catch  where error is SchemaIsOld || error is EvictionFirst || error is SavepointFailed {
      return try await onWriter { try self.write(origin, .program, savepoints, body) }
    } catch let error as LMDBError {
      throw StoreError(error)
    } catch let error as FormatError {
      throw StoreError(wrapping: error)
    } catch let error as StoreError where error.isOfCancelledBatch {
      throw CancellationError()
    }
  }

  private func run<R>(
    _ origin: WriteOrigin?, _ purpose: WriteCore.Purpose, _ body: (WriteCore) throws -> R,
    in transaction: WritingTransaction, _ savepoints: Savepoints
  ) throws -> R {
    let schema = self.schema
    guard try trees.schemaNumber(in: transaction.reads) == schema.number else {
      throw SchemaIsOld()
    }
    let core = WriteCore(transaction, schema: schema, store: self, purpose)
    if schema.evicts { unevictableRecords.begin(core) }
    if purpose == .program { try checkEviction(core) }
    core.origin = WriteOrigin(
      author: origin?.author ?? options.author, context: origin?.context ?? options.contextName)
    defer { core.releaseChanges() }
    try core.beginChanges(observers)
    let result = try savepoints.run(core, body)
    if let cause = core.brokenBy { throw StoreError.brokenTransaction(by: cause) }
    try core.endChanges()
    if schema.evicts, core.changeCount > 0, try core.isFarAboveLimit() {
      transaction.afterCommit { [self] _, _ in evictsSoon.store(true, ordering: .relaxed) }
    }
    return result
  }

  /// Runs `body` on the writer's thread.
  func onWriter<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    do {
      return try await environment.writer.run(body)
    } catch let error as LMDBError where error.kind == .closed {
      throw StoreError(.closed, "cannot write \(label): the store is closed", cause: error)
    } catch let error as LMDBError {
      throw StoreError(error)
    }
  }
}

extension StoreError {
  /// Whether a batch was cancelled, even if the write's closure caught the error.
  fileprivate var isOfCancelledBatch: Bool {
    code == .cancelled
      || code == .brokenTransaction && (cause as? StoreError)?.code == .cancelled
  }
}

/// Thrown when another process has changed the catalogue since this store read it.
private struct SchemaIsOld: Error {}

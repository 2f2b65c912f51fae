internal import LMDB

extension Store {
  /// Opens the store at `path` on a thread of its own, creating it if it does not exist.
  ///
  /// See ``init(at:entities:options:)-(String,_,_)``.
  ///
  ///     let store = try await Store.open(at: path, entities: [Film.self]) { progress in
  ///       print("building indexes:", progress.fraction ?? 0)
  ///     }
  ///
  /// After cancelling the task, the file is unchanged and has no new indexes.
  ///
  /// - Parameter onProgress: called on the thread that opens the store, while pages are checked,
  ///   indexes built or values checked. Each kind of work is counted separately. Never called when
  ///   there is nothing to do.
  /// - Throws: ``StoreError``; `CancellationError` when the task is cancelled before the new schema
  ///   is committed.
  public static func open(
    at path: String, entities: [any Entity.Type], options: StoreOptions = StoreOptions(),
    onProgress: (@Sendable (WorkProgress) -> Void)? = nil
  ) async throws -> Store {
    try await open(
      at: path, entities: entities, options: options, stages: nil, onProgress: onProgress)
  }

  static func open(
    at path: String, entities: [any Entity.Type], options: StoreOptions,
    stages: (any OpeningStages)?, onProgress: (@Sendable (WorkProgress) -> Void)?
  ) async throws -> Store {
    let flag = Latch()
    return try await withTaskCancellationHandler {
      try Task.checkCancellation()
      do {
        return try await runOnNewThread {
          let work = OpeningWork(isCancelled: { flag.isSet }) { done, total in
            onProgress?(WorkProgress(completed: done, total: total))
          }
          return try Store(
            path: path, isInMemory: false, entities: entities, options: options, work: work,
            stages: stages)
        }
      } catch let error as StoreError where error.code == .cancelled {
        throw CancellationError()
      } catch let error as LMDBError {
        throw StoreError(error)
      }
    } onCancel: {
      flag.set()
    }
  }
}

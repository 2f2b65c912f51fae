public import EntityStore
public import Foundation

/// Work of a store in progress, with Foundation's `Progress`.
///
///     let fetch = store.asynchronousFetch(Item.all.sorted(by: \.createdAt))
///     observe(fetch.progress)
///     let items = try await fetch.value
///
/// Anything that reports how far it is can be run:
///
///     let deletion = AsynchronousWork { report in
///       try await store.delete(outdated, inChunksOf: 10_000, onProgress: report)
///     }
///
/// A `Progress` that is current when the work begins has ``progress`` as a child. Cancelling the
/// progress, the work, or a task around ``value`` cancels the call that does the work.
public final class AsynchronousWork<Value: Sendable>: Sendable {
  /// How far the work is, and the way to cancel it from a user interface.
  ///
  /// Indeterminate while the total is not known.
  public let progress: Progress
  private let task: Task<Value, any Error>

  /// Begins the work that `run` does, at once.
  ///
  /// - Parameter run: called in a task of its own, with a closure to report progress to.
  public init(
    _ run:
      @escaping @Sendable (
        _ report: @escaping @Sendable (WorkProgress) -> Void
      ) async throws -> Value
  ) {
    let progress = Progress(totalUnitCount: -1)
    self.progress = progress
    let task = Task {
      let value = try await run { step in
        if let total = step.total { progress.totalUnitCount = Int64(total) }
        progress.completedUnitCount = Int64(step.completed)
      }
      // Fewer may have been done than were expected, and a total may never have been known.
      let total = max(progress.totalUnitCount, progress.completedUnitCount, 1)
      progress.totalUnitCount = total
      progress.completedUnitCount = total
      return value
    }
    self.task = task
    progress.isCancellable = true
    progress.cancellationHandler = { task.cancel() }
  }

  /// The result, when the work is done.
  ///
  /// - Throws: what the work throws; `CancellationError` when it was cancelled.
  public var value: Value {
    get async throws {
      try await withTaskCancellationHandler {
        try await task.value
      } onCancel: {
        task.cancel()
      }
    }
  }

  /// Ends the work; ``value`` throws `CancellationError`.
  public func cancel() { task.cancel() }
}

/// A fetch in progress: the counterpart of `NSAsynchronousFetchRequest` and its result.
///
/// Its progress counts records. Cancelling it ends the work within 50 milliseconds.
public typealias AsynchronousFetch<E: Entity> = AsynchronousWork<[E]>

extension Store {
  /// Begins to fetch what `query` finds, and returns at once.
  public func asynchronousFetch<E: Entity>(_ query: Query<E>) -> AsynchronousFetch<E> {
    AsynchronousWork { try await self.fetch(query, onProgress: $0) }
  }
}

/// An import in progress.
///
///     let importing = AsynchronousImport(byteCount: size) { onEvent in
///       try await importer.run(pages, records: "result", onEvent: onEvent) { (r: Row) in Film(r) }
///     }
///     observe(importing.progress)
///     print(try await importing.value)
public typealias AsynchronousImport = AsynchronousWork<ImportReport>

extension AsynchronousWork where Value == ImportReport {
  /// Begins the import that `run` runs, at once.
  ///
  /// The progress counts the bytes of pages that have been read, or pages where the number of bytes
  /// is not known, of as many as the source says that it has. Cancelling it ends the import after a
  /// whole page.
  ///
  /// - Parameter byteCount: of all pages; `nil` where it is not known.
  public convenience init(
    byteCount: Int? = nil,
    _ run:
      @escaping @Sendable (
        _ onEvent: @escaping @Sendable (ImportEvent) -> Void
      ) async throws -> ImportReport
  ) {
    self.init { (report: @escaping @Sendable (WorkProgress) -> Void) in
      try await run { event in
        guard case .read(let step) = event else { return }
        report(
          WorkProgress(
            completed: byteCount.map { min($0, step.bytes) } ?? step.pages,
            total: byteCount ?? step.totalPages))
      }
    }
  }
}

public import EntityStore
public import Foundation

/// Work of a store in progress, with Foundation's `Progress`.
///
///     let fetch = store.asynchronousFetch(Item.all.sorted(by: \.createdAt))
///     observe(fetch.progress)
///     let items = try await fetch.value
///
/// Any work that reports its progress can be run:
///
///     let deletion = AsynchronousWork { report in
///       try await store.delete(outdated, inChunksOf: 10_000, onProgress: report)
///     }
///
/// If a `Progress` is current when the work begins, ``progress`` becomes its child. Cancelling the
/// progress, the work, or a task that waits for ``value`` cancels the call that does the work.
public final class AsynchronousWork<Value: Sendable>: Sendable {
  /// The progress of the work.
  ///
  /// A user interface can cancel the work through it.
  ///
  /// The progress is indeterminate while the total is unknown.
  public let progress: Progress
  private let task: Task<Value, any Error>

  /// Begins the work of `run` at once.
  ///
  /// - Parameter run: Does the work in a new task. The argument is a closure that reports progress.
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
      // Ended work counts as complete, even if fewer units were completed than expected or the
      // total is unknown.
      let total = max(progress.totalUnitCount, progress.completedUnitCount, 1)
      progress.totalUnitCount = total
      progress.completedUnitCount = total
      return value
    }
    self.task = task
    progress.isCancellable = true
    progress.cancellationHandler = { task.cancel() }
  }

  /// The result, once the work has ended.
  ///
  /// - Throws: The error of the work; `CancellationError` if it was cancelled.
  public var value: Value {
    get async throws {
      try await withTaskCancellationHandler {
        try await task.value
      } onCancel: {
        task.cancel()
      }
    }
  }

  /// Cancels the work; ``value`` then throws `CancellationError`.
  public func cancel() { task.cancel() }
}

/// A fetch in progress, the counterpart of `NSAsynchronousFetchRequest` and its result.
///
/// The progress counts records. Cancelling the fetch ends the work within 50 milliseconds.
public typealias AsynchronousFetch<E: Entity> = AsynchronousWork<[E]>

extension Store {
  /// Begins to fetch the results of `query`, and returns at once.
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
  /// The progress counts the bytes of the pages read. If `byteCount` is `nil`, it counts pages, of
  /// the total that the source states. A cancelled import ends after a complete page.
  ///
  /// - Parameter byteCount: The number of bytes of all pages; `nil` if unknown.
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

public import EntityStore
public import Foundation

/// A fetch in progress: the counterpart of `NSAsynchronousFetchRequest` and its result.
///
///     let fetch = store.asynchronousFetch(Item.query.sorted(by: .ascending(\.createdAt)))
///     observe(fetch.progress)
///     let items = try await fetch.value
///
/// ``progress`` counts records. Its total is known where the number of records or an index tells;
/// until then it is indeterminate. A `Progress` that is current when the fetch is made has it as a
/// child. Cancelling the progress, the fetch, or a task that the program has put around
/// ``value`` ends the work within 50 milliseconds.
public final class AsynchronousFetch<E: Entity>: Sendable {
  /// How far the fetch has come, and the way to cancel it from a user interface.
  public let progress: Progress
  private let task: Task<[E], any Error>

  fileprivate init(_ store: Store, _ query: Query<E>) {
    let progress = Progress(totalUnitCount: -1)
    self.progress = progress
    task = Task {
      let found = try await store.fetch(query) { step in
        if let total = step.total { progress.totalUnitCount = Int64(total) }
        progress.completedUnitCount = Int64(step.completed)
      }
      // What was read and what was found are two numbers; at the end it is all done.
      if progress.totalUnitCount < 0 { progress.totalUnitCount = Int64(found.count) }
      progress.completedUnitCount = progress.totalUnitCount
      return found
    }
    let task = task
    progress.isCancellable = true
    progress.cancellationHandler = { task.cancel() }
  }

  /// The records, when they are all there.
  ///
  /// - Throws: `CancellationError` when the fetch was cancelled.
  public var value: [E] {
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

extension Store {
  /// Begins to fetch what `query` finds, and returns at once.
  public func asynchronousFetch<E: Entity>(_ query: Query<E>) -> AsynchronousFetch<E> {
    AsynchronousFetch(self, query)
  }
}

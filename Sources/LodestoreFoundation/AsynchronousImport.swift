public import EntityStore
public import Foundation

/// An import in progress.
///
///     let importing = AsynchronousImport(byteCount: size) { onEvent in
///       try await importer.run(pages, records: "result", onEvent: onEvent) { (r: Row) in Film(r) }
///     }
///     observe(importing.progress)
///     print(try await importing.value)
///
/// ``progress`` counts the bytes of pages that have been read, where it is known how many there are, and
/// else pages, without a total. A `Progress` that is current when the import begins has it as a child.
/// Cancelling the progress, the import, or a task around ``value`` ends the import behind a whole page.
public final class AsynchronousImport: Sendable {
  /// How far the import is, and the way to cancel it from a user interface.
  public let progress: Progress
  private let task: Task<ImportReport, any Error>

  /// Begins the import that `run` runs, at once.
  ///
  /// - Parameter byteCount: of all pages; `nil` where nobody knows.
  public init(
    byteCount: Int? = nil,
    _ run:
      @escaping @Sendable (
        _ onEvent: @escaping @Sendable (ImportEvent) -> Void
      ) async throws -> ImportReport
  ) {
    let progress = Progress(totalUnitCount: byteCount.map(Int64.init) ?? -1)
    self.progress = progress
    task = Task {
      let report = try await run { event in
        guard case .read(let step) = event else { return }
        progress.completedUnitCount =
          byteCount.map { Int64(min($0, step.bytes)) } ?? Int64(step.pages)
      }
      if progress.totalUnitCount < 0 { progress.totalUnitCount = Int64(report.pages) }
      progress.completedUnitCount = progress.totalUnitCount
      return report
    }
    let task = task
    progress.isCancellable = true
    progress.cancellationHandler = { task.cancel() }
  }

  /// The report, when the import is at its end.
  ///
  /// - Throws: what the import throws; `CancellationError` when it was cancelled.
  public var value: ImportReport {
    get async throws {
      try await withTaskCancellationHandler {
        try await task.value
      } onCancel: {
        task.cancel()
      }
    }
  }

  /// Ends the import; ``value`` throws `CancellationError`.
  public func cancel() { task.cancel() }
}

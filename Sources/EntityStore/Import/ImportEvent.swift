/// How far an import is.
public struct ImportProgress: Sendable, Hashable {
  /// Pages that have been read.
  public var pages = 0
  /// Records that have been read.
  public var records = 0
  /// How many pages the source has in all, as it said last; `nil` where it does not say.
  ///
  /// With ``committedPages`` it tells how far the import is. Sources may grow or shrink meanwhile.
  public var totalPages: Int?
  /// Bytes of pages that have been read.
  public var bytes = 0
  /// Records that have been rejected.
  public var rejected = 0
  /// Records that have been committed, by this run and those that it goes on with.
  public var committed = 0
  /// Pages that have been committed, by this run and those that it goes on with.
  public var committedPages = 0
  /// Seconds since the first page was asked for.
  public var seconds = 0.0

  /// Nothing yet.
  public init() {}

  /// Records a second.
  public var recordsPerSecond: Double { seconds > 0 ? Double(records) / seconds : 0 }
}

/// What happens in an import.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum ImportEvent: Sendable {
  /// A page was read and decoded.
  case read(ImportProgress)
  /// Pages were committed.
  case committed(ImportProgress)
  /// A record was not taken; it is in the report as well.
  case rejected(ImportReport.Reject)
  /// The import got to its end.
  case finished(ImportReport)
}

extension ImportEvent {
  /// The events of an import as an asynchronous sequence, which ends with the import.
  ///
  ///     for try await event in ImportEvent.stream({ onEvent in
  ///       try await importer.run(pages, records: "result", onEvent: onEvent) { (r: Row) in Film(r) }
  ///     }) {
  ///       if case .committed(let progress) = event { print(progress.recordsPerSecond) }
  ///     }
  ///
  /// The import begins at once, and is cancelled when the sequence is no longer wanted. Who is slower
  /// than the import misses the oldest events beyond ten thousand.
  public static func stream(
    _ run:
      @escaping @Sendable (
        _ onEvent: @escaping @Sendable (ImportEvent) -> Void
      ) async throws -> ImportReport
  ) -> AsyncThrowingStream<ImportEvent, any Error> {
    AsyncThrowingStream(bufferingPolicy: .bufferingNewest(10_000)) { continuation in
      let task = Task {
        do {
          _ = try await run { continuation.yield($0) }
          continuation.finish()
        } catch {
          continuation.finish(throwing: error)
        }
      }
      continuation.onTermination = { _ in task.cancel() }
    }
  }
}

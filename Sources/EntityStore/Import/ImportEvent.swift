/// The progress of an import.
public struct ImportProgress: Sendable, Hashable {
  /// The number of pages read.
  public var pages = 0
  /// The number of records read.
  public var records = 0
  /// The number of pages of the source, as last reported; `nil` when the source does not report it.
  ///
  /// Compare it with ``committedPages`` for the progress. Sources may grow or shrink meanwhile.
  public var totalPages: Int?
  /// The bytes of the pages read.
  public var bytes = 0
  /// The number of rejected records.
  public var rejected = 0
  /// The number of records committed by this run and the runs that it resumes.
  public var committed = 0
  /// The number of pages committed by this run and the runs that it resumes.
  public var committedPages = 0
  /// The seconds since the first page was requested.
  public var seconds = 0.0

  /// Creates the progress of an import that has not read anything.
  public init() {}

  /// The number of records read per second.
  public var recordsPerSecond: Double { seconds > 0 ? Double(records) / seconds : 0 }
}

/// An event of an import.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum ImportEvent: Sendable {
  /// A page was read and decoded.
  case read(ImportProgress)
  /// Pages were committed.
  case committed(ImportProgress)
  /// A record was rejected; the report lists it too.
  case rejected(ImportReport.Reject)
  /// The import finished.
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
  /// The import begins at once, and is cancelled when the sequence is released. When the consumer
  /// is slower than the import, only the newest ten thousand waiting events are kept.
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

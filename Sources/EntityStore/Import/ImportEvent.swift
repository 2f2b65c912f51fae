/// How far an import is.
public struct ImportProgress: Sendable, Hashable {
  /// Pages that have been read.
  public var pages = 0
  /// Records that have been read.
  public var records = 0
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

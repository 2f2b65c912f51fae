// Deprecated names of version 0.1.0 of the library.

extension ReadableTransaction where Self: ~Copyable {
  /// The former name of `commitNumber`.
  @available(*, deprecated, renamed: "commitNumber")
  public var generation: CommitNumber { commitNumber }
}

extension PinnedSnapshot {
  /// The former name of ``commitNumber``.
  @available(*, deprecated, renamed: "commitNumber")
  public var generation: CommitNumber { get throws { try commitNumber } }
}

extension Page {
  /// The former name of ``commitNumber``.
  @available(*, deprecated, renamed: "commitNumber")
  public var generation: CommitNumber { commitNumber }
}

extension FetchedResults {
  /// The former name of ``commitNumber``.
  @available(*, deprecated, renamed: "commitNumber")
  public var generation: CommitNumber { commitNumber }
}

extension ResultUpdate {
  /// The former name of ``commitNumber``.
  @available(*, deprecated, renamed: "commitNumber")
  public var generation: CommitNumber { commitNumber }
}

extension SectionedResultUpdate {
  /// The former name of ``commitNumber``.
  @available(*, deprecated, renamed: "commitNumber")
  public var generation: CommitNumber { commitNumber }
}

extension CommittedWriteChanges {
  /// The former name of ``commitNumber``.
  @available(*, deprecated, renamed: "commitNumber")
  public var generation: CommitNumber { commitNumber }
}

extension SnapshotWarning {
  /// The former name of ``commitNumber``.
  @available(*, deprecated, renamed: "commitNumber")
  public var generation: CommitNumber { commitNumber }
}

extension StoreReader {
  /// The former name of ``commitNumber``.
  @available(*, deprecated, renamed: "commitNumber")
  public var generation: CommitNumber { commitNumber }
}

// Deprecated names of version 0.1.0 of the library.

extension Importer {
  /// The former name of ``RecordMatching``.
  @available(*, deprecated, renamed: "RecordMatching")
  public typealias Matching = RecordMatching<E>

  /// The former name of ``init(into:_:matching:strategy:onConflict:options:)``.
  @available(*, deprecated, renamed: "init(into:_:matching:strategy:onConflict:options:)")
  public init(
    into store: Store, _: E.Type = E.self, matching: RecordMatching<E>,
    strategy: ImportStrategy = .upsert, merging: MergePolicy<E>,
    options: ImportOptions = ImportOptions()
  ) {
    self.init(
      into: store, matching: matching, strategy: strategy, onConflict: merging, options: options)
  }
}

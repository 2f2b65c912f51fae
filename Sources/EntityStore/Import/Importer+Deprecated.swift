// Names of version 0.1.0.

extension Importer {
  /// The former name of ``init(into:_:matching:strategy:onConflict:options:)``.
  @available(*, deprecated, renamed: "init(into:_:matching:strategy:onConflict:options:)")
  public init(
    into store: Store, _: E.Type = E.self, matching: Matching,
    strategy: ImportStrategy = .upsert, merging: MergePolicy<E>,
    options: ImportOptions = ImportOptions()
  ) {
    self.init(
      into: store, matching: matching, strategy: strategy, onConflict: merging, options: options)
  }
}

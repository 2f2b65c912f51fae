public import EntityStore

extension CachedDataset: AttachableDataset {
  /// Returns ``generations``.
  @_documentation(visibility: internal)
  public var replacements: DatasetGenerations { generations }
}

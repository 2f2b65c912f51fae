public import EntityStore

extension CachedDataset: AttachableDataset {
  /// The news of replacements: ``generations``.
  @_documentation(visibility: internal)
  public var replacements: DatasetGenerations { generations }
}

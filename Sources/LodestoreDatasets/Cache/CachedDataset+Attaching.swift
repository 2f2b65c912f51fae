public import EntityStore

extension CachedDataset: AttachableDataset {
  /// The same sequence as ``generations``.
  @_documentation(visibility: internal)
  public var replacements: DatasetGenerations { generations }
}

public import EntityStore

extension CachedDataset: AttachableDataset {
  /// The replacements, as ``generations``.
  @_documentation(visibility: internal)
  public var replacements: DatasetGenerations { generations }
}

public import EntityStore

extension CachedDataset: AttachableDataset {
  /// The news of replacements: ``generations``.
  public var replacements: DatasetGenerations { generations }
}

public import EntityStore

extension CachedDataset: AttachableDataset {
  /// The replacements, as ``generations``.
  public var replacements: DatasetGenerations { generations }
}

/// The outcome of a publication.
public struct PublishReport: Sendable {
  /// The manifest that is now in the folder.
  public let manifest: DatasetManifest
  /// The generation before; `nil` for the first one.
  public let previousGeneration: UInt64?
  /// The keys that a program carries to verify the dataset.
  public let trustedKeys: TrustedKeys
  /// The older generations without a patch, and why.
  public let skippedPatches: [SkippedPatch]
  /// The files that were removed, by their paths within the folder: old ones, and those that a
  /// killed publisher left.
  public let removedFiles: [String]
}

/// An older generation from which no patch was made.
public struct SkippedPatch: Sendable, Hashable {
  /// The older generation.
  public let from: UInt64
  /// The reason in words.
  public let reason: String
}

/// The result of a publication.
public struct PublishReport: Sendable {
  /// The manifest that is now in the folder.
  public let manifest: DatasetManifest
  /// The previous generation; `nil` for the first one.
  public let previousGeneration: UInt64?
  /// The keys with which a program verifies the dataset.
  public let trustedKeys: TrustedKeys
  /// The older generations without a patch, with the reasons.
  public let skippedPatches: [SkippedPatch]
  /// The removed files, by path within the folder: old files, and remains of a killed publisher.
  public let removedFiles: [String]
}

/// An older generation from which no patch was made.
public struct SkippedPatch: Sendable, Hashable {
  /// The older generation.
  public let from: UInt64
  /// The reason in words.
  public let reason: String
}

public import EntityStore

/// One generation of a dataset, with its store and the age of its data.
///
/// The file stays on the disk as long as ``store`` is referenced, in this or another process, even
/// after later generations.
public struct DatasetGeneration: Sendable {
  /// The way in which a generation arrived.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Source: String, Sendable, CaseIterable {
    /// The generation came with the program.
    case seed
    /// A refresh brought the generation.
    case refresh
    /// The generation was installed from a file by hand.
    case file
  }

  /// The sealed store, which is never written to.
  public let store: Store
  /// The generation's number.
  public let number: UInt64
  /// The way in which the generation arrived.
  public let source: Source
  /// The age of the data.
  public let age: DatasetAge
  /// The error of the refresh that should have brought newer data; `nil` if none was tried or none
  /// failed.
  public internal(set) var refreshError: DatasetError?
  /// The digest of the records, by which two generations with equal numbers and different content
  /// are distinguished.
  var contentDigest = ""
  /// The reason why an available generation with a higher number cannot be used; `nil` if there is
  /// none.
  public internal(set) var unusable: DatasetError?
}

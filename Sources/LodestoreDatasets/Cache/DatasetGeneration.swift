public import EntityStore

/// One generation of a dataset, with its store and its age.
///
/// The file stays on the disk for as long as a reference to ``store`` exists, in this or another
/// process, however many generations follow.
public struct DatasetGeneration: Sendable {
  /// How a generation came here.
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
  /// How the generation came here.
  public let source: Source
  /// How old the data is.
  public let age: DatasetAge
  /// The error of the refresh that should have brought newer data; `nil` when none was tried or
  /// none failed.
  public internal(set) var refreshError: DatasetError?
  /// The digest of the records, so that other content under the same number is told from it.
  var contentDigest = ""
  /// Why a generation with a higher number that is here cannot be used; `nil` when there is none.
  public internal(set) var unusable: DatasetError?
}

public import Foundation
public import Lodestore

/// One published version of a library.
@Entity public struct Podspec {
  #Unique<Podspec>([\.name, \.version])
  #Index<Podspec>(
    [\.sortName, \.versionOrder], [\.license, \.sortName, \.versionOrder], [\.changedAt],
    [\.platformNames])

  /// The name of the library.
  @Attribute(constraints: [.length(1...200)]) public var name: String
  /// The podspec's version.
  @Attribute(constraints: [.length(1...100)]) public var version: String
  /// A description in one line.
  public var summary: String
  /// The address of the homepage.
  public var homepage: String?
  /// The license of the podspec.
  public var license: String?
  /// The authors as a client sent them: a text, a list, a dictionary, or a list of texts and
  /// dictionaries.
  public var authors: JSONValue
  /// The names of the authors, for the search.
  public var authorNames: String
  /// The required versions of systems, by the system's name; null if the podspec names none.
  public var platforms: JSONValue
  /// The names in `platforms`.
  public var platformNames: [String]
  /// The required libraries or parts of libraries: a list of versions for each name.
  public var requirements: JSONValue
  /// The version as a text that sorts correctly: 1.9 before 1.10.
  public var versionOrder: String
  /// The name without case and accents, derived by the store.
  @Derived(.canonical(\Podspec.name)) public private(set) var sortName = ""
  /// The time of the last change by any program, derived by the store.
  @Derived(.changedAt) public private(set) var changedAt: Date = .distantPast
  /// The library that the podspec is a version of.
  @Relationship public var pod: Pod.ID?

  /// The libraries that this podspec needs.
  public static let dependencies = ToMany<Podspec, Pod>()

  /// The history records each write, and keeps the name and version of deleted podspecs.
  public static let history = HistoryPolicy<Podspec>.kept(preserving: \.name, \.version)
}

/// A library with all its versions.
///
/// If a podspec needs a library that has no podspec itself, the library is stored too.
@Entity public struct Pod {
  #Unique<Pod>([\.name])

  /// The library's name.
  public var name: String
  /// The number of podspecs that need this library, derived by the store.
  @Derived(.count(Pod.dependents)) public private(set) var dependentCount = 0

  /// The library's versions.
  public static let specs = ToMany<Pod, Podspec>(inverse: \.pod)
  /// The podspecs that need this library.
  public static let dependents = ToMany<Pod, Podspec>(inverse: Podspec.dependencies)
}

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
  /// Its version.
  @Attribute(constraints: [.length(1...100)]) public var version: String
  /// A description in one line.
  public var summary: String
  /// The address of the homepage.
  public var homepage: String?
  /// The license of the podspec.
  public var license: String?
  /// The authors as they were sent: a text, a list, a dictionary, or a list that mixes them.
  public var authors: JSONValue
  /// The names of the authors, for the search.
  public var authorNames: String
  /// The versions of systems that it needs, by their names; null where it says nothing.
  public var platforms: JSONValue
  /// The names in `platforms`.
  public var platformNames: [String]
  /// The requirements: lists of versions by the names of libraries, or of their parts.
  public var requirements: JSONValue
  /// The version in a form that text orders rightly: 1.9 before 1.10.
  public var versionOrder: String
  /// The name without case and marks, kept by the store.
  @Derived(.canonical(\Podspec.name)) public private(set) var sortName = ""
  /// When it was last changed, by whatever program; kept by the store.
  @Derived(.changedAt) public private(set) var changedAt: Date = .distantPast
  /// The library that this is a version of.
  @Relationship public var pod: Pod.ID?

  /// The libraries that this one needs.
  public static let dependencies = ToMany<Podspec, Pod>()

  /// The file records each write, and the preserved attributes of deleted podspecs.
  public static let history = HistoryPolicy<Podspec>.kept(preserving: \.name, \.version)
}

/// A library, whatever its version; also one that is only known because another one needs it.
@Entity public struct Pod {
  #Unique<Pod>([\.name])

  /// Its name.
  public var name: String
  /// How many podspecs need it, kept by the store.
  @Derived(.count(Pod.dependents)) public private(set) var dependentCount = 0

  /// Its versions.
  public static let specs = ToMany<Pod, Podspec>(inverse: \.pod)
  /// The podspecs that need it.
  public static let dependents = ToMany<Pod, Podspec>(inverse: Podspec.dependencies)
}

import Lodestore

/// One published version of a library.
@Entity package struct Podspec {
  #Unique<Podspec>([\.name, \.version])
  #Index<Podspec>([\.section, \.sortName, \.versionOrder])

  package var name: String
  package var version: String
  package var summary: String
  package var homepage: String?
  package var license: String?
  /// The authors as they were sent: a text, a list, a dictionary, or a list that mixes them.
  package var authors: JSONValue
  /// The names of the authors, for the search.
  package var authorNames: String
  /// The first letter of the name; `#` for all that begin with none.
  package var section: String
  /// The version in a form that text orders rightly: 1.9 before 1.10.
  package var versionOrder: String
  /// The name without case and marks, kept by the store.
  @Derived(.canonical(\Podspec.name)) package private(set) var sortName = ""
  /// The library that this is a version of.
  @Relationship package var pod: Pod.ID?

  /// The libraries that this one needs.
  package static let dependencies = ToMany<Podspec, Pod>()
}

/// A library, whatever its version; also one that is only known because another one needs it.
@Entity package struct Pod {
  #Unique<Pod>([\.name])
  #Index<Pod>([\.dependentCount])

  package var name: String
  /// How many podspecs need it, kept by the store.
  @Derived(.count(Pod.dependents)) package private(set) var dependentCount = 0

  package static let specs = ToMany<Pod, Podspec>(inverse: \.pod)
  package static let dependents = ToMany<Pod, Podspec>(inverse: Podspec.dependencies)
}

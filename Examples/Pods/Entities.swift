import Lodestore

/// One published version of a library.
@Entity package struct Podspec {
  #Unique<Podspec>([\.name, \.version])
  #Index<Podspec>([\.section, \.sortName, \.versionOrder])
  #Search<Podspec>([\.name: 3, \.summary: 1, \.authorNames: 1])

  package var name: String
  package var version: String
  package var summary: String
  package var homepage: String?
  package var license: String?
  /// The authors as the service sent them: a text, a list, a dictionary, or a list of texts and
  /// dictionaries.
  package var authors: JSONValue
  /// The names of the authors, for the search.
  package var authorNames: String
  /// The first letter of the name; `#` if the name does not begin with a letter.
  package var section: String
  /// The version as a text that sorts correctly: 1.9 before 1.10.
  package var versionOrder: String
  /// The name without case and accents, derived by the store.
  @Derived(.canonical(\Podspec.name)) package private(set) var sortName = ""
  /// The library that the podspec is a version of.
  @Relationship package var pod: Pod.ID?

  /// The libraries that this podspec needs.
  package static let dependencies = ToMany<Podspec, Pod>()
}

/// A library with all its versions.
///
/// If a podspec needs a library that has no podspec itself, the library is stored too.
@Entity package struct Pod {
  #Unique<Pod>([\.name])
  #Index<Pod>([\.dependentCount])

  package var name: String
  /// The number of podspecs that need this library, derived by the store.
  @Derived(.count(Pod.dependents)) package private(set) var dependentCount = 0

  package static let specs = ToMany<Pod, Podspec>(inverse: \.pod)
  package static let dependents = ToMany<Pod, Podspec>(inverse: Podspec.dependencies)
}

import Lodestore

/// A podspec of the pages.
///
/// Members whose type differs between podspecs are read as `JSONValue`.
struct Podspec: Decodable, Sendable {
  var name: String
  var version: String
  var summary: String?
  var homepage: String?
  var license: JSONValue?
  var authors: JSONValue?
  var source: JSONValue?
  var platforms: JSONValue?
  var source_files: JSONValue?
  var dependencies: JSONValue?
}

/// The podspec as an entity.
@Entity(name: "Podspec")
struct StoredPodspec: Sendable {
  #Unique<StoredPodspec>([\.name, \.version])
  #Index<StoredPodspec>([\.homepage])

  var name: String
  var version: String
  var summary: String?
  var homepage: String?
  var license: JSONValue?
  var authors: JSONValue?
  var source: JSONValue?
  var platforms: JSONValue?
  var sourceFiles: JSONValue?
  var dependencies: JSONValue?
}

extension StoredPodspec {
  init(_ spec: Podspec) {
    self.init(
      name: spec.name, version: spec.version, summary: spec.summary, homepage: spec.homepage,
      license: spec.license, authors: spec.authors, source: spec.source,
      platforms: spec.platforms, sourceFiles: spec.source_files, dependencies: spec.dependencies)
  }
}

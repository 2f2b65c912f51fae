import Lodestore

/// A version of a library.
///
/// Each generation of the catalogue has all podspecs and replaces the earlier generations.
@Entity package struct Podspec {
  #Unique<Podspec>([\.name, \.version])

  package var name: String
  package var version: String
  package var summary: String
  package var license: String?
}

/// A podspec that the user has marked; the mark stays when the catalogue is replaced.
@Entity package struct Favourite {
  #Unique<Favourite>([\.spec])

  /// The podspec, by its name and version.
  package var spec: Reference<Podspec>
  package var note: String
}

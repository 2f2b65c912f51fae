import Foundation
import HTTPTypes
import Lodestore

/// A page of the list of podspecs.
public struct PodPage: Encodable, Sendable {
  /// The podspecs, without their details.
  public var pods: [Item]
  /// The path of the next page; `nil` for the last one.
  public var next: String?

  /// A podspec in a list.
  public struct Item: Encodable, Sendable {
    /// The name of the library.
    public var name: String
    /// The podspec's version.
    public var version: String
    /// A description in one line.
    public var summary: String
    /// The address of the homepage.
    public var homepage: String?
    /// The license of the podspec.
    public var license: String?
    /// The authors.
    public var authors: String
    /// The path of the podspec's details.
    public var href: String

    /// A podspec in a list.
    public init(
      name: String, version: String, summary: String, homepage: String?, license: String?,
      authors: String
    ) {
      (self.name, self.version, self.summary) = (name, version, summary)
      (self.homepage, self.license, self.authors) = (homepage, license, authors)
      href = Paths.spec(name, version)
    }

    /// Makes the entry from the attributes that the list reads of a podspec, in the same order.
    init(attributes: (String, String, String, String?, String?, String)) {
      let (name, version, summary, homepage, license, authors) = attributes
      self.init(
        name: name, version: version, summary: summary, homepage: homepage, license: license,
        authors: authors)
    }
  }

  /// A page of the list of podspecs.
  public init(pods: [Item], next: String?) { (self.pods, self.next) = (pods, next) }
}

/// One podspec in the form in which a client can send it back, with the names of related libraries.
public struct PodDetail: Encodable, Sendable {
  /// The attributes of the podspec.
  public var record: PodRecord
  /// The time of the last change.
  public var changedAt: Date
  /// The names of the libraries that the podspec needs.
  public var dependencies: [String]

  private enum CodingKeys: CodingKey { case changedAt, links }

  private struct Links: Encodable {
    var pod: String
    var dependencies: [String]
  }

  /// One podspec.
  public init(record: PodRecord, changedAt: Date, dependencies: [String]) {
    (self.record, self.changedAt, self.dependencies) = (record, changedAt, dependencies)
  }

  init(_ spec: Podspec, dependencies: [Pod]) {
    self.init(
      record: PodRecord(
        name: spec.name, version: spec.version,
        content: .init(
          summary: spec.summary, homepage: spec.homepage,
          license: spec.license, authors: spec.authors.nonNull,
          platforms: spec.platforms.nonNull, dependencies: spec.requirements.nonNull)),
      changedAt: spec.changedAt, dependencies: dependencies.map(\.name))
  }

  /// Writes all members into one object.
  public func encode(to encoder: any Encoder) throws {
    try record.encode(to: encoder)
    var members = encoder.container(keyedBy: CodingKeys.self)
    try members.encode(changedAt, forKey: .changedAt)
    try members.encode(
      Links(pod: Paths.pod(record.name), dependencies: dependencies.map(Paths.pod)), forKey: .links)
  }
}

/// A library: its versions, the newest first, and the number of podspecs that need it.
struct PodVersions: Encodable, Sendable {
  var name: String
  var dependentCount: Int
  var versions: [Version]
  var links: Links

  struct Version: Encodable, Sendable {
    var version: String
    var changedAt: Date
    var href: String
  }

  struct Links: Encodable, Sendable {
    /// The path of the list of podspecs that need the library.
    var dependents: String
  }

  init(_ pod: Pod, _ specs: [Podspec]) {
    (name, dependentCount) = (pod.name, pod.dependentCount)
    versions = specs.map { spec in
      Version(
        version: spec.version, changedAt: spec.changedAt,
        href: Paths.spec(spec.name, spec.version))
    }
    links = Links(dependents: "/pods?needs=\(Paths.escaped(pod.name))")
  }
}

extension JSONValue {
  /// `nil` for JSON's null, so that encoding leaves the member out.
  fileprivate var nonNull: JSONValue? { isNull ? .none : self }
}

/// The paths of the resources.
enum Paths {
  static func pod(_ name: String) -> String { "/pods/\(escaped(name))" }

  static func spec(_ name: String, _ version: String) -> String {
    "/pods/\(escaped(name))/\(escaped(version))"
  }

  /// Escapes a name for use in a path or a query.
  static func escaped(_ name: String) -> String {
    let isPlain = name.utf8.allSatisfy {
      $0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A || $0 >= 0x30 && $0 <= 0x39
        || $0 == 0x2D || $0 == 0x2E || $0 == 0x5F
    }
    if isPlain { return name }
    return name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? name
  }
}

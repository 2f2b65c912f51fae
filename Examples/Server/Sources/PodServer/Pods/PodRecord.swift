import Lodestore

/// A podspec as files and clients send it.
public struct PodRecord: Codable, Sendable {
  /// The name of the library.
  public var name: String
  /// The podspec's version.
  public var version: String
  /// The further content of the podspec.
  public var content: Content

  /// The content of a podspec besides its name and version.
  public struct Content: Codable, Sendable {
    var summary: String?
    var homepage: String?
    var license: JSONValue?
    var authors: JSONValue?
    var platforms: JSONValue?
    /// A list of versions for each name of a required library.
    var dependencies: JSONValue?

    /// Makes the content of a podspec.
    public init(
      summary: String?, homepage: String?, license: String?, authors: JSONValue?,
      platforms: JSONValue?, dependencies: JSONValue?
    ) {
      (self.summary, self.homepage) = (summary, homepage)
      self.license = license.map { .string($0) }
      (self.authors, self.platforms, self.dependencies) = (authors, platforms, dependencies)
    }
  }

  private enum CodingKeys: CodingKey { case name, version }

  /// Reads all members from one object.
  public init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    name = try members.decode(String.self, forKey: .name)
    version = try members.decode(String.self, forKey: .version)
    content = try Content(from: decoder)
  }

  /// Writes all members into one object.
  public func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: CodingKeys.self)
    try members.encode(name, forKey: .name)
    try members.encode(version, forKey: .version)
    try content.encode(to: encoder)
  }

  /// A podspec.
  public init(name: String, version: String, content: Content) {
    (self.name, self.version, self.content) = (name, version, content)
  }

  /// The names of the needed libraries, without parts: `Alamofire` for `Alamofire/Core`.
  var needs: [String] {
    let names = content.dependencies?.objectValue?.keys.map { String($0.prefix { $0 != "/" }) }
    return Set(names ?? []).sorted()
  }
}

extension Podspec {
  /// Makes the stored podspec of a record.
  init(_ record: PodRecord, pod: Pod.ID) {
    let content = record.content
    self.init(
      name: record.name, version: record.version, summary: content.summary ?? "",
      homepage: content.homepage,
      license: content.license?.stringValue ?? content.license?["type"]?.stringValue,
      authors: content.authors ?? .null,
      authorNames: Self.names(in: content.authors ?? .null).joined(separator: ", "),
      platforms: content.platforms ?? .null,
      platformNames: (content.platforms?.objectValue?.keys).map { $0.sorted() } ?? [],
      requirements: content.dependencies ?? .null,
      versionOrder: Self.order(of: record.version), pod: pod)
  }

  /// The names in a text, a list, a dictionary of names and addresses, or a list of these.
  private static func names(in authors: JSONValue) -> [String] {
    switch authors {
    case .string(let name): [name]
    case .array(let elements): elements.flatMap(names)
    case .object(let members): members.keys.sorted()
    default: []
    }
  }

  /// The version as text that sorts correctly: the number at the beginning of each part is padded,
  /// so 1.9 comes before 1.10.
  private static func order(of version: String) -> String {
    let parts: [Substring] = version.split(separator: ".", omittingEmptySubsequences: false)
    return parts.map { part in
      let digitCount = part.prefix { $0.isNumber }.count
      return String(repeating: "0", count: max(0, 10 - digitCount)) + String(part)
    }.joined(separator: ".")
  }
}

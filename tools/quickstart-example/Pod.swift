import EntityStore

/// One version of a library, found by name and version.
struct Pod: Entity {
  var id = RecordID<Pod>()
  var name: String
  var version: String
  var summary: String?
  var homepage: String?
  var license: String?
  /// A string, a list or a dictionary in the wild.
  var authors: JSONValue?
  var source: JSONValue?
  var platforms: JSONValue?

  struct Attributes: Sendable {
    let id = Attribute<Pod, RecordID<Pod>>.recordID
    let name = Attribute<Pod, String>(0)
    let version = Attribute<Pod, String>(1)
    let summary = Attribute<Pod, String?>(2)
    let homepage = Attribute<Pod, String?>(3)
    let license = Attribute<Pod, String?>(4)
    let authors = Attribute<Pod, JSONValue?>(5)
    let source = Attribute<Pod, JSONValue?>(6)
    let platforms = Attribute<Pod, JSONValue?>(7)
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Pod>(
    "Pod",
    attributes: [
      .init("name", \.name), .init("version", \.version), .init("summary", \.summary),
      .init("homepage", \.homepage), .init("license", \.license), .init("authors", \.authors),
      .init("source", \.source), .init("platforms", \.platforms),
    ],
    unique: [[\.name, \.version]], indexes: [[\.license]])

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(version)
    writer.write(summary)
    writer.write(homepage)
    writer.write(license)
    writer.write(authors)
    writer.write(source)
    writer.write(platforms)
  }
}

extension Pod {
  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    version = try reader.read()
    summary = try reader.read()
    homepage = try reader.read()
    license = try reader.read()
    authors = try reader.read()
    source = try reader.read()
    platforms = try reader.read()
  }

  init(_ spec: PodSpec) {
    self.init(
      name: spec.name, version: spec.version, summary: spec.summary, homepage: spec.homepage,
      license: spec.license?.stringValue ?? spec.license?["type"]?.stringValue,
      authors: spec.authors, source: spec.source, platforms: spec.platforms)
  }
}

/// A podspec as the service sends it; its other members are left where they are.
struct PodSpec: Decodable {
  var name: String
  var version: String
  var summary: String?
  var homepage: String?
  /// The name of a licence, or an object with its `type`.
  var license: JSONValue?
  var authors: JSONValue?
  var source: JSONValue?
  var platforms: JSONValue?
}

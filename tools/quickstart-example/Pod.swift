import EntityStore

/// One version of a library, identified by name and version.
struct Pod: Entity {
  var id = RecordID<Pod>()
  var name: String
  var version: String
  var summary: String?
  var homepage: String?
  var license: String?
  /// The authors: a string, a list or a dictionary, depending on the podspec.
  var authors: JSONValue?
  var source: JSONValue?
  var platforms: JSONValue?

  struct Attributes: Sendable {
    var id: Attribute<Pod, RecordID<Pod>> { .recordID }
    var name: Attribute<Pod, String> { .init(0) }
    var version: Attribute<Pod, String> { .init(1) }
    var summary: Attribute<Pod, String?> { .init(2) }
    var homepage: Attribute<Pod, String?> { .init(3) }
    var license: Attribute<Pod, String?> { .init(4) }
    var authors: Attribute<Pod, JSONValue?> { .init(5) }
    var source: Attribute<Pod, JSONValue?> { .init(6) }
    var platforms: Attribute<Pod, JSONValue?> { .init(7) }
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

/// A podspec as the service sends it.
///
/// Members that are not declared here are ignored.
struct PodSpec: Decodable {
  var name: String
  var version: String
  var summary: String?
  var homepage: String?
  /// The name of a license, or an object whose member `type` has the name.
  var license: JSONValue?
  var authors: JSONValue?
  var source: JSONValue?
  var platforms: JSONValue?
}

import EntityStore

/// A person, planet, species, starship or vehicle of the Star Wars API.
///
/// Common members are attributes; the rest is stored as received.
struct Resource: Entity {
  var id = RecordID<Resource>()
  var url: String
  var kind: String
  var name: String
  var content: JSONValue

  struct Attributes: Sendable {
    var id: Attribute<Resource, RecordID<Resource>> { .recordID }
    var url: Attribute<Resource, String> { .init(0) }
    var kind: Attribute<Resource, String> { .init(1) }
    var name: Attribute<Resource, String> { .init(2) }
    var content: Attribute<Resource, JSONValue> { .init(3) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Resource>(
    "Resource",
    attributes: [
      .init("url", \.url), .init("kind", \.kind), .init("name", \.name),
      .init("content", \.content),
    ],
    unique: [[\.url]], indexes: [[\.kind, \.name]])

  func encode(into writer: inout RecordWriter) {
    writer.write(url)
    writer.write(kind)
    writer.write(name)
    writer.write(content)
  }
}

extension Resource {
  init(from reader: inout RecordReader) throws(StoreError) {
    url = try reader.read()
    kind = try reader.read()
    name = try reader.read()
    content = try reader.read()
  }

  /// Takes the kind from the address: it is the part before the number, as in `…/api/people/1/`.
  init(_ content: JSONValue) throws {
    guard let url = content["url"]?.stringValue, let name = content["name"]?.stringValue else {
      throw BadRecord("cannot use the record: 'url' and 'name' must be strings")
    }
    let parts = url.split(separator: "/")
    guard parts.count > 2 else { throw BadRecord("cannot use the record: its url has no kind") }
    self.init(url: url, kind: String(parts[parts.count - 2]), name: name, content: content)
  }
}

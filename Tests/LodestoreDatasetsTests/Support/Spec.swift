import EntityStore

/// A record of the datasets of the tests.
struct Spec: Entity, Hashable {
  var id = RecordID<Spec>()
  var name: String
  var version: Int
  var summary: String

  struct Attributes: Sendable {
    var id: Attribute<Spec, RecordID<Spec>> { .recordID }
    var name: Attribute<Spec, String> { .init(0) }
    var version: Attribute<Spec, Int> { .init(1) }
    var summary: Attribute<Spec, String> { .init(2) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Spec>(
    "Spec",
    attributes: [
      .init("name", \.name), .init("version", \.version), .init("summary", \.summary),
    ], unique: [[\.name]], indexes: [[\.version]])

  init(name: String, version: Int, summary: String) {
    (self.name, self.version, self.summary) = (name, version, summary)
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(version)
    writer.write(summary)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    version = try reader.read()
    summary = try reader.read()
  }
}

import EntityStore

/// An entity whose history keeps images, and the names of deleted records.
struct Clause: Equatable {
  var id = RecordID<Clause>()
  var name: String
  var text = ""
  var weight: Int?
}

extension Clause: Entity {
  struct Attributes: Sendable {
    var id: Attribute<Clause, Clause.ID> { .recordID }
    var name: Attribute<Clause, String> { .init(0) }
    var text: Attribute<Clause, String> { .init(1) }
    var weight: Attribute<Clause, Int?> { .init(2) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Clause>(
    "Clause",
    attributes: [.init("name", \.name), .init("text", \.text), .init("weight", \.weight)],
    unique: [[\.name]], history: .kept(preserving: \.name, \.weight, images: true))

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    text = try reader.read()
    weight = try reader.read()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(text)
    writer.write(weight)
  }
}

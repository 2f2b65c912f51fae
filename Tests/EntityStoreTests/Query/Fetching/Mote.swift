import EntityStore

/// A small record, for stores with many of them.
struct Mote: Sendable, Equatable {
  var id = RecordID<Mote>()
  var number: Int
  var text: String
}

extension Mote: Entity {
  struct Attributes: Sendable {
    let id = Attribute<Mote, RecordID<Mote>>.recordID
    let number = Attribute<Mote, Int>(0)
    let text = Attribute<Mote, String>(1)
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Mote>(
    "Mote", attributes: [.init("number", \.number), .init("text", \.text)],
    indexes: [[\.number]])

  func encode(into writer: inout RecordWriter) {
    writer.write(number)
    writer.write(text)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    number = try reader.read()
    text = try reader.read()
  }
}

import EntityStore

/// A record with vectors of two numbers of dimensions.
struct Note: Entity, Equatable {
  static let dimensions = 130

  var id = RecordID<Note>()
  var group = 0
  var embedding: Vector?
  var color: Vector?

  struct Attributes: Sendable {
    var id: Attribute<Note, Note.ID> { .recordID }
    var group: Attribute<Note, Int> { .init(0) }
    var embedding: Attribute<Note, Vector?> { .init(1) }
    var color: Attribute<Note, Vector?> { .init(2) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Note>(
    "Note",
    attributes: [
      .init("group", \.group), .init("embedding", \.embedding), .init("color", \.color),
    ],
    indexes: [[\.group]],
    vectorIndexes: [
      VectorIndex(\.embedding, dimensions: dimensions), VectorIndex(\.color, dimensions: 3),
    ])

  init(_ embedding: Vector?, group: Int = 0, color: Vector? = nil) {
    self.group = group
    self.embedding = embedding
    self.color = color
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    group = try reader.read()
    embedding = try reader.read()
    color = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(group)
    writer.write(embedding)
    writer.write(color)
  }
}

/// ``Note`` in a program from before the vector indexes.
struct PlainNote: Entity {
  var id = RecordID<PlainNote>()
  var group = 0
  var embedding: Vector?
  var color: Vector?

  static let attributes: Void = ()

  static let schema = EntitySchema<PlainNote>(
    "Note",
    attributes: [
      .init("group", \.group), .init("embedding", \.embedding), .init("color", \.color),
    ],
    indexes: [[\.group]])

  init(_ embedding: Vector?) { self.embedding = embedding }

  init(from reader: inout RecordReader) throws(StoreError) {
    group = try reader.read()
    embedding = try reader.read()
    color = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(group)
    writer.write(embedding)
    writer.write(color)
  }
}

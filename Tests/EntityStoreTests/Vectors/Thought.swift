import EntityStore

/// A record with vectors of two numbers of dimensions.
struct Thought: Entity, Equatable {
  static let dimensions = 130

  var id = RecordID<Thought>()
  var group = 0
  var embedding: Vector?
  var color: Vector?

  struct Attributes: Sendable {
    var id: Attribute<Thought, Thought.ID> { .recordID }
    var group: Attribute<Thought, Int> { .init(0) }
    var embedding: Attribute<Thought, Vector?> { .init(1) }
    var color: Attribute<Thought, Vector?> { .init(2) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Thought>(
    "Thought",
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

/// ``Thought`` in a program from before the vector indexes.
struct PlainThought: Entity {
  var id = RecordID<PlainThought>()
  var group = 0
  var embedding: Vector?
  var color: Vector?

  static let attributes: Void = ()

  static let schema = EntitySchema<PlainThought>(
    "Thought",
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

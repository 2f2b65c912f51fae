#if Vectors
  import EntityStore

  /// A record with a vector, which is indexed in a later opening of the store.
  struct PlainItem: Entity {
    var id = RecordID<PlainItem>()
    var group: Int
    var embedding: Vector

    static let attributes: Void = ()

    static let schema = EntitySchema<PlainItem>(
      "Item", attributes: [.init("group", \.group), .init("embedding", \.embedding)],
      indexes: [[\.group]])

    init(_ embedding: Vector, group: Int) {
      self.embedding = embedding
      self.group = group
    }

    init(from reader: inout RecordReader) throws(StoreError) {
      group = try reader.read()
      embedding = try reader.read()
    }

    func encode(into writer: inout RecordWriter) {
      writer.write(group)
      writer.write(embedding)
    }
  }

  /// A record with a vector index of 384 dimensions, and one on a group with a hundredth of all.
  struct Item: Entity {
    var id = RecordID<Item>()
    var group: Int
    var embedding: Vector

    struct Attributes: Sendable {
      var id: Attribute<Item, Item.ID> { .recordID }
      var group: Attribute<Item, Int> { .init(0) }
      var embedding: Attribute<Item, Vector> { .init(1) }
    }
    static var attributes: Attributes { Attributes() }

    static let schema = EntitySchema<Item>(
      "Item", attributes: [.init("group", \.group), .init("embedding", \.embedding)],
      indexes: [[\.group]], vectorIndexes: [VectorIndex(\.embedding, dimensions: 384)])

    init(from reader: inout RecordReader) throws(StoreError) {
      group = try reader.read()
      embedding = try reader.read()
      id = reader.id()
    }

    func encode(into writer: inout RecordWriter) {
      writer.write(group)
      writer.write(embedding)
    }
  }
#endif

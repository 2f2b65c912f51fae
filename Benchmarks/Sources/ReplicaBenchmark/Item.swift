#if Replicas
  import EntityStore

  /// The record of the benchmark: a unique text, a number with an index, and two other attributes.
  struct Item: Entity {
    var id = RecordID<Item>()
    var name: String
    var score: Int
    var note: String
    var isDone: Bool

    struct Attributes: Sendable {
      var id: Attribute<Item, RecordID<Item>> { .recordID }
      var name: Attribute<Item, String> { .init(0) }
      var score: Attribute<Item, Int> { .init(1) }
      var note: Attribute<Item, String> { .init(2) }
      var isDone: Attribute<Item, Bool> { .init(3) }
    }

    static var attributes: Attributes { Attributes() }

    static let schema = EntitySchema<Item>(
      "Item",
      attributes: [
        .init("name", \.name), .init("score", \.score), .init("note", \.note),
        .init("isDone", \.isDone),
      ], unique: [[\.name]], indexes: [[\.score]])

    /// The record with a number; names are in random order.
    init(number: Int) {
      let mixed = UInt64(number) &* 0x9E37_79B9_7F4A_7C15
      name = "item-\(String(mixed >> 24, radix: 36))-\(number)"
      score = Int(mixed >> 44)
      note = "found at shelf \(mixed >> 40 & 0xFFF), to be checked"
      isDone = mixed & 1 == 0
    }

    func encode(into writer: inout RecordWriter) {
      writer.write(name)
      writer.write(score)
      writer.write(note)
      writer.write(isDone)
    }

    init(from reader: inout RecordReader) throws(StoreError) {
      name = try reader.read()
      score = try reader.read()
      note = try reader.read()
      isDone = try reader.read()
    }

    static func store(at path: String) throws -> Store {
      var options = StoreOptions()
      options.history = .images
      options.evictionInterval = nil
      return try Store(at: path, entities: [Item.self], options: options)
    }
  }
#endif

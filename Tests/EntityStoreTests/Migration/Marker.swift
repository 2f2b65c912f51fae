import EntityStore

/// One entity with and without computed indexes.
enum Marker {
  struct Values: Hashable, Sendable {
    static let words = ["amber", "birch", "cedar", "delta", "ember"]

    var title: String
    var tags: [String]
    var latitude: Double
    var longitude: Double
    var hue: Vector

    init(_ numbers: inout SeededNumbers) {
      title = (0..<3).map { _ in Self.words[numbers.below(5)] }.joined(separator: " ")
      tags = (0..<numbers.below(3)).map { _ in "t\(numbers.below(500))" }
      latitude = Double(numbers.below(1_800)) / 10 - 90
      longitude = Double(numbers.below(3_600)) / 10 - 180
      hue = Vector((0..<3).map { _ in Float(numbers.below(2_000)) / 500 - 2 })
    }

    init(from reader: inout RecordReader) throws(StoreError) {
      title = try reader.read()
      tags = try reader.read()
      latitude = try reader.read()
      longitude = try reader.read()
      hue = try reader.read()
    }

    func encode(into writer: inout RecordWriter) {
      writer.write(title)
      writer.write(tags)
      writer.write(latitude)
      writer.write(longitude)
      writer.write(hue)
    }
  }

  struct Plain: Entity {
    var id = RecordID<Plain>()
    var values: Values

    static let attributes: Void = ()
    static let schema = EntitySchema<Plain>(
      "Marker",
      attributes: [
        .init("title", \.values.title), .init("tags", \.values.tags),
        .init("latitude", \.values.latitude), .init("longitude", \.values.longitude),
        .init("hue", \.values.hue),
      ])

    init(_ values: Values) { self.values = values }
    init(from reader: inout RecordReader) throws(StoreError) { values = try Values(from: &reader) }
    func encode(into writer: inout RecordWriter) { values.encode(into: &writer) }
  }

  struct Indexed: Entity {
    var id = RecordID<Indexed>()
    var values: Values

    struct Attributes: Sendable {
      var latitude: Attribute<Indexed, Double> { .init(2) }
      var hue: Attribute<Indexed, Vector> { .init(4) }
    }

    static var attributes: Attributes { Attributes() }
    static let schema = EntitySchema<Indexed>(
      "Marker",
      attributes: [
        .init("title", \.values.title), .init("tags", \.values.tags),
        .init("latitude", \.values.latitude), .init("longitude", \.values.longitude),
        .init("hue", \.values.hue),
      ],
      elementIndexes: [.init(\.values.tags)], searchIndexes: [.init(.init(\.values.title))],
      placeIndexes: [.init(.init(\.values.latitude), .init(\.values.longitude))],
      vectorIndexes: [.init(\.values.hue, dimensions: 3)])

    init(_ values: Values) { self.values = values }

    init(from reader: inout RecordReader) throws(StoreError) {
      values = try Values(from: &reader)
      id = reader.id()
    }

    func encode(into writer: inout RecordWriter) { values.encode(into: &writer) }
  }
}

#if Search
  import EntityStore

  /// A text with an index on its words, and one on a group with a hundredth of all texts.
  struct SearchedText: Entity {
    var id = RecordID<SearchedText>()
    var text: String
    var group: Int

    struct Attributes: Sendable {
      var text: Attribute<SearchedText, String> { .init(0) }
      var group: Attribute<SearchedText, Int> { .init(1) }
    }
    static var attributes: Attributes { Attributes() }

    static let schema = EntitySchema<SearchedText>(
      "Text", attributes: [.init("text", \.text), .init("group", \.group)], indexes: [[\.group]],
      searchIndexes: [SearchIndex(.init(\.text))])

    init(_ text: String, group: Int) {
      self.text = text
      self.group = group
    }

    init(from reader: inout RecordReader) throws(StoreError) {
      text = try reader.read()
      group = try reader.read()
    }

    func encode(into writer: inout RecordWriter) {
      writer.write(text)
      writer.write(group)
    }
  }

  /// A text without an index on its words.
  struct PlainText: Entity {
    var id = RecordID<PlainText>()
    var text: String
    var group: Int

    struct Attributes: Sendable {
      var text: Attribute<PlainText, String> { .init(0) }
      var group: Attribute<PlainText, Int> { .init(1) }
    }
    static var attributes: Attributes { Attributes() }

    static let schema = EntitySchema<PlainText>(
      "Text", attributes: [.init("text", \.text), .init("group", \.group)], indexes: [[\.group]])

    init(_ text: String, group: Int) {
      self.text = text
      self.group = group
    }

    init(from reader: inout RecordReader) throws(StoreError) {
      text = try reader.read()
      group = try reader.read()
    }

    func encode(into writer: inout RecordWriter) {
      writer.write(text)
      writer.write(group)
    }
  }

  /// A point with an index on its place.
  struct BenchedPlace: Entity {
    var id = RecordID<BenchedPlace>()
    var latitude: Double
    var longitude: Double

    static let attributes: Void = ()
    static let schema = EntitySchema<BenchedPlace>(
      "Place", attributes: [.init("latitude", \.latitude), .init("longitude", \.longitude)],
      placeIndexes: [PlaceIndex(.init(\.latitude), .init(\.longitude))])

    init(_ point: Coordinate) {
      latitude = point.latitude
      longitude = point.longitude
    }

    init(from reader: inout RecordReader) throws(StoreError) {
      latitude = try reader.read()
      longitude = try reader.read()
    }

    func encode(into writer: inout RecordWriter) {
      writer.write(latitude)
      writer.write(longitude)
    }
  }
#endif

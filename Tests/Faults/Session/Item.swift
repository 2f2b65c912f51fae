import EntityStore

/// The content of a record, whatever type it was read or written as.
struct Row: Hashable, Codable, Sendable {
  var key: Int
  var name: String
  var note: String
  var group: Int
  /// The rank, which only ``ItemV2`` declares; `nil` keeps the rank of the stored record.
  var rank: Int?

  static let initialRank = 7

  /// A vector and a place that follow from a note, so that each change of the note moves them.
  static func direction(of note: String) -> Vector {
    Vector((0..<3).map { index in Float(note.utf8.dropFirst(index).first ?? 96) - 109 })
  }

  static func place(of note: String) -> Coordinate {
    let vector = direction(of: note).values
    return Coordinate(latitude: Double(vector[0]) * 6, longitude: Double(vector[1]) * 12)
  }
}

/// One stored entity, "Item", as the older or the newer program declares it.
protocol StoredItem: Entity {
  init(_ row: Row)
  static func with(group: Int) -> Query<Self>
  static func with(keys: [Int]) -> Query<Self>
  static func setNote(_ note: String, group: Int, in tx: inout WriteTransaction) throws
  static func importer(into store: Store) -> Importer<Self>
}

struct ItemV1: StoredItem {
  var id = RecordID<ItemV1>()
  var key: Int
  var name: String
  var note: String
  var group: Int
  private var direction: Vector { Row.direction(of: note) }
  private var latitude: Double { Row.place(of: note).latitude }
  private var longitude: Double { Row.place(of: note).longitude }

  struct Attributes: Sendable {
    var id: Attribute<ItemV1, RecordID<ItemV1>> { .recordID }
    var key: Attribute<ItemV1, Int> { .init(0) }
    var name: Attribute<ItemV1, String> { .init(1) }
    var note: Attribute<ItemV1, String> { .init(2) }
    var group: Attribute<ItemV1, Int> { .init(3) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<ItemV1>(
    "Item",
    attributes: [
      .init("key", \.key), .init("name", \.name), .init("note", \.note), .init("group", \.group),
      .init("direction", \.direction), .init("latitude", \.latitude),
      .init("longitude", \.longitude),
    ],
    unique: [[\.key]], indexes: [[\.name], [\.group, \.name]],
    searchIndexes: [SearchIndex(.init(\.note))],
    vectorIndexes: [VectorIndex(\.direction, dimensions: 3)])

  init(_ row: Row) {
    (key, name, note, group) = (row.key, row.name, row.note, row.group)
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(key)
    writer.write(name)
    writer.write(note)
    writer.write(group)
    writer.write(direction)
    writer.write(latitude)
    writer.write(longitude)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    key = try reader.read()
    name = try reader.read()
    note = try reader.read()
    group = try reader.read()
    _ = try (reader.read() as Vector, reader.read() as Double, reader.read() as Double)
  }

  static func with(group: Int) -> Query<ItemV1> { ItemV1.where { $0.group == group } }
  static func with(keys: [Int]) -> Query<ItemV1> { ItemV1.where { $0.key.isIn(keys) } }
  static func setNote(_ note: String, group: Int, in tx: inout WriteTransaction) throws {
    try tx.update(with(group: group)) { $0.note = note }
  }
  static func importer(into store: Store) -> Importer<ItemV1> {
    Importer(into: store, ItemV1.self, matching: .unique(\.key))
  }
}

/// The newer declaration adds a rank and an index over it, words of the name to the search index,
/// and an index on places.
///
/// Records older than the rank have 7.
struct ItemV2: StoredItem {
  var id = RecordID<ItemV2>()
  var key: Int
  var name: String
  var note: String
  var group: Int
  var rank: Int
  private var direction: Vector { Row.direction(of: note) }
  private var latitude: Double { Row.place(of: note).latitude }
  private var longitude: Double { Row.place(of: note).longitude }

  struct Attributes: Sendable {
    var id: Attribute<ItemV2, RecordID<ItemV2>> { .recordID }
    var key: Attribute<ItemV2, Int> { .init(0) }
    var name: Attribute<ItemV2, String> { .init(1) }
    var note: Attribute<ItemV2, String> { .init(2) }
    var group: Attribute<ItemV2, Int> { .init(3) }
    var rank: Attribute<ItemV2, Int> { .init(4) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<ItemV2>(
    "Item",
    attributes: [
      .init("key", \.key), .init("name", \.name), .init("note", \.note), .init("group", \.group),
      .init("rank", \.rank, initial: Row.initialRank),
      .init("direction", \.direction), .init("latitude", \.latitude),
      .init("longitude", \.longitude),
    ],
    unique: [[\.key]], indexes: [[\.name], [\.group, \.name], [\.rank, \.name]],
    searchIndexes: [SearchIndex(.init(\.note), .init(\.name))],
    placeIndexes: [PlaceIndex(.init(\.latitude), .init(\.longitude))],
    vectorIndexes: [VectorIndex(\.direction, dimensions: 3)])

  init(_ row: Row) {
    (key, name, note, group) = (row.key, row.name, row.note, row.group)
    rank = row.rank ?? Row.initialRank
  }

  var row: Row { Row(key: key, name: name, note: note, group: group, rank: rank) }

  func encode(into writer: inout RecordWriter) {
    writer.write(key)
    writer.write(name)
    writer.write(note)
    writer.write(group)
    writer.write(rank)
    writer.write(direction)
    writer.write(latitude)
    writer.write(longitude)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    key = try reader.read()
    name = try reader.read()
    note = try reader.read()
    group = try reader.read()
    rank = try reader.read()
    _ = try (reader.read() as Vector, reader.read() as Double, reader.read() as Double)
  }

  static func with(group: Int) -> Query<ItemV2> { ItemV2.where { $0.group == group } }
  static func with(keys: [Int]) -> Query<ItemV2> { ItemV2.where { $0.key.isIn(keys) } }
  static func setNote(_ note: String, group: Int, in tx: inout WriteTransaction) throws {
    try tx.update(with(group: group)) { $0.note = note }
  }
  static func importer(into store: Store) -> Importer<ItemV2> {
    Importer(into: store, ItemV2.self, matching: .unique(\.key))
  }
}

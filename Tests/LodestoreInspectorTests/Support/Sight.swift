import EntityStore
import Testing

@testable import KVDumpCommands
@testable import LodestoreInspector

/// A sight with a place, and a vector of two numbers.
struct Sight: Entity {
  var id = RecordID<Sight>()
  var name: String
  var group = 0
  var latitude: Double?
  var longitude: Double?
  var look: Vector?

  static let schema = EntitySchema<Sight>(
    "Sight",
    attributes: [
      .init("name", \.name), .init("group", \.group), .init("latitude", \.latitude),
      .init("longitude", \.longitude), .init("look", \.look),
    ],
    indexes: [[\.group]],
    placeIndexes: [PlaceIndex(.init(\.latitude), .init(\.longitude))],
    vectorIndexes: [VectorIndex(\.look, dimensions: 2)])

  init(_ name: String, _ latitude: Double?, _ longitude: Double?, group: Int = 0) {
    self.name = name
    self.latitude = latitude
    self.longitude = longitude
    self.group = group
  }

  init(_ name: String, look: Vector?, group: Int = 0) {
    self.init(name, nil, nil, group: group)
    self.look = look
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    group = try reader.read()
    latitude = try reader.read()
    longitude = try reader.read()
    look = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(group)
    writer.write(latitude)
    writer.write(longitude)
    writer.write(look)
  }
}

/// A ``Sight`` in a program from before its indexes.
struct PlainSight: Entity {
  var id = RecordID<PlainSight>()
  var sight: Sight

  static let schema = EntitySchema<PlainSight>(
    "Sight",
    attributes: [
      .init("name", \.sight.name), .init("group", \.sight.group),
      .init("latitude", \.sight.latitude), .init("longitude", \.sight.longitude),
      .init("look", \.sight.look),
    ])

  init(_ sight: Sight) { self.sight = sight }
  init(from reader: inout RecordReader) throws(StoreError) { sight = try Sight(from: &reader) }
  func encode(into writer: inout RecordWriter) { sight.encode(into: &writer) }
}

extension Library {
  /// A library whose indexes are not complete.
  static func withUnfinishedSights(_ sights: [Sight]) throws -> Library {
    try Library(entities: []) { path in
      let plain = try Store(at: path, entities: [PlainSight.self])
      try plain.insert(sights.map(PlainSight.init))
      plain.close()
      var options = StoreOptions()
      options.buildsIndexesInUse = true
      try Store(at: path, entities: [Sight.self], options: options).close()
    }
  }

  static func withSights(_ sights: [Sight]) async throws -> Library {
    let library = try Library(entities: [Sight.self, Author.self, Book.self])
    try await library.store.write { tx in for sight in sights { try tx.insert(sight) } }
    return library
  }

  /// Answers an address without limits of time, which a busy machine could exceed.
  func patient(_ address: String) throws -> String {
    var maker = PageMaker(store: DynamicStore(store), path: "x")
    maker.limits.count = .seconds(60)
    maker.limits.rows = .seconds(60)
    let target = try Target(parsing: address)
    return String(
      decoding: TwinPart.of(try maker.page(target), as: target.form).bytes, as: UTF8.self)
  }

  func verify() async {
    let errors = MemorySink()
    let status = await KVDump.execute(
      ["verify", store.path], on: Console(output: MemorySink(), errors: errors))
    #expect(status == .success, "\(errors.text)")
  }
}

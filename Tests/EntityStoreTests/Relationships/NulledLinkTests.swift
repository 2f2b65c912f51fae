import EntityStore
import Testing

/// If a delete clears two links of one record, its rule is checked once, with both links cleared.
@Suite struct `Links that a delete makes null` {
  private func withRoads(
    _ ends: [(Int?, Int?)], _ body: (Store, [City.ID]) throws -> Void
  ) throws {
    try withTemporaryStore([City.self, Road.self]) { store in
      let cities = try store.write { tx in
        try ["a", "b", "c"].map { try tx.insert(City(name: $0)).id }
      }
      try store.insert(
        ends.map { start, end in
          Road(start: start.map { cities[$0] }, end: end.map { cities[$0] })
        })
      try body(store, cities)
      try expectSound(store)
    }
  }

  private func ends(_ store: Store) throws -> [[City.ID?]] {
    try store.fetch(Road.all).map { [$0.start, $0.end] }
  }

  @Test func `links that a delete makes null change together if both lead to the deleted record`()
    throws
  {
    try withRoads([(0, 0), (1, 2), (nil, nil)]) { store, cities throws in
      #expect(try store.write { try $0.delete(cities[0]) })
      #expect(try ends(store) == [[nil, nil], [cities[1], cities[2]], [nil, nil]])
    }
  }

  @Test func `links that a delete makes null change together for two deleted records`() throws {
    try withRoads([(0, 1), (1, 0), (2, 2)]) { store, cities throws in
      let query = City.where { $0.name.isIn(["a", "b"]) }
      let count = try store.write { try $0.delete(query) }
      #expect(count == 2)
      #expect(try ends(store) == [[nil, nil], [nil, nil], [cities[2], cities[2]]])
    }
  }

  @Test func `a delete is refused without a change if the nulled links break a rule`()
    throws
  {
    try withRoads([(0, 0), (0, 1)]) { store, cities throws in
      try store.write { tx throws in
        let error = #expect(throws: StoreError.self) { try tx.delete(cities[0]) }
        #expect(error?.code == .invalidValue)
      }
      #expect(try ends(store) == [[cities[0], cities[0]], [cities[0], cities[1]]])
      #expect(try store.count(City.all) == 3)
    }
  }
}

private struct City: Entity {
  struct Attributes: Sendable {
    var name: Attribute<City, String> { .init(0) }
  }

  var id = RecordID<City>()
  var name: String

  static var attributes: Attributes { Attributes() }
  static let starts = ToMany<City, Road>(inverse: \.start)
  static let ends = ToMany<City, Road>(inverse: \.end)
  static let schema = EntitySchema<City>(
    "City", attributes: [.init("name", \.name)], unique: [[\.name]],
    relationships: [.init("starts", City.starts), .init("ends", City.ends)])

  init(name: String) { self.name = name }

  init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }

  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

/// A road, which has both ends or none.
private struct Road: Entity {
  var id = RecordID<Road>()
  var start: RecordID<City>?
  var end: RecordID<City>?

  static let schema = EntitySchema<Road>(
    "Road", attributes: [.toOne("start", \.start), .toOne("end", \.end)],
    rules: [
      RecordRule(
        "it has both ends or none",
        format: "(start == nil AND end == nil) OR (start != nil AND end != nil)")
    ])

  init(start: RecordID<City>?, end: RecordID<City>?) {
    self.start = start
    self.end = end
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    start = try reader.read()
    end = try reader.read()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(start)
    writer.write(end)
  }
}

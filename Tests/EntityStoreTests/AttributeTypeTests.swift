import EntityStore
import Foundation
import Testing

@Suite struct `Attribute types` {
  private func roundTrip(_ value: AllTypes) throws -> AllTypes {
    try withTemporaryStore([AllTypes.self]) { store in
      let id = try store.write { try $0.insert(value).id }
      var found = try #require(try store.read { try $0.fetch(id) })
      #expect(found.id == id)
      found.id = .unassigned
      return found
    }
  }

  @Test func `zeros and nulls come back from attributes of every type`() throws {
    #expect(try roundTrip(AllTypes()) == AllTypes())
  }

  @Test(arguments: [true, false]) func `extremes come back from attributes of every type`(
    _ isHighest: Bool
  ) throws {
    var value = AllTypes()
    value.bool = isHighest
    (value.int8, value.int16) = isHighest ? (.max, .max) : (.min, .min)
    (value.int32, value.int64, value.int) = isHighest ? (.max, .max, .max) : (.min, .min, .min)
    (value.uint8, value.uint16, value.uint32) = isHighest ? (.max, .max, .max) : (0, 0, 0)
    (value.uint64, value.uint) = isHighest ? (.max, .max) : (0, 0)
    value.float = isHighest ? .greatestFiniteMagnitude : -.infinity
    value.double = isHighest ? .infinity : -.leastNonzeroMagnitude
    value.string = isHighest ? "\u{10ffff}\u{0}e\u{301}" : "\u{0}"
    value.data = isHighest ? Data([0xff, 0, 0xff]) : Data([0])
    value.date = isHighest ? .distantFuture : .distantPast
    value.uuid = UUID(
      uuid: isHighest
        ? (255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255)
        : (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
    value.url = AllTypes.url(isHighest ? "https://example.org/%C3%A9?q=1#f" : "relative/path")
    value.decimal = isHighest ? .greatestFiniteMagnitude : -.greatestFiniteMagnitude
    value.stage = isHighest ? .yanked : .draft
    value.grade = isHighest ? .high : .low
    value.list = ["", "\u{0}", "é"]
    value.table = ["": -0.0, "b": .infinity, "a": .nan.magnitude == 0 ? 0 : 1]
    value.place = Place(
      name: "a", tags: ["x": [.max, .min], "": []],
      inner: [Place(name: "b", tags: [:], inner: [])])
    value.json = .array([.integer(.max), .unsigned(.max), .double(1.5), .string("")])
    value.optionalBool = isHighest
    (value.optionalInt16, value.optionalUInt64) = (.min, .max)
    (value.optionalFloat, value.optionalDouble) = (-0.0, .leastNonzeroMagnitude)
    (value.optionalString, value.optionalData, value.optionalDate) = ("", Data(), .distantPast)
    (value.optionalUUID, value.optionalURL) = (value.uuid, value.url)
    (value.optionalDecimal, value.optionalStage) = (.leastNonzeroMagnitude, .released)
    (value.optionalGrade, value.optionalList) = (.low, [])
    (value.optionalPlace, value.optionalJSON) = (value.place, .null)
    value.film = RecordID(rawValue: isHighest ? 1 << 63 - 1 : 1)
    value.optionalFilm = value.film
    let found = try roundTrip(value)
    #expect(found == value)
    #expect(Array(found.string.utf8) == Array(value.string.utf8))
    #expect(found.table[""]?.sign == .minus && found.optionalFloat?.sign == .minus)
    #expect(found.optionalJSON == .some(.null))
  }

  @Test func `payloads of NaN and the sign of zero come back bit by bit`() throws {
    var value = AllTypes()
    value.double = Double(bitPattern: 0xfff4_0000_dead_beef)
    value.float = Float(bitPattern: 0xffa0_1234)
    value.optionalDouble = Double(bitPattern: 0x7ff8_0000_0000_0001)
    value.date = Date(timeIntervalSinceReferenceDate: -0.0)
    let found = try roundTrip(value)
    #expect(found.double.bitPattern == value.double.bitPattern)
    #expect(found.float.bitPattern == value.float.bitPattern)
    #expect(found.optionalDouble?.bitPattern == value.optionalDouble?.bitPattern)
    #expect(found.date.timeIntervalSinceReferenceDate.sign == .minus)
  }

  @Test(arguments: [
    "0", "-0", "1", "-1", "0.1", "-123.456", "1e127", "1e-127", "12345678901234567890123456789",
    "0.00000000000000000000000000000000000001", "99999999999999999999999999999999999999",
    "340282366920938463463374607431768211455", "-340282366920938463463374607431768211455e127",
  ]) func `decimals come back from attributes`(_ text: String) throws {
    var value = AllTypes()
    value.decimal = try #require(Decimal(string: text))
    value.optionalDecimal = .nan
    let found = try roundTrip(value)
    #expect(found.decimal == value.decimal)
    #expect(found.decimal.description == value.decimal.description)
    #expect(found.optionalDecimal?.isNaN == true)
  }

  @Test(arguments: [65_534, 65_535, 65_536, 100_000, 300_000])
  func `variable bytes beyond 16-bit offsets come back from attributes`(_ count: Int) throws {
    try withTemporaryStore([Pod.self]) { store in
      // The name "big" takes three of the record's variable bytes.
      let pod = Pod(name: "big", version: "", summary: String(repeating: "é", count: count / 2))
      let id = try store.write { try $0.insert(pod).id }
      var found = try #require(try store.read { try $0.fetch(id) })
      found.id = .unassigned
      #expect(found == pod)
      for shift in 0..<4 {
        var other = Pod(
          name: "n\(shift)", version: "", summary: String(repeating: "a", count: count - shift))
        other.id = try store.write { try $0.insert(other).id }
        #expect(try store.read { try $0.fetch(other.id) } == other)
      }
    }
  }

  @Test func `a value nested too deep is refused and nothing is written`() throws {
    try withTemporaryStore([Pod.self]) { store in
      var deep = JSONValue.null
      for _ in 0..<200 { deep = .array([deep]) }
      let error = try storeError(.unstorableValue) {
        try store.write { try $0.insert(Pod(name: "a", version: "1", authors: deep)) }
      }
      #expect(error.entity == "Pod")
      #expect(try store.read { try $0.count(Pod.all) } == 0)
    }
  }

  @Test func `a raw value without a case is a typed error`() throws {
    try withTemporaryPath { path in
      let id = try Store(at: path, entities: [Wide.self]).write { try $0.insert(Wide(grade: 5)).id }
      let store = try Store(at: path, entities: [Narrow.self])
      let error = try storeError(.undecodableValue) {
        _ = try store.read { try $0.fetch(RecordID<Narrow>(rawValue: id.rawValue)) }
      }
      #expect(error.recordID == id.rawValue)
    }
  }

  /// One stored entity, with and without the enumeration.
  struct Wide: Entity {
    var id = RecordID<Wide>()
    var grade: Int8
    struct Attributes: Sendable {
      var id: Attribute<Wide, RecordID<Wide>> { .recordID }
      var grade: Attribute<Wide, Int8> { .init(0) }
    }

    static var attributes: Attributes { Attributes() }

    static let schema = EntitySchema<Wide>("Graded", attributes: [.init("grade", \.grade)])
    func encode(into writer: inout RecordWriter) { writer.write(grade) }
    init(grade: Int8) { self.grade = grade }
    init(from reader: inout RecordReader) throws(StoreError) { grade = try reader.read() }
  }

  struct Narrow: Entity {
    var id = RecordID<Narrow>()
    var grade: Grade
    static let schema = EntitySchema<Narrow>("Graded", attributes: [.init("grade", \.grade)])
    func encode(into writer: inout RecordWriter) { writer.write(grade) }
    init(from reader: inout RecordReader) throws(StoreError) { grade = try reader.read() }
  }
}

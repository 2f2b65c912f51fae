import EntityStore
import Foundation

/// An entity with an index of every kind, for conditions of every kind.
struct Specimen: Sendable {
  var id = RecordID<Specimen>()
  var serial = 0
  var int: Int?
  var small: Int8 = 0
  var big: UInt64 = 0
  var ratio: Double?
  var single: Float = 0
  var flag = false
  var name: String?
  var label = ""
  var date: Date?
  var amount: Decimal?
  var token: UUID?
  var blob: Data?
  var url: URL?
  var group: Int16 = 0
  var code: Int?
  var owner: RecordID<Specimen>?
  var json: JSONValue?
  var place = Place(name: "", tags: [:], inner: [])
  // Records that were written as `OldSpecimen` lack the following attributes.
  var level = 3
  var mark = "m\u{e9}"
  var extra: Double?
}

extension Specimen: Entity {
  struct Attributes: Sendable {
    var id: Attribute<Specimen, RecordID<Specimen>> { .recordID }
    var mark: Attribute<Specimen, String> { .init(0) }
    var serial: Attribute<Specimen, Int> { .init(1) }
    var int: Attribute<Specimen, Int?> { .init(2) }
    var small: Attribute<Specimen, Int8> { .init(3) }
    var big: Attribute<Specimen, UInt64> { .init(4) }
    var ratio: Attribute<Specimen, Double?> { .init(5) }
    var single: Attribute<Specimen, Float> { .init(6) }
    var flag: Attribute<Specimen, Bool> { .init(7) }
    var level: Attribute<Specimen, Int> { .init(8) }
    var name: Attribute<Specimen, String?> { .init(9) }
    var label: Attribute<Specimen, String> { .init(10) }
    var date: Attribute<Specimen, Date?> { .init(11) }
    var amount: Attribute<Specimen, Decimal?> { .init(12) }
    var token: Attribute<Specimen, UUID?> { .init(13) }
    var blob: Attribute<Specimen, Data?> { .init(14) }
    var url: Attribute<Specimen, URL?> { .init(15) }
    var group: Attribute<Specimen, Int16> { .init(16) }
    var code: Attribute<Specimen, Int?> { .init(17) }
    var owner: Attribute<Specimen, RecordID<Specimen>?> { .init(18) }
    var json: Attribute<Specimen, JSONValue?> { .init(19) }
    var place: Attribute<Specimen, Place> { .init(20) }
    var extra: Attribute<Specimen, Double?> { .init(21) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Specimen>(
    "Specimen",
    attributes: [
      .init("mark", \.mark, initial: "m\u{e9}"), .init("serial", \.serial), .init("int", \.int),
      .init("small", \.small), .init("big", \.big), .init("ratio", \.ratio),
      .init("single", \.single), .init("flag", \.flag), .init("level", \.level, initial: 3),
      .init("name", \.name), .init("label", \.label), .init("date", \.date),
      .init("amount", \.amount), .init("token", \.token), .init("blob", \.blob),
      .init("url", \.url), .init("group", \.group), .init("code", \.code), .init("owner", \.owner),
      .init("json", \.json), .init("place", \.place), .init("extra", \.extra),
    ],
    unique: [[\.serial], [\.group, \.code]],
    indexes: [
      [\.int], [\.small, \.int], [\.big], [\.ratio], [\.single], [\.flag, \.ratio], [\.name],
      [\.label, \.int, \.name], [\.label], [\.date], [\.amount], [\.token], [\.blob], [\.url],
      [\.owner], [\.owner, \.label], [\.level], [\.mark], [\.level, \.label], [\.extra],
    ])

  func encode(into writer: inout RecordWriter) {
    writer.write(mark)
    writer.write(serial)
    writer.write(int)
    writer.write(small)
    writer.write(big)
    writer.write(ratio)
    writer.write(single)
    writer.write(flag)
    writer.write(level)
    writer.write(name)
    writer.write(label)
    writer.write(date)
    writer.write(amount)
    writer.write(token)
    writer.write(blob)
    writer.write(url)
    writer.write(group)
    writer.write(code)
    writer.write(owner)
    writer.write(json)
    writer.write(place)
    writer.write(extra)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    mark = try reader.read()
    serial = try reader.read()
    int = try reader.read()
    small = try reader.read()
    big = try reader.read()
    ratio = try reader.read()
    single = try reader.read()
    flag = try reader.read()
    level = try reader.read()
    name = try reader.read()
    label = try reader.read()
    date = try reader.read()
    amount = try reader.read()
    token = try reader.read()
    blob = try reader.read()
    url = try reader.read()
    group = try reader.read()
    code = try reader.read()
    owner = try reader.read()
    json = try reader.read()
    place = try reader.read()
    extra = try reader.read()
  }
}

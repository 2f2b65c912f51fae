import EntityStore
import Foundation

/// The entity before it had `level`, `mark` and `extra`.
struct OldSpecimen: Sendable {
  var id = RecordID<OldSpecimen>()
  var specimen: Specimen
}

extension OldSpecimen: Entity {
  struct Attributes: Sendable {
    var id: Attribute<OldSpecimen, RecordID<OldSpecimen>> { .recordID }
    var serial: Attribute<OldSpecimen, Int> { .init(0) }
    var int: Attribute<OldSpecimen, Int?> { .init(1) }
    var small: Attribute<OldSpecimen, Int8> { .init(2) }
    var big: Attribute<OldSpecimen, UInt64> { .init(3) }
    var ratio: Attribute<OldSpecimen, Double?> { .init(4) }
    var single: Attribute<OldSpecimen, Float> { .init(5) }
    var flag: Attribute<OldSpecimen, Bool> { .init(6) }
    var name: Attribute<OldSpecimen, String?> { .init(7) }
    var label: Attribute<OldSpecimen, String> { .init(8) }
    var date: Attribute<OldSpecimen, Date?> { .init(9) }
    var amount: Attribute<OldSpecimen, Decimal?> { .init(10) }
    var token: Attribute<OldSpecimen, UUID?> { .init(11) }
    var blob: Attribute<OldSpecimen, Data?> { .init(12) }
    var url: Attribute<OldSpecimen, URL?> { .init(13) }
    var group: Attribute<OldSpecimen, Int16> { .init(14) }
    var code: Attribute<OldSpecimen, Int?> { .init(15) }
    var owner: Attribute<OldSpecimen, RecordID<Specimen>?> { .init(16) }
    var json: Attribute<OldSpecimen, JSONValue?> { .init(17) }
    var place: Attribute<OldSpecimen, Place> { .init(18) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<OldSpecimen>(
    "Specimen",
    attributes: [
      .init("serial", \.specimen.serial), .init("int", \.specimen.int),
      .init("small", \.specimen.small), .init("big", \.specimen.big),
      .init("ratio", \.specimen.ratio), .init("single", \.specimen.single),
      .init("flag", \.specimen.flag), .init("name", \.specimen.name),
      .init("label", \.specimen.label), .init("date", \.specimen.date),
      .init("amount", \.specimen.amount), .init("token", \.specimen.token),
      .init("blob", \.specimen.blob), .init("url", \.specimen.url),
      .init("group", \.specimen.group), .init("code", \.specimen.code),
      .init("owner", \.specimen.owner),
      .init("json", \.specimen.json), .init("place", \.specimen.place),
    ],
    unique: [[\.specimen.serial]])

  func encode(into writer: inout RecordWriter) {
    writer.write(specimen.serial)
    writer.write(specimen.int)
    writer.write(specimen.small)
    writer.write(specimen.big)
    writer.write(specimen.ratio)
    writer.write(specimen.single)
    writer.write(specimen.flag)
    writer.write(specimen.name)
    writer.write(specimen.label)
    writer.write(specimen.date)
    writer.write(specimen.amount)
    writer.write(specimen.token)
    writer.write(specimen.blob)
    writer.write(specimen.url)
    writer.write(specimen.group)
    writer.write(specimen.code)
    writer.write(specimen.owner)
    writer.write(specimen.json)
    writer.write(specimen.place)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    var read = Specimen()
    read.serial = try reader.read()
    read.int = try reader.read()
    read.small = try reader.read()
    read.big = try reader.read()
    read.ratio = try reader.read()
    read.single = try reader.read()
    read.flag = try reader.read()
    read.name = try reader.read()
    read.label = try reader.read()
    read.date = try reader.read()
    read.amount = try reader.read()
    read.token = try reader.read()
    read.blob = try reader.read()
    read.url = try reader.read()
    read.group = try reader.read()
    read.code = try reader.read()
    read.owner = try reader.read()
    read.json = try reader.read()
    read.place = try reader.read()
    specimen = read
  }
}

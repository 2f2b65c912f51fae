import EntityStore
import Foundation

/// The entity before it had `level`, `mark` and `extra`.
struct OldSpecimen: Sendable {
  var id = RecordID<OldSpecimen>()
  var specimen: Specimen
}

extension OldSpecimen: Entity {
  struct Attributes: Sendable {
    let id = Attribute<OldSpecimen, RecordID<OldSpecimen>>.recordID
    let serial = Attribute<OldSpecimen, Int>(0)
    let int = Attribute<OldSpecimen, Int?>(1)
    let small = Attribute<OldSpecimen, Int8>(2)
    let big = Attribute<OldSpecimen, UInt64>(3)
    let ratio = Attribute<OldSpecimen, Double?>(4)
    let single = Attribute<OldSpecimen, Float>(5)
    let flag = Attribute<OldSpecimen, Bool>(6)
    let name = Attribute<OldSpecimen, String?>(7)
    let label = Attribute<OldSpecimen, String>(8)
    let date = Attribute<OldSpecimen, Date?>(9)
    let amount = Attribute<OldSpecimen, Decimal?>(10)
    let token = Attribute<OldSpecimen, UUID?>(11)
    let blob = Attribute<OldSpecimen, Data?>(12)
    let url = Attribute<OldSpecimen, URL?>(13)
    let group = Attribute<OldSpecimen, Int16>(14)
    let code = Attribute<OldSpecimen, Int?>(15)
    let owner = Attribute<OldSpecimen, RecordID<Specimen>?>(16)
    let json = Attribute<OldSpecimen, JSONValue?>(17)
    let place = Attribute<OldSpecimen, Place>(18)
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

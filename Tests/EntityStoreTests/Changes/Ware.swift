import EntityStore
import Foundation
import Testing

/// One stored entity in three versions, with indexes of every kind.
struct Ware<Version: WareVersion>: Equatable {
  var id = RecordID<Ware>()
  var level = 3
  var name: String
  var number: Int
  /// The price is in no index, so an update changes it in place.
  var price: Double? = 1.5
  var text: String?

  /// The ware that the new store holds as record `id`.
  static func stored(_ id: UInt64) -> Ware {
    let letter = String(decoding: [UInt8(96 + id)], as: UTF8.self)
    return Ware(
      id: RecordID(rawValue: id), name: "ware \(letter)", number: Int(id), text: "text of \(letter)"
    )
  }

  /// A ware equal to the stored ware `id` except for `text`, but without an id, for inserts.
  static func new(_ id: UInt64, text: String? = nil) -> Ware {
    var ware = stored(id)
    ware.id = .unassigned
    if let text { ware.text = text }
    return ware
  }
}

protocol WareVersion: Sendable {
  static var schema: EntitySchema<Ware<Self>> { get }
  static var hasLevel: Bool { get }
}

extension Ware: Entity {
  struct Attributes: Sendable {
    var id: Attribute<Ware, RecordID<Ware>> { .recordID }
    /// Only versions that declare this attribute use it.
    var level: Attribute<Ware, Int> { .init(0) }
    let name = Attribute<Ware, String>(Version.hasLevel ? 1 : 0)
    let number = Attribute<Ware, Int>(Version.hasLevel ? 2 : 1)
    let price = Attribute<Ware, Double?>(Version.hasLevel ? 3 : 2)
    let text = Attribute<Ware, String?>(Version.hasLevel ? 4 : 3)
  }

  static var attributes: Attributes { Attributes() }

  static var schema: EntitySchema<Ware> { Version.schema }

  func encode(into writer: inout RecordWriter) {
    if Version.hasLevel { writer.write(level) }
    writer.write(name)
    writer.write(number)
    writer.write(price)
    writer.write(text)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    if Version.hasLevel { level = try reader.read() }
    name = try reader.read()
    number = try reader.read()
    price = try reader.read()
    text = try reader.read()
  }
}

enum FirstWare: WareVersion {
  static let hasLevel = false
  static let schema = EntitySchema<Ware<FirstWare>>(
    "Ware",
    attributes: [
      .init("name", \.name), .init("number", \.number), .init("price", \.price),
      .init("text", \.text),
    ], unique: [[\.name], [\.number]])
}

/// The version that has the attribute `level` as its first attribute.
enum SecondWare: WareVersion {
  static let hasLevel = true
  static let schema = EntitySchema<Ware<SecondWare>>(
    "Ware",
    attributes: [
      .init("level", \.level, initial: 3), .init("name", \.name), .init("number", \.number),
      .init("price", \.price), .init("text", \.text),
    ], unique: [[\.name], [\.number]], indexes: [[\.level]])
}

/// The version with further indexes: over a number, over a text, and over both.
enum ThirdWare: WareVersion {
  static let hasLevel = true
  static let schema = EntitySchema<Ware<ThirdWare>>(
    "Ware",
    attributes: [
      .init("level", \.level, initial: 3), .init("name", \.name), .init("number", \.number),
      .init("price", \.price), .init("text", \.text),
    ], unique: [[\.name], [\.number]],
    indexes: [[\.level], [\.price], [\.text], [\.text, \.number]])
}

enum WareFile {
  /// Records of two layouts, the older one first.
  static let olderIDs: ClosedRange<UInt64> = 1...6
  static let newerIDs: ClosedRange<UInt64> = 7...12

  /// A closed store with twelve wares.
  static let content = Result {
    let folder = try TemporaryFolder()
    let first = try Store(at: folder.storePath, entities: [Ware<FirstWare>.self])
    try first.write { try $0.insert(olderIDs.map { Ware<FirstWare>.new($0) }) }
    first.close()
    let second = try Store(at: folder.storePath, entities: [Ware<SecondWare>.self])
    try second.write { try $0.insert(newerIDs.map { Ware<SecondWare>.new($0) }) }
    second.close()
    try expectSound(folder.storePath)
    return try Data(contentsOf: URL(fileURLWithPath: folder.storePath))
  }
}

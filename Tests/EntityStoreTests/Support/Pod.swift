import EntityStore
import Foundation

/// A release of a library, as podspecs have it.
struct Pod: Hashable {
  var id = RecordID<Pod>()
  var name: String
  var version: String
  var summary: String?
  var authors: JSONValue?
  var stars = 0
  var updatedAt = Date(timeIntervalSinceReferenceDate: 0)
}

extension Pod: Entity {
  struct Attributes: Sendable {
    let id = Attribute<Pod, RecordID<Pod>>.recordID
    let name = Attribute<Pod, String>(0)
    let version = Attribute<Pod, String>(1)
    let summary = Attribute<Pod, String?>(2)
    let authors = Attribute<Pod, JSONValue?>(3)
    let stars = Attribute<Pod, Int>(4)
    let updatedAt = Attribute<Pod, Date>(5)
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Pod>(
    "Pod",
    attributes: [
      .init("name", \.name), .init("version", \.version), .init("summary", \.summary),
      .init("authors", \.authors), .init("stars", \.stars), .init("updatedAt", \.updatedAt),
    ],
    unique: [[\.name, \.version]], indexes: [[\.updatedAt]])

  static let byName = Pod.index(\.name, \.version)
  static let byDate = Pod.index(\.updatedAt)

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(version)
    writer.write(summary)
    writer.write(authors)
    writer.write(stars)
    writer.write(updatedAt)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    version = try reader.read()
    summary = try reader.read()
    authors = try reader.read()
    stars = try reader.read()
    updatedAt = try reader.read()
  }
}

/// A record of a page of podspecs.
struct PodRecord: Codable, Sendable {
  var name: String
  var version: String
  var summary: String?
  var authors: JSONValue?
  var stars: Int?

  var pod: Pod {
    Pod(name: name, version: version, summary: summary, authors: authors, stars: stars ?? 0)
  }
}

import EntityStore
import Foundation

/// Records for imports that merge.
///
/// A volume has a link to another entity, two links to its own entity, and a list of links. One
/// link is unique, and a rule needs a link.
struct Volume: Equatable {
  static let entities: [any Entity.Type] = [Volume.self, Writer.self]

  var id = RecordID<Volume>()
  var code: String
  var note: String?
  var stars = 0
  var updatedAt: Date?
  var author: Writer.ID?
  var sequelOf: Volume.ID?
  var partner: Volume.ID?

  static let editors = ToMany<Volume, Writer>()
}

/// The writer of volumes.
struct Writer: Equatable {
  var id = RecordID<Writer>()
  var name: String
}

extension Volume: Entity {
  struct Attributes: Sendable {
    var id: Attribute<Volume, Volume.ID> { .recordID }
    var code: Attribute<Volume, String> { .init(0) }
    var note: Attribute<Volume, String?> { .init(1) }
    var stars: Attribute<Volume, Int> { .init(2) }
    var updatedAt: Attribute<Volume, Date?> { .init(3) }
    var author: Attribute<Volume, Writer.ID?> { .init(4) }
    var sequelOf: Attribute<Volume, Volume.ID?> { .init(5) }
    var partner: Attribute<Volume, Volume.ID?> { .init(6) }
    var editors: ToMany<Volume, Writer> { Volume.editors }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Volume>(
    "Volume",
    attributes: [
      .init("code", \.code), .init("note", \.note), .init("stars", \.stars, initial: 0),
      .init("updatedAt", \.updatedAt), .toOne("author", \.author), .toOne("sequelOf", \.sequelOf),
      .toOne("partner", \.partner),
    ],
    unique: [[\.code], [\.partner]],
    relationships: [.init("editors", editors)],
    rules: [
      RecordRule("a volume with more than five stars has an author") {
        anyOf($0.stars <= 5, $0.author != nil)
      }
    ])

  init(from reader: inout RecordReader) throws(StoreError) {
    code = try reader.read()
    note = try reader.read()
    stars = try reader.read()
    updatedAt = try reader.read()
    author = try reader.read()
    sequelOf = try reader.read()
    partner = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(code)
    writer.write(note)
    writer.write(stars)
    writer.write(updatedAt)
    writer.write(author)
    writer.write(sequelOf)
    writer.write(partner)
  }
}

extension Writer: Entity {
  struct Attributes: Sendable {
    var id: Attribute<Writer, Writer.ID> { .recordID }
    var name: Attribute<Writer, String> { .init(0) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Writer>(
    "Writer", attributes: [.init("name", \.name)], unique: [[\.name]])

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

extension Store {
  /// Imports pages of volumes with their links.
  func importVolumes(
    _ pages: [String], _ policy: MergePolicy<Volume> = .replace, grouped limit: Int = 524_288,
    makesMissing: Bool = false
  ) async throws -> ImportReport {
    var importer = Importer(into: self, Volume.self, matching: .unique(\.code), onConflict: policy)
    importer.links = [
      .init("author", \.author, by: \.name),
      .init("sequelOf", \.sequelOf, by: \.code, makesMissing: makesMissing),
      .init("partner", \.partner, by: \.code), .init("editors", Volume.editors, by: \.name),
    ]
    importer.options.groupRecordLimit = limit
    importer.options.groupDuration = .seconds(600)
    return try await importer.run(
      AsyncStream { continuation in
        for page in pages { continuation.yield(Data(page.utf8)) }
        continuation.finish()
      }, renaming: [:])
  }

  /// Each volume with its values, as in `a note=n stars=3 author=Ann`.
  func volumes() throws -> [String] {
    try read { snapshot throws in
      let codes = Dictionary(
        uniqueKeysWithValues: try snapshot.fetch(Volume.all).map { ($0.id, $0.code) })
      let names = Dictionary(
        uniqueKeysWithValues: try snapshot.fetch(Writer.all).map { ($0.id, $0.name) })
      var found: [String] = []
      for volume in try snapshot.fetch(Volume.all) {
        var text = volume.code
        if let note = volume.note { text += " note=\(note)" }
        if volume.stars != 0 { text += " stars=\(volume.stars)" }
        if let date = volume.updatedAt { text += " at=\(Int(date.timeIntervalSince1970))" }
        if let id = volume.author { text += " author=\(names[id] ?? "?")" }
        if let id = volume.sequelOf { text += " sequelOf=\(codes[id] ?? "?")" }
        if let id = volume.partner { text += " partner=\(codes[id] ?? "?")" }
        let editors = try snapshot.relatedIDs(Volume.editors, of: volume.id)
        if !editors.isEmpty {
          text += " editors=\(editors.map { names[$0] ?? "?" }.sorted().joined(separator: "+"))"
        }
        found.append(text)
      }
      return found.sorted()
    }
  }
}

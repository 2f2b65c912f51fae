import EntityStore
import LodestoreBytes
import LodestoreFormat

/// A note whose title, body and tags are searched.
struct SearchedNote: Entity, Equatable {
  var id = RecordID<SearchedNote>()
  var title: String
  var body: String?
  var tags: JSONValue = .null
  var group = 0

  struct Attributes: Sendable {
    var id: Attribute<SearchedNote, SearchedNote.ID> { .recordID }
    var title: Attribute<SearchedNote, String> { .init(0) }
    var body: Attribute<SearchedNote, String?> { .init(1) }
    var tags: Attribute<SearchedNote, JSONValue> { .init(2) }
    var group: Attribute<SearchedNote, Int> { .init(3) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<SearchedNote>(
    "Note",
    attributes: [
      .init("title", \.title), .init("body", \.body), .init("tags", \.tags),
      .init("group", \.group),
    ],
    indexes: [[\.group]],
    searchIndexes: [
      SearchIndex(.init(\.title, weight: 3), .init(\.body), .init(\.tags, weight: 2))
    ])

  init(_ title: String, _ body: String? = nil, tags: JSONValue = .null, group: Int = 0) {
    self.title = title
    self.body = body
    self.tags = tags
    self.group = group
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    title = try reader.read()
    body = try reader.read()
    tags = try reader.read()
    group = try reader.read()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(title)
    writer.write(body)
    writer.write(tags)
    writer.write(group)
  }

  /// The terms of each text.
  var texts: [(source: Int, weight: Int, terms: [(term: String, position: Int)])] {
    var texts = [(0, 3, Self.terms(title))]
    if let body { texts.append((1, 1, Self.terms(body))) }
    if case .array(let tags) = tags {
      for case .string(let tag) in tags { texts.append((2, 2, Self.terms(tag))) }
    }
    return texts
  }

  static func terms(_ text: String) -> [(term: String, position: Int)] {
    var terms: [(String, Int)] = []
    Array(text.utf8)._withBytes { bytes in
      TextAnalysis.forEachTerm(in: bytes) { term, position, _ in
        terms.append((String(decoding: term, as: UTF8.self), position))
      }
    }
    return terms
  }
}

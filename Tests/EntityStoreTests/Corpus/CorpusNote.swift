import EntityStore

// The further entity of kept files of version 5, with a history. The declaration must stay as it
// is.

struct CorpusNote: Entity, Equatable {
  var id = RecordID<CorpusNote>()
  var title: String
  var length = 0

  struct Attributes: Sendable {
    var id: Attribute<CorpusNote, CorpusNote.ID> { .recordID }
    var title: Attribute<CorpusNote, String> { .init(0) }
    var length: Attribute<CorpusNote, Int> { .init(1) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<CorpusNote>(
    "Note", attributes: [.init("title", \.title), .init("length", \.length)],
    history: .kept(preserving: \.title, images: true))

  init(_ title: String) { self.title = title }

  init(from reader: inout RecordReader) throws(StoreError) {
    title = try reader.read()
    length = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(title)
    writer.write(length)
  }

  static func make(in store: Store) throws {
    let ids = try store.write(author: "first") { tx in
      try tx.insert(["a", "b", "c", "d"].map { CorpusNote($0) }).ids
    }
    try store.write(author: "second", contextName: "part") { tx in
      try tx.modify(ids[0]) { $0.length = 9 }
      try tx.delete(ids[2])
      try tx.setHistoryToken(try tx.historyToken(), ofConsumer: "index")
    }
  }
}

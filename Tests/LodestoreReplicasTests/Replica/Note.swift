import EntityStore

/// A record of the stores that sessions write; the tests declare the same entity.
struct Note: Entity, Hashable {
  var id = RecordID<Note>()
  var title: String
  var number: Int

  struct Attributes: Sendable {
    var id: Attribute<Note, RecordID<Note>> { .recordID }
    var title: Attribute<Note, String> { .init(0) }
    var number: Attribute<Note, Int> { .init(1) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Note>(
    "Note", attributes: [.init("title", \.title), .init("number", \.number)],
    unique: [[\.title]], indexes: [[\.number]])

  init(title: String, number: Int) { (self.title, self.number) = (title, number) }

  func encode(into writer: inout RecordWriter) {
    writer.write(title)
    writer.write(number)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    title = try reader.read()
    number = try reader.read()
  }

  /// Changes of one write: a new note, an update, a deletion, and a key of a bucket.
  static func change(_ number: Int, _ tx: inout WriteTransaction) throws {
    try tx.insert(Note(title: "note \(number)", number: number))
    if number % 3 == 0, var old = try tx.fetch(Note.where { $0.number == number - 1 }).first {
      old.title += " again"
      try tx.update(old)
    }
    if number % 5 == 0 { try tx.delete(Note.where { $0.number == number - 4 }) }
    if number % 7 == 0 { try tx.put("\(number)", for: "last", in: "settings") }
  }

  static var options: StoreOptions {
    var options = StoreOptions()
    options.history = .images
    return options
  }
}

import LodestoreFormat
import Testing

@testable import EntityStore

/// Texts that are longer than a key of the engine can be; see Format.md, "Cut keys".
@Suite struct `Keys that are too long` {
  /// Texts with lengths around the limits and equal beginnings, in ascending order of their bytes.
  private static let texts: [String] = {
    let x = { String(repeating: "x", count: $0) }
    var texts = [x(400), x(600), x(600) + "\u{0}", x(600) + "a", x(600) + "é", x(5000)]
    for count in [455, 462, 463, 464, 471, 479, 480] {
      texts += [x(count), x(count) + "\u{0}", x(count) + "y"]
    }
    return texts.sorted { utf8Precedes($0, $1) }
  }()

  private func withTexts(_ body: (Store, [RecordID<Note>]) throws -> Void) throws {
    try withTemporaryStore([Note.self]) { store in
      var numbers = SeededNumbers(salt: 3)
      var ids: [Int: RecordID<Note>] = [:]
      try store.write { transaction in
        for position in Self.texts.indices.shuffled(using: &numbers) {
          ids[position] = try transaction.insert(Note(text: Self.texts[position])).id
        }
      }
      try body(store, Self.texts.indices.compactMap { ids[$0] })
    }
  }

  @Test func `keys that are too long are walked in the order of the whole text`() throws {
    try withTexts { store, ids in
      try store.read { snapshot throws in
        for index in [Note.unique, Note.plain] {
          #expect(try snapshot.ids(index) == ids, "\(SeededNumbers.replay)")
          #expect(try snapshot.ids(index, isReversed: true) == ids.reversed())
          #expect(try snapshot.ids(index, isReversed: true, limit: 7) == ids.suffix(7).reversed())
        }
      }
    }
  }

  @Test func `bounds within the cut part match exactly the keys between them`() throws {
    try withTexts { store, ids in
      try store.read { snapshot throws in
        for (position, text) in Self.texts.enumerated() {
          for index in [Note.unique, Note.plain] {
            let from = try snapshot.ids(index, within: .init().from(text))
            #expect(from == Array(ids[position...]), "from \(text.utf8.count) bytes")
            let after = try snapshot.ids(index, within: .init().after(text), isReversed: true)
            #expect(after == ids[(position + 1)...].reversed(), "after \(text.utf8.count) bytes")
            let through = try snapshot.ids(index, within: .init().through(text))
            #expect(through == Array(ids[...position]), "through \(text.utf8.count) bytes")
            let upTo = try snapshot.count(index, within: .init().upTo(text))
            #expect(upTo == position, "up to \(text.utf8.count) bytes")
            #expect(try snapshot.fetch(index.key(text))?.id == ids[position])
          }
        }
      }
    }
  }

  @Test func `a unique index distinguishes long keys by all of their bytes`() throws {
    try withTexts { store, ids in
      for (position, text) in Self.texts.enumerated() {
        let error = try storeError(.uniqueViolation) {
          try store.write { try $0.insert(Note(text: text)) }
        }
        #expect(error.recordID == ids[position].rawValue)
      }
      try store.read { snapshot throws in
        let found = try snapshot.fetch(Note.unique, keys: Self.texts.reversed() + ["none"])
        #expect(found.map { $0?.id } == ids.reversed() + [nil])
      }
    }
  }

  @Test(arguments: 455...470)
  func `a bound on the first attributes matches longer keys`(_ count: Int) throws {
    try withTemporaryStore([Pod.self]) { store in
      let name = String(repeating: "n", count: count)
      try store.write { transaction in
        for version in ["", "1", String(repeating: "2", count: 100)] {
          try transaction.insert(Pod(name: name, version: version))
        }
        try transaction.insert(Pod(name: name + "\u{0}", version: "after"))
        try transaction.insert(Pod(name: String(name.dropLast()), version: "before"))
      }
      func ids(_ lower: IndexWalkBound, _ upper: IndexWalkBound) throws -> [UInt64] {
        try store.core.read { core in
          let entity = try core.entity(named: "Pod")
          let index = try #require(entity.indexes.first { $0.isUnique })
          var ids: [UInt64] = []
          try core.walk(index, of: entity, lower: lower, upper: upper, isReversed: false) {
            ids.append($0)
            return true
          }
          return ids
        }
      }
      let prefix = [Value.string(name)]
      #expect(try ids(.included(prefix), .included(prefix)) == [1, 2, 3])
      #expect(try ids(.none, .included(prefix)) == [5, 1, 2, 3])
      #expect(try ids(.none, .excluded(prefix)) == [5])
      #expect(try ids(.included(prefix), .none) == [1, 2, 3, 4])
      #expect(try ids(.excluded(prefix), .none) == [4])
    }
  }
}

/// An entity with one text in a unique index, and a second text with the same value in a plain
/// index.
struct Note: Entity {
  var id = RecordID<Note>()
  var text: String
  var copy: String

  init(text: String) {
    self.text = text
    copy = text
  }

  static let unique = Note.index(\.text)
  static let plain = Note.index(\.copy)
  struct Attributes: Sendable {
    var id: Attribute<Note, RecordID<Note>> { .recordID }
    var text: Attribute<Note, String> { .init(0) }
    var copy: Attribute<Note, String> { .init(1) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Note>(
    "Note", attributes: [.init("text", \.text), .init("copy", \.copy)], unique: [[\.text]],
    indexes: [[\.copy]])

  func encode(into writer: inout RecordWriter) {
    writer.write(text)
    writer.write(copy)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    text = try reader.read()
    copy = try reader.read()
  }
}

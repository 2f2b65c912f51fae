import EntityStore
import Testing

/// An entity whose names are preserved.
private struct Label: Entity {
  var id = RecordID<Label>()
  var name: String
  var color: String

  struct Attributes: Sendable {
    var id: Attribute<Label, Label.ID> { .recordID }
    var name: Attribute<Label, String> { .init(0) }
    var color: Attribute<Label, String> { .init(1) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Label>(
    "Label", attributes: [.init("name", \.name), .init("color", \.color)],
    history: .kept(preserving: \.name))

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(color)
  }
}

extension Label {
  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    color = try reader.read()
  }
}

/// Changes of records that fulfil a condition.
@Suite struct `The history of what a query finds` {
  @Test func `the history of a query has the inserts of deleted records, by their last images`()
    throws
  {
    try withTemporaryStore([Clause.self]) { store in
      let ids = Array(
        try store.insert([Clause(name: "a"), Clause(name: "b"), Clause(name: "c")]).ids)
      try store.modify(ids[0]) { $0.weight = 7 }
      try store.modify(ids[1]) { $0.weight = 7 }
      try store.modify(ids[1]) { $0.weight = 8 }
      try store.write { tx in _ = try tx.delete(ids[0...1]) }
      let found = try store.history(.all.matching(Clause.where { $0.weight == 7 }))
      #expect(found.map { $0.changes.map(\.kind) } == [[.inserted], [.updated], [.deleted]])
      #expect(found.allSatisfy { $0.changes.map(\.recordID) == [1] && $0.undecidedCount == 0 })
      let other = try store.history(.all.matching(Clause.where { $0.weight == 8 }))
      #expect(other.map(\.id) == [1, 3, 4, 5])
      #expect(other.allSatisfy { $0.changes.map(\.recordID) == [2] })
    }
  }

  @Test func `the history of a query decides by preserved values, and reports undecided records`()
    throws
  {
    try withTemporaryStore([Label.self]) { store in
      let ids = Array(
        try store.insert([Label(name: "a", color: "red"), Label(name: "b", color: "red")]).ids)
      try store.modify(ids[0]) { $0.color = "blue" }
      try store.delete(ids[0])
      let named = try store.history(.all.matching(Label.where { $0.name == "a" }))
      #expect(named.map { $0.changes.map(\.kind) } == [[.inserted], [.updated], [.deleted]])
      #expect(named.allSatisfy { $0.undecidedCount == 0 })
      // The history does not preserve the color, so the condition is undecided for deleted records.
      let colored = try store.history(.all.matching(Label.where { $0.color == "red" }))
      #expect(colored.map { $0.changes.map(\.recordID) } == [[2], [], []])
      #expect(colored.map(\.undecidedCount) == [1, 1, 1])
      #expect(try store.history(.all).allSatisfy { $0.undecidedCount == 0 })
    }
  }
}

import EntityStore
import Foundation
import Testing

/// An entity before it has an attribute, and with it.
private struct Memo<Form: MemoForm>: Entity {
  var id = RecordID<Memo>()
  var text: String
  var extra = JSONValue.null

  struct Attributes: Sendable {
    var id: Attribute<Memo, Memo.ID> { .recordID }
    var text: Attribute<Memo, String> { .init(0) }
    /// Only the form that declares this attribute uses it.
    var extra: Attribute<Memo, JSONValue> { .init(1) }
  }

  static var attributes: Attributes { Attributes() }

  static var schema: EntitySchema<Memo> {
    let extra: [AttributeDefinition<Memo>] = [.init("extra", \.extra, initial: JSONValue.null)]
    return EntitySchema(
      "Memo", attributes: [.init("text", \.text)] + (Form.hasExtra ? extra : []),
      unique: [[\.text]])
  }

  init(_ text: String, _ extra: JSONValue = .null) {
    self.text = text
    self.extra = extra
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    text = try reader.read()
    if Form.hasExtra { extra = try reader.read() }
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(text)
    if Form.hasExtra { writer.write(extra) }
  }
}

private protocol MemoForm: Sendable {
  static var hasExtra: Bool { get }
}

private enum Before: MemoForm { static let hasExtra = false }
private enum After: MemoForm { static let hasExtra = true }

/// JSON's null is a value, so it can be a default like any other value.
@Suite struct `A required JSON attribute whose default is null` {
  /// Records older than the attribute have this default, whether a declaration or a migration stage
  /// adds the attribute.
  @Test(arguments: [true, false])
  func `a required JSON attribute with the default null is added to stored records`(byStage: Bool)
    async throws
  {
    let folder = try TemporaryFolder()
    let empty = try Store(at: folder.storePath, entities: [Memo<Before>.self])
    try await empty.insert([Memo<Before>("a"), Memo<Before>("b")])
    empty.close()
    let stage = MigrationStage(
      to: 1, .add("extra", to: "Memo", JSONValue.self, initial: JSONValue.null))
    let store = try Store(
      at: folder.storePath, entities: [Memo<After>.self], migrating: byStage ? [stage] : [])
    #expect(try await store.fetch(Memo<After>.all).map(\.extra) == [.null, .null])
    try await store.insert(Memo<After>("c", ["x": 1]))
    try await store.write { tx in
      try tx.insert(Memo<After>.self, dictionaries: [["text": "d"]])
      try tx.update(Memo<After>.where { $0.text == "a" }) { $0.text = "z" }
    }
    let rows = try await store.fetch(Memo<After>.all)
    #expect(rows.map(\.text) == ["z", "b", "c", "d"])
    #expect(rows.map(\.extra) == [.null, .null, ["x": 1], .null])
    store.close()
    try expectSound(folder.storePath)
    // Another opening reads the catalogue again.
    let again = try Store(at: folder.storePath, entities: [Memo<After>.self])
    #expect(try await again.fetch(Memo<After>.all).map(\.extra) == rows.map(\.extra))
    again.close()
  }

  @Test func `an import gives a record without the member the default null`() async throws {
    try await withTemporaryStore([Memo<After>.self]) { store in
      let page = #"[{"text": "a"}, {"text": "b", "extra": null}, {"text": "c", "extra": [null]}]"#
      for policy in [MergePolicy<Memo<After>>.replace, .patch()] {
        let report = try await Importer(
          into: store, Memo<After>.self, matching: .unique(\.text), onConflict: policy
        ).run(
          AsyncStream { continuation in
            continuation.yield(Data(page.utf8))
            continuation.finish()
          }, renaming: [:])
        #expect(report.rejected == 0, "\(report)")
        #expect(try await store.fetch(Memo<After>.all).map(\.extra) == [.null, .null, [.null]])
      }
    }
  }
}
